"""Tables of the stored speed results, as Markdown."""

from pathlib import Path
from typing import Any

import stamp

OURS_AUTO, OURS_FIXED = "featuresieve auto", "featuresieve, published setting"
THEIRS_AUTO, THEIRS_FIXED = "autonfs 1.0.0 auto", "autonfs 1.0.0, same setting"


def print_tables(folder: Path) -> None:
    """Print every table whose results are stored."""
    printers = {
        "speed_peers": _print_peers,
        "speed_stack_cpu": _print_stack,
        "speed_stack_gpu": _print_stack,
        "speed_memory": _print_memory,
        "speed_gpu": _print_gpu,
    }
    stamp.print_stored(folder, printers)


def _print_peers(records: list[dict[str, Any]]) -> None:
    """Print seconds and columns kept, a row a method, a column a table."""
    names = list(dict.fromkeys(record["table"] for record in records))
    cells = {(record["method"], record["table"]): record for record in records}
    print("Seconds (columns kept), one thread.\n")
    print("| | " + " | ".join(names) + " |")
    print("|---|" + "---|" * len(names))
    for method in dict.fromkeys(record["method"] for record in records):
        shown = [_shown(cells.get((method, name))) for name in names]
        print(f"| {method} | " + " | ".join(shown) + " |")
    pairs = {
        "auto against auto": (THEIRS_AUTO, OURS_AUTO),
        "same setting": (THEIRS_FIXED, OURS_FIXED),
    }
    for label, (theirs, ours) in pairs.items():
        ratios = [_ratio(cells, theirs, ours, name) for name in names]
        print(f"| **times faster, {label}** | " + " | ".join(ratios) + " |")


def _shown(record: dict[str, Any] | None) -> str:
    """Return one cell."""
    if record is None:
        return "not run"
    if "failure" in record:
        return record["failure"].replace("|", "/")
    return f"{record['seconds']:.2f} ({record['n_kept']})"


def _ratio(
    cells: dict[tuple[str, str], dict[str, Any]], theirs: str, ours: str, name: str
) -> str:
    """Return how many times faster ours is."""
    a, b = cells.get((theirs, name), {}), cells.get((ours, name), {})
    if "seconds" not in a or "seconds" not in b:
        return "–"
    return f"{a['seconds'] / b['seconds']:.1f}"


def _print_stack(records: list[dict[str, Any]]) -> None:
    """Print the cost of a step and what members and the mask add to it."""
    print("| columns | members | µs a step | unmasked | mask adds | vs one member |")
    print("|---|---|---|---|---|---|")
    single = {
        record["n_columns"]: record["microseconds"]
        for record in records
        if record["n_members"] == 1
    }
    for record in records:
        mask = record["microseconds"] / record["microseconds_unmasked"] - 1
        stack = record["microseconds"] / single[record["n_columns"]]
        print(
            f"| {record['n_columns']} | {record['n_members']} "
            f"| {record['microseconds']:.0f} | {record['microseconds_unmasked']:.0f} "
            f"| {100 * mask:.0f} % | {stack:.2f} |"
        )


def _print_memory(records: list[dict[str, Any]]) -> None:
    """Print what a default fit adds to the memory of the process."""
    print("| shape | input MB | added MB | peak / input | seconds |")
    print("|---|---|---|---|---|")
    for record in records:
        if "failure" in record:
            print(f"| {record['shape']} | {record['failure']} | | | |")
            continue
        size, added = record["input_megabytes"], record["added_megabytes"]
        print(
            f"| {record['shape']} | {size} | {added} | {(size + added) / size:.1f} "
            f"| {record['seconds']} |"
        )


def _print_gpu(records: list[dict[str, Any]]) -> None:
    """Print automatic fits on a GPU."""
    print(
        "Our seconds are those of a whole fit, refits included; the authors' those of "
        "four epochs of training alone.\n"
    )
    print("| what | seconds | member-epochs | ms a member-epoch |")
    print("|---|---|---|---|")
    for record in records:
        each = 1000 * record["seconds"] / record["member_epochs"]
        print(
            f"| {record['what']} | {record['seconds']} "
            f"| {record['member_epochs']} | {each:.2f} |"
        )
