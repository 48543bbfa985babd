"""Tables of the stored quality results, as Markdown."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import stamp

TARGET_NOTE = "Relative change of accuracy, or of the mean squared error."


def print_tables(folder: Path, development: set[str]) -> None:
    """Print every table whose results are stored."""
    tabular = partial(_print_tabular, development=development)
    printers = {
        "quality_tabular": tabular,
        "quality_price": tabular,
        "quality_wide": partial(_print_wide, development=development),
        "quality_cohorts": partial(_print_cohorts, development=development),
    }
    stamp.print_stored(folder, printers)


def _gain(value: float, reference: float) -> float:
    """Return the relative change of a score that is better when larger."""
    return (value - reference) / abs(reference)


def _print_tabular(cells: list[dict[str, Any]], development: set[str]) -> None:
    """Print one row a table and scenario, then means."""
    judges = [j for j in ("mlp", "boosted") if f"{j}_all" in cells[0]]
    print(TARGET_NOTE + "\n")
    head = ["table", "scenario", "kept", "original", "added among kept"]
    head += [f"{j} vs {what}" for j in judges for what in ("all", "original")]
    print("| " + " | ".join([*head, "seconds"]) + " |")
    print("|" + "---|" * (len(head) + 1))
    rows = []
    for cell in cells:
        runs = cell["runs"]
        kept = np.mean([len(run["kept"]) for run in runs])
        added = np.mean(
            [np.mean(np.array(run["kept"]) >= cell["n_original"]) for run in runs]
        )
        gains = [
            np.mean([_gain(run[j], cell[f"{j}_{what}"]) for run in runs])
            for j in judges
            for what in ("all", "original")
        ]
        seconds = np.mean([run["seconds"] for run in runs])
        rows.append([kept / cell["n_original"], added, *gains, seconds])
        mark = "" if cell["table"] in development else " (confirming)"
        shown = [f"{100 * gain:+.1f} %" for gain in gains]
        print(
            f"| {cell['table']}{mark} | {cell['scenario']} | {kept:.1f} "
            f"| {cell['n_original']} | {added:.3f} | {' | '.join(shown)} "
            f"| {seconds:.1f} |"
        )
    table = np.array(rows)
    is_confirming = np.array([cell["table"] not in development for cell in cells])
    scenarios = np.array([cell["scenario"] for cell in cells])
    groups = {"all cells": np.ones(len(cells), dtype=bool)}
    groups |= {"confirming tables": is_confirming}
    groups |= {name: scenarios == name for name in np.unique(scenarios)}
    for name, chosen in groups.items():
        if chosen.any():
            fraction, added, *gains, seconds = table[chosen].mean(axis=0)
            shown = [f"{100 * gain:+.2f} %" for gain in gains]
            print(
                f"| **mean, {name}** | | {fraction:.2f} of original | | {added:.4f} "
                f"| {' | '.join(shown)} | {seconds:.1f} |"
            )
    empty = sum(not run["kept"] for cell in cells for run in cell["runs"])
    print(f"\nempty selections: {empty} of {sum(len(c['runs']) for c in cells)}")


def _print_wide(records: list[dict[str, Any]], development: set[str]) -> None:
    """Print one row a wide table, means over seeds."""
    print("| table | kept | of | set | mlp | neighbours | forest | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(record["table"] for record in records):
        runs = [record for record in records if record["table"] == name]
        kept = np.mean([len(run["kept"]) for run in runs])
        seconds = np.mean([run["seconds"] for run in runs])
        mark = "" if name in development else " (confirming)"
        for what in runs[0]["scores"]:
            means = [
                np.mean([run["scores"][what][judge] for run in runs])
                for judge in ("mlp", "neighbours", "forest")
            ]
            shown = " | ".join(f"{mean:.3f}" for mean in means)
            print(
                f"| {name}{mark} | {kept:.1f} | {runs[0]['n_columns']} | {what} "
                f"| {shown} | {seconds:.1f} |"
            )
        if "outside" in runs[0]:
            outside = [run["outside"] for run in runs]
            print(f"\nmadelon, columns outside the relevant twenty: {outside}\n")


def _print_cohorts(records: list[dict[str, Any]], development: set[str]) -> None:
    """Print one row a study, means over splits."""
    print("| study | kept | of | forest, all | forest, kept | warned |")
    print("|---|---|---|---|---|---|")
    rows = []
    for name in dict.fromkeys(record["table"] for record in records):
        runs = [record for record in records if record["table"] == name]
        kept = np.mean([len(run["kept"]) for run in runs])
        scores = [np.mean([run[k] for run in runs]) for k in ("forest_all", "forest")]
        warned = sum(bool(run["warnings"]) for run in runs)
        n_columns = runs[0]["n_columns"]
        rows.append([kept / n_columns, *scores])
        mark = "" if name in development else " (confirming)"
        print(
            f"| {name}{mark} | {kept:.1f} | {n_columns} | {scores[0]:.3f} "
            f"| {scores[1]:.3f} | {warned} of {len(runs)} |"
        )
    fraction, before, after = np.mean(rows, axis=0)
    print(
        f"| **mean** | {100 * (1 - fraction):.1f} % removed | | {before:.4f} "
        f"| {after:.4f} | |"
    )
