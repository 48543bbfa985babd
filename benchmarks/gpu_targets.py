"""All that is wanted of a GPU, in one command of at most ten minutes.

On a machine with CUDA, ``python benchmarks/gpu_targets.py`` runs `wide.py` (whole fits
of wide and long tables, the published setting from 32 to 32,768 columns), `speed.py
stack` (what members and a mask cost) and `scale.py steps` (a step against its floor),
and prints what is wanted beside what was measured. Each writes a record as soon as it
has one: what is finished stays. ``--small`` tries the first out on a CPU; ``--out
FOLDER`` writes elsewhere than to ``benchmarks/results``.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import stamp

# Seconds of an automatic fit, and the exponent of the columns in the published setting.
WANTED = {
    **{"2000x20000": 2.5, "500x50000": 3.0, "1000000x100": 5.0},
    **{"60000x784:uint8": 2.5, "exponent of the published setting": 0.12},
}
# After so many no further fit begins; the last one may take 90.
LIMIT_SECONDS = 390
PARTS = (["wide.py", "--limit", str(LIMIT_SECONDS)], ["speed.py", "stack"])
PARTS += (["scale.py", "steps"],)


def lines(records: list[dict[str, Any]]) -> list[str]:
    """Return one line a fit: what was measured, and what was wanted of it."""
    table = [
        "| what | measured | of it preparation | wanted | |",
        "|---|---|---|---|---|",
    ]
    for record in records:
        name, wanted = record["what"], None
        if record.get("setting") != "published":
            wanted = WANTED.get(name)
        found = record.get("seconds", record.get("value", record.get("failure")))
        verdict = ""
        if wanted is not None:
            is_met = isinstance(found, float) and found <= wanted
            verdict = "met" if is_met else "missed"
        share = record.get("preparation", "")
        table.append(f"| {name} | {found} | {share} | {wanted or ''} | {verdict} |")
    return table


def main() -> None:
    parser = stamp.parser_of(__doc__)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    for words in PARTS[:1] if arguments.small else PARTS:
        started = time.monotonic()
        extra = ["--small"] if arguments.small else []
        script = Path(__file__).with_name(words[0])
        command = [sys.executable, str(script), *words[1:], *extra]
        subprocess.run([*command, "--out", str(arguments.out)], check=False)
        print(f"{' '.join(words)}: {time.monotonic() - started:.0f} s", flush=True)
    device = "cpu" if arguments.small else "gpu"
    stored = json.loads((arguments.out / f"wide_{device}.json").read_text())
    print("\n".join(lines(stored["records"])))


if __name__ == "__main__":
    main()
