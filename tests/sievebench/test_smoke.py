from pathlib import Path

import pandas as pd
import pytest

from sievebench.analysis.schema import check_runs
from sievebench.cli import main
from sievebench.labels import selector_label
from sievebench.selectors import SELECTORS

# Without and with a setting to tune, classes only, and of the library itself.
FEW = ("none", "xgboost", "protogate", "autonfs:auto")
FILE = Path(__file__).parents[2] / "experiments" / "smoke.toml"


@pytest.mark.slow
def test_smoke_experiment_runs_to_the_end(tmp_path):
    table = tmp_path / "runs.csv"
    words = ["run", str(FILE), "--out", str(tmp_path), "--workers", "1", "--quiet"]
    # Every selector, and a few on the other target and in the other scenarios: the
    # whole file has four times as many cells, which add nothing but time.
    others = ["--datasets", "diabetes", "--scenarios", "corrupted", "second_order"]
    for part in (
        ["--datasets", "wine", "--scenarios", "random"],
        [*others, "--selectors", *FEW],
    ):
        assert main([*words, *part, "--table", str(table)]) == 0
    runs = check_runs(pd.read_csv(table, keep_default_na=False, na_values=[""]))
    assert set(runs["status"]) == {"done", "skipped"}
    skipped = runs[runs["status"] == "skipped"]
    assert set(skipped["reason"]) == {"protogate does not do regression"}
    assert set(runs["selector"].str.partition(":")[0]) == set(SELECTORS)
    assert set(runs["scenario"]) == {"random", "corrupted", "second_order"}
    every = runs[runs["selector"] == "none"]
    assert (every["n_kept"] == every["n_features"]).all()
    chosen = runs[
        (runs["status"] == "done") & ~runs["selector"].str.match("none|autonfs")
    ]
    assert (chosen["n_kept"] == chosen["n_original"]).all()
    report = tmp_path / "report"
    assert main(["report", str(tmp_path / "smoke"), "--out", str(report)]) == 0
    page = (report / "index.html").read_text(encoding="utf-8")
    assert all(selector_label(name) in page for name in set(runs["selector"]))
