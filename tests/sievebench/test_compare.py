"""`sievebench compare`: figures, failures, limits, interruption."""

import csv
import io
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from compared_table import table_of

from made_tables import class_table, value_table
from sievebench.cli import main
from sievebench.compare import (
    CompareError,
    Comparison,
    Plan,
    SelectorResult,
    csv_text,
    html_page,
    run_comparison,
    screen_text,
)
from sievebench.compare._comparison import _receive
from sievebench.compare._plan import FoldScore
from sievebench.compare._summary import agreement_matrix, jaccard, rows_of

QUICK = ("none", "univariate", "lasso")


def table(make=class_table, **arguments):
    X, y = make(**arguments)
    frame = pd.DataFrame(X, columns=[f"c {j}" for j in range(X.shape[1])])
    return table_of(frame.assign(target=y), "target")


@pytest.fixture
def file(tmp_path):
    X, y = class_table(n_rows=60)
    frame = pd.DataFrame(X, columns=[f"<c {j}>" for j in range(8)])
    frame["город"] = np.where(frame["<c 0>"] > 0, "Київ", "Львів")
    frame.loc[::7, "<c 1>"] = np.nan
    frame["target"] = np.where(y, "yes", "no")
    path = tmp_path / "strange.csv"
    frame.to_csv(path, index=False)
    return path


def made_comparison():
    """Return a comparison with known figures: two selectors, one failed, "none"."""
    supports = [[(1, 1, 0, 0), (1, 1, 0, 0)], [(1, 0, 1, 0), (1, 1, 0, 0)]]
    folds = [
        tuple(
            FoldScore(score, tuple(map(bool, support)), 2.0)
            for score, support in zip((0.5, 0.7), pair, strict=True)
        )
        for pair in supports
    ]
    everything = tuple(FoldScore(0.9, (True,) * 4, 0.0) for _ in range(2))
    results = (
        SelectorResult("none", everything),
        SelectorResult("lasso", folds[0]),
        SelectorResult("forest", folds[1]),
        SelectorResult("stg", folds[0][:1], "out of time: a fit took more than 9 s"),
    )
    X = pd.DataFrame(np.eye(12)[:, :4], columns=["<a>", "b", "c", "d"])
    made = table_of(X.assign(target=["u", "v"] * 6), "target")
    plan = Plan(("none", "lasso", "forest", "stg"), task="classification", n_folds=2)
    return Comparison(made, plan, results, is_interrupted=False)


def test_jaccard_is_intersection_over_union():
    assert jaccard((True, True, False), (True, False, True)) == pytest.approx(1 / 3)


def test_rows_hold_means_errors_and_similarities():
    rows = {row.selector: row for row in rows_of(made_comparison())}
    lasso = rows["lasso"]
    assert lasso.score == pytest.approx(0.6)
    assert lasso.score_error == pytest.approx(0.1)  # half the difference of two
    assert (lasso.n_kept, lasso.seconds) == (2.0, 2.0)
    assert lasso.agreement == pytest.approx((1 / 3 + 1) / 2)
    assert lasso.stability == 1.0
    assert rows["forest"].stability == pytest.approx(1 / 3)
    assert lasso.columns == ("<a>", "b")
    assert rows["forest"].columns == ("<a>",)
    assert np.isnan(rows["none"].agreement)
    assert rows["stg"].reason.endswith("(1 of 2 folds done)")


def test_agreement_is_one_with_itself_and_symmetric():
    matrix = agreement_matrix(made_comparison())
    np.testing.assert_allclose(np.diag(matrix)[1:3], 1.0)
    np.testing.assert_array_equal(matrix, matrix.T)


def test_best_score_is_printed_first_and_failures_last():
    lines = screen_text(made_comparison()).splitlines()[-4:]
    assert [line.split()[0] for line in lines] == ["No", "Lasso", "RF", "STG"]
    assert "out of time" in lines[-1]


def test_csv_can_be_read_back():
    comparison = made_comparison()
    features = comparison.table.features.rename(columns={"b": 'b; "é", c'})
    comparison = replace(comparison, table=replace(comparison.table, features=features))
    rows = list(csv.DictReader(io.StringIO(csv_text(comparison))))
    assert [row["selector"] for row in rows] == ["none", "lasso", "forest", "stg"]
    assert float(rows[1]["score"]) == pytest.approx(0.6)
    assert json.loads(rows[1]["columns"]) == ["<a>", 'b; "é", c']
    assert rows[3]["score"] == rows[3]["columns"] == ""
    assert rows[3]["reason"].startswith("out of time")


@pytest.mark.parametrize(("sign", "scale"), [(1, "0 to 0.9"), (-1, "-0.9 to 0")])
def test_bars_begin_at_zero_and_are_as_long_as_the_scores(sign, scale):
    comparison = made_comparison()
    results = [
        replace(r, folds=tuple(replace(f, score=sign * f.score) for f in r.folds))
        for r in comparison.results
    ]
    page = html_page(replace(comparison, results=tuple(results)))
    bars = re.findall(r"margin-left:([\d.]+)em;width:([\d.]+)em", page)
    starts, widths = np.array(bars, dtype=float).T
    lengths = [8, 8 * 0.6 / 0.9, 8 * 0.6 / 0.9]  # scores of 0.9, 0.6 and 0.6
    np.testing.assert_allclose(sorted(widths, reverse=True), lengths, atol=0.01)
    zero = 0 if sign > 0 else 8
    np.testing.assert_allclose(starts + (sign < 0) * widths, zero, atol=0.02)
    assert f"<th>{scale}</th>" in page


def test_page_needs_no_other_file_and_escapes_names():
    page = html_page(made_comparison())
    assert not re.search(r"(src|href)=|@import|url\(|<script", page)
    assert "&lt;a&gt;" in page
    assert "<a>" not in page


@pytest.mark.parametrize("make", [class_table, value_table])
@pytest.mark.parametrize("predictor", ["boosting", "linear"])
def test_comparison_judges_every_selector_in_every_fold(make, predictor):
    plan = Plan(QUICK, n_folds=3, keep=2, predictor=predictor)
    comparison = run_comparison(table(make), plan)
    for result in comparison.results:
        assert result.reason == ""
        assert len(result.folds) == 3
    kept = [sum(fold.support) for fold in comparison.results[1].folds]
    assert kept == [2, 2, 2]
    # Two columns tell all there is: keeping them costs next to nothing.
    scores = {row.selector: row.score for row in rows_of(comparison)}
    assert scores["univariate"] > scores["none"] - 0.05


def test_selection_inside_the_folds_finds_nothing_in_noise():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 400)), np.repeat([0, 1], 30)
    noise = table_of(pd.DataFrame(X).add_prefix("c").assign(target=y), "target")
    plan = Plan(("univariate",), keep=10, predictor="linear")
    (row,) = rows_of(run_comparison(noise, plan))
    # Chosen on all rows, ten of 400 columns would give an accuracy of about 0.9.
    assert row.score < 0.7


def test_same_seed_gives_the_same_comparison():
    plan = Plan(("forest",), n_folds=2, seed=3)
    first, second = (run_comparison(table(), plan).results[0] for _ in range(2))
    assert [f.score for f in first.folds] == [f.score for f in second.folds]
    assert [f.support for f in first.folds] == [f.support for f in second.folds]


def test_selector_out_of_time_is_a_row_and_the_others_go_on():
    plan = Plan(("lassonet", "none"), n_folds=2, time_limit_seconds=1.0)
    slow, quick = run_comparison(table(), plan).results
    assert slow.reason.startswith("out of time")
    assert quick.reason == ""


def test_failing_selector_is_a_row_with_its_reason():
    plan = Plan(("protogate", "none"), n_folds=2, keep=0.5)
    failed, finished = run_comparison(table(value_table), plan).results
    assert failed.reason.startswith("ValueError: ProtoGate supports classification")
    assert finished.reason == ""


def test_process_that_dies_is_a_reason():
    context = multiprocessing.get_context("forkserver")
    pipe, far_end = context.Pipe(duplex=False)
    process = context.Process(target=os._exit, args=(3,))
    process.start()
    far_end.close()
    message, reason = _receive(pipe, process, 60.0)
    pipe.close()
    assert (message, reason) == ("failed", "its process ended with code 3")


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(QUICK, n_folds=1), "number of folds"),
        (Plan(QUICK, keep=99), "cannot keep 99 columns"),
        (Plan(QUICK, metric="r2"), "metric of a classification"),
    ],
)
def test_plan_that_does_not_fit_the_table_is_refused(plan, message):
    with pytest.raises(CompareError, match=message):
        run_comparison(table(), plan)


def test_command_line_prints_and_writes(file, tmp_path, capsys):
    out = tmp_path / "out.csv", tmp_path / "out.html"
    arguments = ["compare", str(file), "--target", "target", "--folds", "3"]
    arguments += [
        "--selectors",
        "none,univariate",
        "lasso",
        "--csv",
        str(out[0]),
        "--html",
        str(out[1]),
    ]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert "60 rows, 9 columns (1 text)" in printed.out
    assert "[3/3] lasso finished" in printed.err
    written = out[0].read_text(encoding="utf-8")
    assert len(written.splitlines()) == 4
    assert "город" in written
    assert "&lt;c 2&gt;" in out[1].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--target": "tagret"}, "did you mean 'target'"),
        ({"--task": "regression"}, "holds text"),
        ({"--exclude": "none"}, "--exclude leaves no selector"),
        ({"--csv": "nowhere/out.csv"}, "--csv: there is no folder 'nowhere'"),
        ({"--html": "."}, "--html: . is a folder"),
        ({"--csv": "t", "--html": "t"}, "--html: 't' is the file of --csv"),
        ({"--folds": "100"}, "number of folds"),
    ],
)
def test_wrong_argument_is_one_line_and_status_2(file, capsys, change, message):
    options = {"--target": "target", "--selectors": "none"} | change
    words = [word for pair in options.items() for word in pair]
    assert main(["compare", str(file), *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("sievebench: error: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--selectors", ""], "must name a selector, got ''"),
        (["--seed", "-1"], "must be a whole number >= 0"),
        (["--selectors", "laso"], "did you mean 'lasso'"),
        (["--keep", "1.5"], "must be a count"),
        (["--time-limit", "-1"], "must be a number of seconds"),
    ],
)
def test_argument_of_the_wrong_kind_is_explained(capsys, words, message):
    with pytest.raises(SystemExit) as caught:
        main(["compare", "t.csv", "--target", "y", *words])
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_table_is_not_written_over(file, capsys):
    before = file.read_bytes()
    assert main(["compare", str(file), "--target", "target", "--csv", str(file)]) == 2
    assert "is the table itself" in capsys.readouterr().err
    assert file.read_bytes() == before


@pytest.mark.parametrize("option", ["--csv", "--html"])
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="root may write anywhere")
def test_file_that_cannot_be_written_is_told_before_work(capsys, option):
    words = ["nowhere.csv", "--target", "y", option, "/proc/out"]
    assert main(["compare", *words]) == 2
    assert f"{option}: /proc/out cannot be written: " in capsys.readouterr().err


def test_words_say_how_the_table_is_written(tmp_path, capsys):
    rows = [f"{i};{i % 3};{i * i % 7};{'k.A.' if i == 3 else i % 2}" for i in range(40)]
    path = tmp_path / "report.csv"
    path.write_text("Umsätze\n\nid;a;b;Größe\n" + "\n".join(rows), encoding="latin-1")
    words = ["--target", "Größe", "--drop", "id", "--skip", "2", "--missing", "k.A."]
    words += ["--type", "a=category", "Größe=number", "--encoding", "latin-1"]
    words += ["--delimiter", ";", "--selectors", "none", "--folds", "2", "--quiet"]
    assert main(["compare", str(path), *words]) == 0
    text = capsys.readouterr().out
    assert "report.csv: 39 rows, 2 columns (1 text), target 'Größe'" in text
    assert "Left out on request: 'id'." in text


def test_files_stay_as_they_are_if_nothing_comes_of_it(file, tmp_path):
    old, new = tmp_path / "old.csv", tmp_path / "new.html"
    old.write_text("precious")
    words = ["--target", "nobody", "--csv", str(old), "--html", str(new)]
    assert main(["compare", str(file), *words]) == 2
    assert old.read_text() == "precious"
    assert not new.exists()


def test_help_has_examples_and_imports_nothing_heavy():
    code = (
        "import sys\nfrom sievebench.cli import main\n"
        "try:\n    main(['compare', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('torch', 'sklearn', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "sievebench compare churn.csv" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_interrupted_comparison_keeps_what_is_finished(file):
    words = ["compare", str(file), "--target", "target", "--folds", "2"]
    words += ["--selectors", "none", "lassonet", "lasso"]
    process = subprocess.Popen(
        [sys.executable, "-m", "sievebench", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "none finished" in process.stderr.readline()
    time.sleep(1)  # LassoNet has begun, and is busy for at least ten
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT, error
    last = out.splitlines()[-3:]
    assert last[0].startswith("No FS")
    assert last[1].split(maxsplit=1) == ["LassoNet", "interrupted"]
    assert last[2].split(maxsplit=1) == ["Lasso", "not run, interrupted"]
    assert "Traceback" not in error


# The command, telling when the server that forks the children has been started.
TELLING = """
import sys
from sievebench.cli import console
from sievebench.compare import _comparison
start = _comparison._start_server
def start_and_tell():
    start()
    print("started", flush=True)
_comparison._start_server = start_and_tell
if __name__ == "__main__":
    sys.exit(console())
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
@pytest.mark.parametrize("wait_seconds", [0.0, 1.0])
def test_ctrl_c_while_modules_are_loaded_prints_no_traceback(
    file, tmp_path, wait_seconds
):
    script = tmp_path / "telling.py"
    script.write_text(TELLING)
    process = subprocess.Popen(
        [sys.executable, str(script), "compare", str(file), "--target", "target"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "started\n"
    time.sleep(wait_seconds)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, error = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT, error
    assert (out, error) == ("", "sievebench: interrupted\n")
