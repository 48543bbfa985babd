"""The metagenomic cohorts: what smaller and larger sets are worth, raw and log-ratios.

Usage (from the repository root, FEATURESIEVE_DATA set)::

    python benchmarks/cohorts.py run --workers 16
    python benchmarks/cohorts.py table
    python benchmarks/cohorts.py draw     # docs/images/colorectal_species.png

Ten stratified splits of each cohort at hand, those of experiments/cohorts.toml;
selection inside each split, on raw shares and on centred log-ratios. An MLP and a
forest predict from all species, from those AutoNFS kept, and from the first 10, 30 and
100 of its order: whether sets are too small, or hold the wrong species. Balanced
accuracy and accuracy, in percent; the MLP stops by the one that is reported.
"""

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import stamp

from sievebench import analysis, data
from sievebench.downstream import evaluate
from sievebench.report.paper import paper_cohorts
from sievebench.selectors import select

IMAGES = stamp.RESULTS.parents[1] / "docs" / "images"
SPLITS = range(10)
SIZES = (10, 30, 100)
METRICS = ("balanced_accuracy", "accuracy")
COLORECTAL = (
    *("FengQ_2015", "GuptaA_2019", "HanniganGD_2017", "ThomasAM_2018a"),
    *("ThomasAM_2018b", "ThomasAM_2019c", "VogtmannE_2016", "WirbelJ_2018"),
    *("YachidaS_2019", "ZellerG_2014"),
)


def log_ratios(X: np.ndarray) -> np.ndarray:
    """Return centred log-ratios; what is absent counts as half the smallest share."""
    logs = np.log(np.where(X > 0, X, X[X > 0].min() / 2))
    return logs - logs.mean(axis=1, keepdims=True)


TRANSFORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "raw": np.asarray,
    "log-ratios": log_ratios,
}


def at_hand() -> list[str]:
    """Return the cohorts that need no download."""
    entries = data.catalog().values()
    cohorts = [entry for entry in entries if entry.group == "metagenomics"]
    return [entry.name for entry in cohorts if data.find_file(entry) is not None]


def run_split(name: str, seed: int, transform: str) -> dict[str, Any]:
    """Select in one split, and judge sets of several sizes."""
    dataset = data.load(name)
    dataset = replace(dataset, X=TRANSFORMS[transform](dataset.X))
    split = data.split(dataset, seed).scaled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = select("autonfs", split, keep="auto", seed=seed)
    order = np.argsort(-chosen.scores, kind="stable")
    every = np.arange(len(order))
    sets = {"all": every >= 0, "kept": chosen.support}
    sets |= {f"first {size}": np.isin(every, order[:size]) for size in SIZES}
    kept = np.flatnonzero(chosen.support)
    return {
        "cohort": name,
        "split": seed,
        "transform": transform,
        "n_train": len(split.train.y),
        "n_species": len(order),
        "kept": [dataset.column_names[j] for j in kept],
        "notes": [note["code"] for note in chosen.decision["notes"]],
        "seconds": round(chosen.seconds, 3),
        "scores": _scores(split, sets, seed),
    }


def _scores(
    split: data.Split, sets: dict[str, np.ndarray], seed: int
) -> dict[str, dict[str, float]]:
    """Return the percent of each predictor and metric, by set."""
    found: dict[str, dict[str, float]] = {what: {} for what in sets}
    supports = np.stack(list(sets.values()))
    for metric in METRICS:
        judged = replace(split, metric=metric)
        mlp = evaluate("mlp", judged, [seed] * len(sets), is_seen=supports)
        for what, support, result in zip(sets, supports, mlp, strict=True):
            (forest,) = evaluate("forest", judged.keep(support), [seed])
            found[what][f"mlp {metric}"] = round(100 * result.score, 3)
            found[what][f"forest {metric}"] = round(100 * forest.score, 3)
    return found


def run(options: argparse.Namespace) -> None:
    """Run all splits that the file does not have of this commit, store each."""
    path, started = options.out / "cohorts.json", time.perf_counter()
    stored = json.loads(path.read_text()) if path.exists() else {}
    is_same = stored.get("stamp", {}).get("commit") == stamp.stamp()["commit"]
    records = stored["records"] if is_same else []
    done = {(one["cohort"], one["split"], one["transform"]) for one in records}
    jobs = [
        (name, seed, transform)
        for transform in options.transforms
        for seed in options.splits
        for name in options.cohorts or at_hand()
        if (name, seed, transform) not in done
    ]
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(run_split, *job) for job in jobs]):
            records.append(future.result())
            print(*list(records[-1].values())[:3], len(records[-1]["kept"]), flush=True)
            store(records, path)
            if time.perf_counter() - started > options.seconds:
                pool.shutdown(cancel_futures=True)
                break
    print(f"{len(records)} splits, {time.perf_counter() - started:.0f} s")


def store(records: list[dict[str, Any]], path: Path) -> None:
    """Write what is there, in an order of its own."""
    records = sorted(
        records, key=lambda one: (one["transform"], one["cohort"], one["split"])
    )
    content = {"stamp": stamp.stamp(), "records": records}
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n")


def losses(records: list[dict[str, Any]]) -> pd.DataFrame:
    """Return points against all species, a row a split, set and measure."""
    return pd.DataFrame(
        {
            **{key: one[key] for key in ("cohort", "split", "transform")},
            "set": what,
            "measure": measure,
            "n_kept": len(one["kept"]),
            "gain": score - one["scores"]["all"][measure],
        }
        for one in records
        for what, scores in one["scores"].items()
        if what != "all"
        for measure, score in scores.items()
    )


def species(records: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the share of the splits of each colorectal cohort that keep a species.

    Species × cohorts; first those that most cohorts keep in half of their splits.
    """
    own = [one for one in records if one["cohort"] in COLORECTAL]
    kept = [(name, one["cohort"]) for one in own for name in one["kept"]]
    counts = pd.Series(Counter(kept)).unstack(fill_value=0)
    shares = counts / pd.Series(Counter(one["cohort"] for one in own))
    order = ((shares >= 0.5).sum(axis=1) + shares.mean(axis=1)).sort_values()
    return shares.loc[order.index[::-1]]


def draw(options: argparse.Namespace) -> None:
    """Draw which species return across the colorectal cohorts, raw shares."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    records = json.loads((options.out / "cohorts.json").read_text())["records"]
    shares = species([one for one in records if one["transform"] == "raw"]).head(20)
    figure, ax = plt.subplots(figsize=(8, 6), layout="constrained")
    shown = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(shares.shape[1]), shares.columns, rotation=60, ha="right")
    names = [name.rpartition("s__")[2].replace("_", " ") for name in shares.index]
    ax.set_yticks(range(len(names)), names, style="italic", fontsize=8)
    figure.colorbar(shown, label="share of the splits that keep it", shrink=0.7)
    figure.savefig(IMAGES / "colorectal_species.png", dpi=110)


def table(options: argparse.Namespace) -> None:
    """Print gains by set and by size, and the species that return."""
    stored = json.loads((options.out / "cohorts.json").read_text())["records"]
    gains = losses(stored)
    printed = gains["cohort"].isin(paper_cohorts().index)
    for title, chosen in (("printed", gains[printed]), ("all", gains)):
        print(f"\n{title} cohorts: points against all species, mean over cohorts")
        for key, group in chosen.groupby(["transform", "measure", "set"]):
            values = group.groupby("cohort")["gain"].mean()
            low, high = analysis.interval_of_mean(values)
            print(*key, f"{values.mean():+.2f} [{low:+.2f}, {high:+.2f}] {len(values)}")
    own = gains[(gains["set"] == "kept") & (gains["transform"] == "raw")]
    sizes = pd.cut(own["n_kept"], [0, 1, 3, 10, 30, 1000])
    print(own.groupby(["measure", sizes], observed=True)["gain"].agg(["mean", "size"]))
    for transform in dict.fromkeys(one["transform"] for one in stored):
        some = [one for one in stored if one["transform"] == transform]
        print(f"\n{transform}: cohorts that keep it in half of the splits")
        counts = (species(some) >= 0.5).sum(axis=1)
        print(counts[counts > 0].head(15).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "table", "draw"))
    parser.add_argument("--cohorts", nargs="+")
    parser.add_argument("--splits", type=int, nargs="+", default=list(SPLITS))
    parser.add_argument("--transforms", nargs="+", default=list(TRANSFORMS))
    parser.add_argument("--seconds", type=float, default=np.inf)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=stamp.RESULTS)
    options = parser.parse_args()
    {"run": run, "table": table, "draw": draw}[options.what](options)


if __name__ == "__main__":
    main()
