"""All that the evidence still lacks and a GPU makes cheap, the decisive parts first.

Usage (from the repository root, FEATURESIEVE_DATA set; FEATURESIEVE_COMMIT names the
commit where the code was copied without its history)::

    python benchmarks/evidence.py plan                      # what is left, its cost
    python benchmarks/evidence.py run --seconds 1400 --out FOLDER

`run` goes through the parts until the time is up, each by a script of its own, and
writes `fields_paper.json`, `fields_breadth.json` and `scaling_gpu.json` into FOLDER:
copied into benchmarks/results they are what the next run goes on from, and `make
verdicts` makes the page of verdicts of them.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import fields
import stamp

# In this order: draws of the paper's tables, of others, seconds against columns.
PARTS: tuple[tuple[str, tuple[int, ...]], ...] = (
    *(("paper", (1,)), ("breadth", (1,)), ("scaling", ())),
    *((suite, (draw,)) for draw in fields.DRAWS[1:] for suite in ("paper", "breadth")),
)
SCALING_SECONDS = 180.0


def cost_of(name: str, draws: tuple[int, ...], options: argparse.Namespace) -> float:
    """Return the seconds a part takes, 0 if it is done."""
    if name == "scaling":
        is_done = (stamp.RESULTS / "scaling_gpu.json").exists()
        return 0.0 if is_done else SCALING_SECONDS
    asked = argparse.Namespace(
        suite=name, draws=draws, tables=None, out=options.out, workers=options.workers
    )
    costs = fields.costs_of(asked)
    return sum(sum(each) for each in costs.values()) / options.workers


def plan(options: argparse.Namespace) -> None:
    """Print the parts that are left and their cost."""
    total = 0.0
    for name, draws in PARTS:
        seconds = cost_of(name, draws, options)
        total += seconds
        which = "".join(f", draw {draw}" for draw in draws)
        print(f"{name}{which}: {seconds:.0f} s, so far {total:.0f} s")


def run(options: argparse.Namespace) -> None:
    """Run part after part; none begins in the last minute."""
    until = time.monotonic() + options.seconds
    if service := shutil.which("nvidia-cuda-mps-control"):  # work of many overlaps
        subprocess.run([service, "-d"], check=False)
    for name, draws in PARTS:
        left = until - time.monotonic() - fields.FAREWELL_SECONDS
        if left < 0:
            print("the time is up", flush=True)
            return
        if name == "scaling":
            seconds = f"{min(left, SCALING_SECONDS):.0f}"
            words = ["scaling.py", "run", "--seconds", seconds]
        else:
            words = ["fields.py", "run", "--suite", name, "--seconds", f"{left:.0f}"]
            words += ["--workers", str(options.workers)]
            words += ["--draws", *map(str, draws)]
        print(*words, flush=True)
        script = Path(__file__).parent / words[0]
        subprocess.run(
            [sys.executable, script, *words[1:], "--out", options.out], check=False
        )


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("plan", "run"))
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=1400.0)
    parser.add_argument("--out", type=Path, default=Path("runs"))
    options = parser.parse_args()
    plan(options) if options.what == "plan" else run(options)


if __name__ == "__main__":
    main()
