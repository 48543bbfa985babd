r"""Which pixels of handwritten digits are kept: Figures 6 and 7 of the paper.

Usage (from the repository root, FEATURESIEVE_DATA set)::

    python benchmarks/mnist.py run             # minutes; writes results/mnist.json
    python benchmarks/mnist.py table           # entropies and accuracies
    python benchmarks/mnist.py draw            # docs/images/mnist_*.png

The pixels are selected on the 60,000 training images, in the automatic mode and in the
paper's literal setting, and judged by the accuracy of an MLP on the 10,000 test images.
The paper does not say which entropy it means. Both readings are computed, in nats, on
the training images: that of a pixel's intensities in 32 bins, and that over the classes
of its mean intensity in each class, H = -sum(p log p) with p the means divided by their
sum.
"""

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np
import stamp
from sklearn.neural_network import MLPClassifier

import tables
from featuresieve import AutoNFSClassifier
from featuresieve.plotting import FAINT, INK, PALETTE

FILE = stamp.RESULTS / "mnist.json"
IMAGES = stamp.RESULTS.parents[1] / "docs" / "images"
N_TRAIN, SIDE, N_BINS, N_FRAMES = 60_000, 28, 32, 6
PAPER = {"kept": 1.98, "dropped": 1.43}


def images() -> tuple[np.ndarray, np.ndarray]:
    """Return the pixels, one image a row, and the digits."""
    with np.load(tables.data_folder() / "images" / "mnist.npz") as arrays:
        return arrays["X"], arrays["target"].astype(int)


def intensity_entropy(X: np.ndarray) -> np.ndarray:
    """Return the entropy of each pixel's intensities in bins, in nats."""
    bins = X // (256 // N_BINS)
    return _entropy(np.stack([(bins == b).mean(axis=0) for b in range(N_BINS)]))


def class_means(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the mean intensity of each pixel in each class, (classes, pixels)."""
    return np.stack([X[y == digit].mean(axis=0) for digit in range(10)]) / 255


def class_entropy(means: np.ndarray) -> np.ndarray:
    """Return the entropy over the classes of each pixel's mean intensity, in nats."""
    return _entropy(means / np.maximum(means.sum(axis=0), 1e-12))


def _entropy(shares: np.ndarray) -> np.ndarray:
    """Return -sum(p log p) over the first axis."""
    return -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=0)


def accuracy(X: np.ndarray, y: np.ndarray, columns: np.ndarray, seed: int) -> float:
    """Return the test accuracy of an MLP on some pixels."""
    pixels = X[:, columns].astype(np.float32) / 255
    model = MLPClassifier((256,), batch_size=256, max_iter=12, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # twelve epochs are not convergence
        model.fit(pixels[:N_TRAIN], y[:N_TRAIN])
    return float(model.score(pixels[N_TRAIN:], y[N_TRAIN:]))


def run(options: argparse.Namespace) -> None:
    """Select, judge and store."""
    X, y = images()
    rows = np.random.default_rng(0).permutation(N_TRAIN)[: options.rows]
    selectors = {
        "auto": AutoNFSClassifier(random_state=0),
        "published": AutoNFSClassifier.as_published(
            random_state=0, n_epochs=options.epochs
        ),
    }
    found: dict[str, Any] = {}
    for name, selector in selectors.items():
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the published setting may collapse
            selector.fit(X[rows], y[rows])
        seconds = time.perf_counter() - started
        found[name] = _record(selector, seconds) | {
            "accuracies": [accuracy(X, y, selector.support_, s) for s in range(2)]
        }
        print(name, found[name]["n_kept"], round(seconds), flush=True)
    everything = np.ones(X.shape[1], dtype=bool)
    means = class_means(X[:N_TRAIN], y[:N_TRAIN])
    stored = {
        **stamp.stamp(),
        "n_rows": len(rows),
        "selections": found,
        "accuracies_of_all": [accuracy(X, y, everything, s) for s in range(2)],
        "is_constant": (np.ptp(X[:N_TRAIN], axis=0) == 0).tolist(),
        "intensity_entropy": _rounded(intensity_entropy(X[:N_TRAIN])),
        "class_entropy": _rounded(class_entropy(means)),
        "class_means": _rounded(means),
    }
    FILE.write_text(json.dumps(stored) + "\n")


def _record(selector: Any, seconds: float) -> dict[str, Any]:
    """Return what is drawn and printed of a fitted selector."""
    history = selector.history_
    frames = np.unique(np.linspace(0, len(history["step"]) - 1, N_FRAMES).round())
    frames = frames.astype(int)
    return {
        "n_kept": int(selector.n_features_),
        "kept": np.flatnonzero(selector.support_).tolist(),
        "frequency": _rounded(selector.selection_frequency_),
        "steps": history["step"][frames].tolist(),
        "gates": _rounded(history["gates"][frames]),
        "seconds": round(seconds, 1),
    }


def _rounded(values: np.ndarray) -> Any:
    """Return numbers as lists, short enough for a file of results."""
    return np.round(np.asarray(values, dtype=float), 3).tolist()


def table(options: argparse.Namespace) -> None:  # noqa: ARG001
    """Print the figures beside the paper's."""
    stored = json.loads(FILE.read_text())
    print(f"{stored['command']}, commit {stored['commit']}, {stored['device']}")
    print(f"paper: entropy {PAPER['kept']} of kept, {PAPER['dropped']} of other pixels")
    all_pixels = np.mean(stored["accuracies_of_all"])
    print(f"{'':10} kept  seconds  accuracy (all 784: {all_pixels:.4f})", end="")
    print("  entropy kept / dropped / dropped that vary: classes, intensities")
    is_constant = np.array(stored["is_constant"])
    for name, selection in stored["selections"].items():
        kept = _mask(selection["kept"])
        parts = (kept, ~kept, ~kept & ~is_constant)
        entropies = [
            " / ".join(f"{np.array(stored[key])[part].mean():.2f}" for part in parts)
            for key in ("class_entropy", "intensity_entropy")
        ]
        print(
            f"{name:10} {selection['n_kept']:4} {selection['seconds']:8.0f}"
            f" {np.mean(selection['accuracies']):9.4f}  {', '.join(entropies)}"
        )


def _mask(kept: list[int]) -> np.ndarray:
    """Return the kept pixels as a mask."""
    mask = np.zeros(SIDE * SIDE, dtype=bool)
    mask[kept] = True
    return mask


def draw(options: argparse.Namespace) -> None:  # noqa: ARG001
    """Draw the map of kept pixels, five pixels by class, and the mask in training."""
    stored = json.loads(FILE.read_text())
    selection = stored["selections"]["auto"]
    _draw_map(stored, selection)
    _draw_frames(selection)


def _draw_map(stored: dict[str, Any], selection: dict[str, Any]) -> None:
    """Draw the kept pixels, their entropies, and what five pixels tell of the digit."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from matplotlib.patheffects import withStroke

    mpl.use("Agg")
    kept = _mask(selection["kept"])
    entropy, means = np.array(stored["class_entropy"]), np.array(stored["class_means"])
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    left, middle, right = axes
    frequency = np.array(selection["frequency"]).reshape(SIDE, SIDE)
    shown = left.imshow(frequency, cmap="Blues", vmin=0, vmax=1)
    figure.colorbar(shown, ax=left, label="share of the votes", shrink=0.8)
    left.set_title(f"{selection['n_kept']} of 784 pixels kept")
    left.set_axis_off()
    varies = ~np.array(stored["is_constant"])
    bins = np.linspace(0, np.log(10), 24)
    for part, label, colour in (
        (kept, "kept", PALETTE[0]),
        (~kept & varies, "dropped, not constant", FAINT),
    ):
        label = f"{label}: mean {entropy[part].mean():.2f}"
        middle.hist(entropy[part], bins, density=True, alpha=0.8, color=colour,
                    label=label)  # fmt: skip
    middle.set(xlabel="entropy over the classes (nats)", yticks=[])
    middle.set_title("A kept pixel is lit by several digits")
    middle.legend(frameon=False, fontsize=8, loc="upper left")
    for number, (pixel, is_kept) in enumerate(five_pixels(selection, stored), start=1):
        row, column = divmod(pixel, SIDE)
        colour = PALETTE[0] if is_kept else PALETTE[1]
        style = ("-", "--", ":")[(number - 1) % 3]
        right.plot(range(10), means[:, pixel], style, color=colour, label=f"F{number}")
        left.text(
            *(column, row, f"F{number}"),
            color=INK if is_kept else PALETTE[1],
            ha="center",
            va="center",
            fontsize=8,
            weight="bold",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
    right.set(xlabel="digit", xticks=range(10), ylabel="mean intensity")
    right.set_title("F1 to F3 kept, F4 and F5 dropped")
    right.set_ylim(top=1.0)  # room for the legend
    right.legend(
        frameon=False, fontsize=8, ncols=5, handlelength=1.5, loc="upper center"
    )
    figure.savefig(IMAGES / "mnist_pixels.png", dpi=110)


def five_pixels(
    selection: dict[str, Any], stored: dict[str, Any]
) -> list[tuple[int, bool]]:
    """Return the three pixels with most votes, apart, and two typical dropped ones.

    These are at the quartiles, by entropy, of the dropped pixels that vary.
    """
    votes = np.array(selection["frequency"])
    places = np.column_stack(np.divmod(np.arange(votes.size), SIDE))
    chosen: list[int] = []
    for pixel in np.argsort(-votes, kind="stable"):
        gaps = [np.abs(places[pixel] - places[c]).max() for c in chosen]
        if min(gaps, default=SIDE) >= 4:
            chosen.append(int(pixel))
        if len(chosen) == 3:
            break
    is_dropped = ~_mask(selection["kept"]) & ~np.array(stored["is_constant"])
    dropped = np.flatnonzero(is_dropped)
    by_entropy = dropped[np.argsort(np.array(stored["class_entropy"])[dropped])]
    quartiles = [by_entropy[len(by_entropy) // 4], by_entropy[3 * len(by_entropy) // 4]]
    return [(c, True) for c in chosen] + [(int(q), False) for q in quartiles]


def _draw_frames(selection: dict[str, Any]) -> None:
    """Draw the mean opening of the gates at moments of the training."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    n_frames = len(selection["steps"])
    size = (2 * n_frames, 2.2)
    figure, axes = plt.subplots(1, n_frames, figsize=size, layout="constrained")
    for ax, step, gates in zip(
        axes, selection["steps"], selection["gates"], strict=True
    ):
        ax.imshow(np.reshape(gates, (SIDE, SIDE)), cmap="Blues", vmin=0, vmax=1)
        ax.set_title(f"step {step}", fontsize=9)
        ax.set_axis_off()
    figure.savefig(IMAGES / "mnist_mask.png", dpi=110)


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "table", "draw"))
    parser.add_argument("--rows", type=int, default=N_TRAIN, help="training images")
    parser.add_argument("--epochs", type=int, default=20, help="as published")
    options = parser.parse_args()
    {"run": run, "table": table, "draw": draw}[options.what](options)


if __name__ == "__main__":
    main()
