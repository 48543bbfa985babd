"""Every claim of the paper: its figure, ours, the verdict, and where they stand."""

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from made_runs import run, table, whole_study
from test_report_paper import source  # noqa: F401 (a fixture)

from sievebench.analysis import FIELDS
from sievebench.report import gather, paper_claims, verdict_tables
from sievebench.report.claims import METRICS, VERDICTS
from sievebench.report.field_tables import AS_PUBLISHED, SUITES
from sievebench.report.finding import joined, side

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks" / "results"


def verdicts_of(*runs, benchmarks=None):
    """Return the rows of the table of verdicts by their keys."""
    (found,) = verdict_tables(gather(table(*runs), benchmarks=benchmarks))
    return found.data.set_index("key")


@pytest.fixture(scope="module")
def study():
    (found,) = verdict_tables(gather(whole_study(), benchmarks=BENCHMARKS))
    return found.data.set_index("key")


def test_every_claim_has_a_metric_or_says_why_not():
    claims = paper_claims()
    assert len({claim.key for claim in claims}) == len(claims)
    for claim in claims:
        assert bool(claim.metric) != bool(claim.why), claim.key
    assert {claim.metric for claim in claims} - {""} == set(METRICS)


def test_commands_of_claims_are_there():
    names = {p.stem for p in (ROOT / "results" / "report" / "tables").glob("*.md")}
    # Tables of fresh draws are there once there are records of them.
    rows = (*FIELDS, *AS_PUBLISHED)
    names |= {f"fields-{suite}-{row}" for suite, row in product(SUITES, rows)}
    for command in (c for claim in paper_claims() for c in claim.command.split("; ")):
        words = command.split()
        if "--table" in words:
            assert words[-1] in names
        elif words:
            assert (ROOT / words[words[0] == "python"]).is_file() or words[1] == "run"


@pytest.mark.data
def test_claims_quote_the_source(source):  # noqa: F811
    plain = re.sub(r"\s+", " ", source.replace(r"\ours{}", "AutoNFS"))
    for claim in paper_claims():
        assert claim.quote in plain, claim.key


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.1, 0.2, "holds"),
        (-0.1, 0.2, "partly"),
        (-0.2, -0.1, "does not"),
        (np.nan, np.nan, "cannot be tested here"),
    ],
)
def test_verdict_is_the_side_of_the_interval(low, high, verdict):
    assert side(low, high) == verdict
    assert joined([verdict, "missing"]) == verdict
    is_clear = verdict in ("holds", "cannot be tested here")
    assert joined([verdict, "holds"]) == ("holds" if is_clear else "partly")


@pytest.mark.parametrize(
    ("key", "verdict", "text"),
    [
        # `auto` is best on each of three tables by at least 0.03, Lasso second.
        ("rank, random", "holds", "1.0 [1.0, 1.0], Lasso 2.0, ahead by +1.0"),
        ("rank, as published", "does not", "2.7 [2.0, 3.0], Lasso 1.0"),
        ("most tables", "holds", "default 3 of 3, 3 of 3 and 3 of 3"),
        # It keeps 5 of 10, none of them added; Lasso 3 of 10.
        ("number of columns", "holds", "0.50 [0.50, 0.50]"),
        ("misselection, noise", "holds", "default 0.000 [0.000, 0.000]"),
        ("essential features", "holds", "above 0 in 3 of 3"),
        # Exponents 0.1 and 1 of made seconds.
        ("time, order", "missing", "missing"),
        # One table is too few for an interval.
        ("balance, one value", "cannot be tested here", "keeps nothing in 0 of 2"),
        ("MNIST, entropy", "holds", "1.98 and 1.02"),
        ("interaction", "holds", "17, 19 and 17 of the 20 relevant"),
        ("intuition", "cannot be tested here", "nobody was asked"),
    ],
)
def test_made_study_gets_the_verdict_that_is_known(study, key, verdict, text):
    row = study.loc[key]
    assert (row["verdict"], text in row["ours"]) == (verdict, True), row["ours"]


def test_what_is_not_there_is_missing_and_nothing_gives_no_table():
    alone = run(selector="autonfs:auto", n_kept=5), run(selector="none", score=0.4)
    rows = verdicts_of(*alone)
    assert rows.loc["MNIST, entropy", "verdict"] == "missing"
    assert rows.loc["rank, random", "ours"].startswith("1.0, No FS 2.0")
    assert set(rows["verdict"]) <= set(VERDICTS)
    assert not list(verdict_tables(gather(table(run()), benchmarks=BENCHMARKS)))


@pytest.mark.parametrize("seed", range(3))
def test_whatever_runs_are_left_the_claims_are_judged(seed):
    runs = whole_study()
    generator = np.random.default_rng(seed)
    for column in ("experiment", "selector", "scenario", "dataset"):
        left_out = generator.choice(runs[column].unique())
        runs = runs[runs[column] != left_out]
    list(verdict_tables(gather(runs, benchmarks=BENCHMARKS)))


@pytest.mark.parametrize(("rule", "expected"), [("", "earlier"), ("votes", "present")])
def test_records_that_name_no_rule_are_of_the_earlier_one(rule, expected):
    selectors = ("none", "autonfs:auto", "autonfs:published")
    found = verdicts_of(*(run(selector=name, rule=rule) for name in selectors))["rule"]
    assert (found["rank, random"], found["rank, as published"]) == (expected, "either")


def test_file_of_benchmarks_that_is_no_json_is_named(tmp_path):
    (tmp_path / "mnist.json").write_text("{")
    results = gather(whole_study(), benchmarks=tmp_path)
    with pytest.raises(ValueError, match=r"mnist\.json is no JSON"):
        list(verdict_tables(results))


def test_page_on_the_paper_has_the_table_of_the_report():
    # `make verdicts` writes both.
    made = (ROOT / "results" / "report" / "tables" / "verdicts.md").read_text("utf-8")
    assert made in (ROOT / "docs" / "paper.md").read_text("utf-8")


def test_command_prints_the_verdicts(tmp_path, printed, refused):
    folder = ROOT / "results" / "balance"
    text = printed("paper", "--results", folder, "--benchmarks", BENCHMARKS)
    assert "DOES NOT\n  One λ = 1 does for all tables" in text
    assert "$ sievebench report results --table balance" in text
    wide = printed("paper", "verdicts", "--results", folder, "--format", "csv")
    assert wide.startswith("key,verdict,claim,")
    assert "--results" in refused("paper", "--results", tmp_path / "none")
    assert "verdicts only" in refused("paper", "ranks", "--format", "text")


def test_page_opens_with_the_claims_and_folds_the_tables():
    page = (ROOT / "results" / "report" / "index.html").read_text("utf-8")
    places = [
        page.index(f'id="{name}"') for name in ("conclusions", "figures", "tables")
    ]
    assert places == sorted(places)
    assert page.index("First of 14 selectors") < places[1]
    assert page.count("<table>") == page.count('<h3 id="table-')
    assert "<table>" not in page[: places[2]]
    assert '<abbr title="adaptive group lasso">AGL</abbr>' in page


def test_stored_figures_are_those_of_their_scripts(study):
    # As `python benchmarks/mnist.py table` computes it, in plain Python.
    stored = json.loads((BENCHMARKS / "mnist.json").read_text())
    kept = set(stored["selections"]["auto"]["kept"])
    entropies = [h for k, h in enumerate(stored["class_entropy"]) if k in kept]
    assert (
        f"{sum(entropies) / len(kept):.2f} and" in study.loc["MNIST, entropy", "ours"]
    )


def stored_as(folder, name, records):
    """Write records as a script of benchmarks/ does; return what the claims say."""
    folder.mkdir(exist_ok=True)  # a file that was read is remembered
    (folder / f"{name}.json").write_text(json.dumps({"records": records}))
    return verdicts_of(run(selector="autonfs:auto", n_kept=5), benchmarks=folder)


def test_growth_tells_exponents_raw_and_after_the_fixed_part(tmp_path):
    laws = {"autonfs:auto": lambda n: 2 + 1e-3 * n, "forest": lambda n: 0.01 * n**0.8}
    records = [
        {"selector": name, "axis": "columns", "size": size, "seconds": law(size)}
        for name, law in laws.items()
        for size in (32, 64, 128, 256, 512, 1024, 2048)
    ]
    row = stored_as(tmp_path, "scaling_cpu", records).loc["time, columns, cpu"]
    assert row["verdict"] == "holds"
    assert "(1.00 [1.00, 1.00]; 2,048); RF 0.80 [0.80, 0.80]" in row["ours"]
    assert row["ours"].endswith("(0.80 [0.80, 0.80]; 2,048)")


def test_cohorts_are_judged_by_the_mean_of_each_over_its_splits(tmp_path):
    gains = {"FengQ_2015": (4, 6), "GuptaA_2019": (1, 3), "YachidaS_2019": (2, 2)}
    records = [
        {
            **{"cohort": cohort, "split": split, "transform": "raw"},
            "scores": {
                what: {"mlp balanced_accuracy": s, "forest balanced_accuracy": s}
                for what, s in {"all": 60, "kept": 60 + gain, "first 10": 59}.items()
            },
        }
        for cohort, both in gains.items()
        for split, gain in enumerate(both)
    ]
    rows = stored_as(tmp_path, "cohorts", records)
    row = rows.loc["cohorts, mlp, present rule"]
    assert row["verdict"] == "holds"
    assert "raw, 3 of the 18 cohorts, 2 splits: kept +3.0 [+2.0, +5.0]" in row["ours"]
    assert "the first 10 -1.0 [-1.0, -1.0] of its order" in row["ours"]


def test_fresh_draws_of_few_tables_are_told_but_not_judged(tmp_path):
    def one(score, count=5):
        return {"what": "own", "count": count, "added": 0, "score": score}

    def cell(table):
        selectors = {"none": one(0.5, 10), "autonfs": one(0.9), "stg": one(0.6)}
        shares = {"validation": 0.0}
        return {
            **{"table": table, "scenario": "random", "draw": 1, "n_original": 5},
            **{"n_rows": [60, 20, 20], "is_sample": False},
            "selectors": {
                name: {
                    "sets": [
                        {**only, **shares, "what": what}
                        for what in ("own", "1", "matched")
                    ]
                }
                for name, only in selectors.items()
            },
        }

    for n_tables, verdict in ((5, "cannot be tested here"), (6, "holds")):
        cells = [cell(f"t{k}") for k in range(n_tables)]
        rows = stored_as(tmp_path / verdict, "fields_breadth", cells)
        row = rows.loc["fresh, breadth, paper"]
        assert row["verdict"] == verdict
        assert f"random, {n_tables} tables × 1 draw: rank 1.0" in row["ours"]
        assert rows.loc["breadth, noise", "verdict"] == verdict
