"""What the stored results of fields.py say."""

import json
from typing import Any

import stamp

from sievebench.analysis import FIELDS, field_scores, field_summary


def stored(suite: str) -> list[dict[str, Any]]:
    """Return the jobs of a suite that are stored."""
    path = stamp.RESULTS / f"fields_{suite}.json"
    return json.loads(path.read_text())["records"] if path.exists() else []


def print_tables(suite: str) -> None:
    """Print each field in each scenario, and what AutoNFS kept."""
    records = stored(suite)
    sizes = {r["table"]: (sum(r["n_rows"]), r["n_original"]) for r in records}
    print(f"{len(records)} jobs; rows and columns:", sizes)
    scores = field_scores(records)
    for scenario in dict.fromkeys(scores["scenario"]):
        ours = scores[
            (scores["selector"] == "autonfs") & (scores["field"] == "matched")
        ]
        ours = ours[ours["scenario"] == scenario][["kept_share", "added_share"]].mean()
        print(f"\n{scenario}: AutoNFS keeps {ours.round(3).to_dict()}")
        for field, meaning in FIELDS.items():
            print(f"\n{scenario}, {field}: {meaning}")
            print(field_summary(scores, scenario, field).round(3).to_string())
