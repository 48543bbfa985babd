import io
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.io
from local_server import local_server
from made_dataset import catalog_row

import featuresieve
from sievebench.cli import main
from sievebench.data import find_entry, loading


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Return the data folder, which is empty as the cache is."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("FEATURESIEVE_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_list_says_what_is_at_hand(printed):
    said = printed("data", "list", "diabetes", "otto", "eye")
    _, diabetes, otto, eye = said.splitlines()
    assert diabetes.split()[:4] == ["diabetes", "442", "10", "-"]
    assert diabetes.endswith("with scikit-learn")
    assert "no: Kaggle wants an account" in otto
    assert eye.endswith("to be downloaded")


def test_version_is_that_of_the_library(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"{featuresieve.__version__}\n"


def test_wrong_words_name_the_nearest(refused):
    assert "there is no command 'dta'; did you mean 'data'?" in refused("dta")
    assert "required: action (see sievebench data --help)" in refused("data")
    error = refused("compare", "t.csv", "--taget", "y")
    assert "there is no option --taget; did you mean '--target'?" in error


def test_sample_and_what_is_not_there_are_listed_and_checked(folder, capsys):
    (folder / "tabular").mkdir()
    (folder / "tabular" / "higgs_small_sample.parquet").write_bytes(b"not read")
    assert main(["data", "list", "higgs"]) == 0
    assert "a sample of 35298 rows" in capsys.readouterr().out
    assert main(["data", "check", "higgs", "wine", "eye"]) == 1
    said = capsys.readouterr()
    assert "wine: good (whole, 178 × 13)" in said.out
    assert "eye: no, to be downloaded" in said.out
    assert "was expected" in said.err


def test_made_table_is_listed_and_checked(printed):
    line = printed("data", "list", "made:100x32").splitlines()[1]
    assert line.split(maxsplit=5)[:4] == ["made:100x32", "100", "32", "2"]
    assert line.endswith("yes, it is made")
    printed("data", "check", "made:100x32")
    said = printed("data", "fetch", "made:100x32")
    assert "made:100x32: at hand already" in said


@pytest.fixture
def put(folder):
    """Return a function that enters a table into the catalogue of the data folder."""

    def write(name, frame, ending="parquet", **facts):
        facts = {"n_rows": len(frame), "n_columns": 2, "n_classes": 2, **facts}
        if facts.get("task") == "regression":
            facts |= {"metric": "negative_rmse", "n_classes": 0}
        frame.to_parquet(folder / f"{name}.parquet")
        with (folder / "catalog.toml").open("a") as catalogue:
            catalogue.write(catalog_row(name, file=f"{name}.{ending}", **facts))
        return folder / f"{name}.parquet"

    return write


def frame(**columns):
    plain = {"a": np.arange(20.0), "b": np.arange(20.0), "target": [0, 1] * 10}
    return pd.DataFrame({**plain, **columns})


TEXT = pd.Series(["x"]).dtype  # object before pandas 3
TARGETS = {"none": [None, "v"] * 10, "lone": ["u"] * 10 + ["v"] * 9 + ["w"]}


@pytest.mark.parametrize(
    ("table", "facts", "message"),
    [
        (frame(a=["x"] * 20), {}, f"column 'a' holds {TEXT}, and must hold numbers"),
        (frame(a=[np.inf, *range(19)]), {}, "infinite values in column 'a'"),
        (frame().drop(columns="target"), {}, "it has no column 'target'"),
        (frame(target=["u", "v"] * 10), {"task": "regression"}, "target such as 'u'"),
        (
            frame(target=[np.inf, *range(19)]),
            *({"task": "regression"}, "infinite values in its target"),
        ),
        (frame(target=[np.nan, 1.0] * 10), {}, "no target in 10 of 20 rows"),
        (frame(target=TARGETS["none"]), {}, "no target in 10 of 20 rows"),
        (frame(target=TARGETS["lone"]), {"n_classes": 3}, "single row of class 'w'"),
        (frame(target=range(20)), {"n_classes": 20}, "single row of class '0'"),
        (frame(target=list(range(10)) * 2), {"n_classes": 10}, "too few rows to be"),
        (frame(), {"n_classes": 3}, "has 2 classes, and the catalogue says 3"),
    ],
)
def test_check_names_what_keeps_a_table_from_use(capsys, put, table, facts, message):
    put("broken", table, **facts)
    put("sound", frame())
    assert main(["data", "check", "broken", "sound"]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("broken: ")
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out.startswith("sound: good (whole, 20 × 2)")


@pytest.mark.parametrize("n_kept", [0, 10, 200, -60, -1])
def test_check_goes_on_after_a_file_that_is_cut(capsys, put, n_kept):
    path = put("broken", frame())
    path.write_bytes(path.read_bytes()[:n_kept])
    put("sound", frame())
    assert main(["data", "check", "broken", "sound"]) == 1
    printed = capsys.readouterr()
    assert f"broken: {path} cannot be read: " in printed.err
    assert "sound: good" in printed.out


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.zeros((20, 2))}, "it has no array 'target'"),
        ({"X": np.zeros(20), "target": np.zeros(20)}, "X must be a matrix of numbers"),
        ({"X": np.zeros((20, 2)), "target": np.zeros((20, 1))}, "one value a row"),
        ({"X": np.full((20, 2), "x"), "target": np.zeros(20)}, "matrix of numbers"),
    ],
)
def test_check_names_what_is_wrong_with_arrays(capsys, put, arrays, message):
    path = put("wide", frame(), ending="npz").with_suffix(".npz")
    np.savez(path, **arrays)
    content = path.read_bytes()
    for written, expected in ((content, message), (content[:-30], "cannot be read")):
        path.write_bytes(written)
        assert main(["data", "check", "wide"]) == 1
        assert expected in capsys.readouterr().err


def test_fetch_says_where_to_get_what_no_program_can_fetch(capsys):
    assert main(["data", "list", "KeohaneDM_2020"]) == 0
    assert "all 117 published samples are controls" in capsys.readouterr().out
    assert main(["data", "fetch", "otto", "wine", "KeohaneDM_2020"]) == 1
    printed = capsys.readouterr()
    assert "otto: otto cannot be downloaded by a program: Kaggle" in printed.err
    assert "put it as tabular/otto.parquet" in printed.err
    assert "does not say which two groups" in printed.err
    assert "wine: at hand already" in printed.out


def test_fetch_shows_a_bar_and_why_it_tries_again(monkeypatch, watch, capsys):
    terminal = watch()
    body = io.BytesIO()
    scipy.io.savemat(body, {"X": np.zeros((6, 3)), "Y": np.arange(6) % 2})
    with local_server() as site:
        site.files["/a.mat"], site.failures["/a.mat"] = body.getvalue(), 1
        source = {"kind": "matlab", "url": f"{site.address}/a.mat"}
        entry = replace(
            find_entry("madelon"), n_rows=6, n_columns=3, source=source, relevant=()
        )
        monkeypatch.setattr(loading, "find_entry", lambda _: entry)
        monkeypatch.setattr(time, "sleep", lambda _: None)
        assert main(["data", "fetch", "madelon"]) == 0
    shown = terminal.getvalue()
    assert "the server answers 500" in shown
    assert "attempt 2 of 4" in shown
    assert "(100%)" in shown
    assert shown.endswith("\r\033[K")
    assert "madelon.parquet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fetch"], "say which"),
        (["list", "wines"], "did you mean 'wine'"),
        (["list", "made:10x5"], "at least 20 rows and 10 columns"),
    ],
)
def test_wrong_words_are_refused(capsys, words, message):
    assert main(["data", *words]) == 2
    assert message in capsys.readouterr().err
