import hashlib
import io
import json
import logging
import tarfile
import time
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import scipy.io
from local_server import local_server

from sievebench.data import (
    SOURCES,
    CorruptDataError,
    OfflineError,
    download,
    fetch,
    find_entry,
    load,
    loading,
)


@pytest.fixture
def site():
    with local_server() as served:
        yield served


def test_download_writes_the_file_and_tells_its_progress(site, tmp_path):
    body = bytes(range(256)) * 1000
    site.files["/a.bin"] = body
    told = []
    download(
        f"{site.address}/a.bin",
        tmp_path / "deep" / "a.bin",
        checksum=hashlib.sha256(body).hexdigest(),
        progress=lambda *counts: told.append(counts),
    )
    assert (tmp_path / "deep" / "a.bin").read_bytes() == body
    assert told[-1] == (len(body), len(body))
    assert [count for count, _ in told] == sorted(count for count, _ in told)


def test_download_tries_again_after_a_failure_and_logs_it(site, tmp_path, caplog):
    site.files["/a"], site.failures["/a"] = b"here", 2
    with caplog.at_level(logging.INFO, logger="sievebench.data"):
        download(f"{site.address}/a", tmp_path / "a", wait_seconds=0)
    assert (tmp_path / "a").read_bytes() == b"here"
    assert site.asked == ["/a"] * 3
    first, second = (record.getMessage() for record in caplog.records)
    assert "the server answers 500" in first
    assert "attempt 2 of 4" in first
    assert "attempt 3 of 4" in second


@pytest.mark.parametrize(
    ("path", "checksum", "error"),
    [
        *(
            ("/a", "0" * n_digits, CorruptDataError("was expected"))
            for n_digits in (32, 64)
        ),
        ("/short", "", OfflineError(".")),
        ("/none", "", OfflineError("404")),
    ],
)
def test_download_refuses_what_is_not_the_file_and_leaves_nothing(
    site, tmp_path, path, checksum, error
):
    site.files |= {"/a": b"changed", "/short": b"whole"}
    site.short.add("/short")
    with pytest.raises(type(error), match=str(error)):
        download(
            f"{site.address}{path}", tmp_path / "a", checksum=checksum, wait_seconds=0
        )
    assert list(tmp_path.iterdir()) == []
    assert path != "/none" or len(site.asked) == 1


def test_fetch_says_what_to_do_when_offline(tmp_path, monkeypatch):
    with local_server() as gone:
        address = gone.address
    source = {"kind": "matlab", "url": f"{address}/a"}
    use_entry(monkeypatch, "coil20", source=source)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(OfflineError) as caught:
        fetch("coil20", cache=tmp_path)
    assert "cannot be reached (Connection refused)" in str(caught.value)
    assert "put it as highdim/coil20.npz (arrays X and target)" in str(caught.value)


@pytest.fixture
def openml(site, monkeypatch):
    """Put a small table with an OpenML description on the site; return its X."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    openml_files(site, X, list("abc") * 10)
    source = {"kind": "openml", "id": 1044, "drop": "lineNo", "url": site.address}
    use_entry(monkeypatch, "eye", n_rows=30, n_columns=4, source=source, md5="")
    return X


def openml_files(site, X, labels):
    lines = ["@relation made"]
    lines += [f"@attribute f{number} numeric" for number in range(X.shape[1])]
    lines += ["@attribute lineNo numeric", "@attribute class {a,b,c}", "@data"]
    for number, (row, label) in enumerate(zip(X, labels, strict=True)):
        values = [*(f"{value:.17g}" for value in row), str(number), label]
        lines.append(",".join(values))
    text = "\n".join(lines).encode()
    site.files["/made.arff"] = text
    facts = {
        "url": f"{site.address}/made.arff",
        "md5_checksum": hashlib.md5(text).hexdigest(),
        "default_target_attribute": "class",
    }
    body = json.dumps({"data_set_description": facts}).encode()
    site.files["/1044"] = body


def use_entry(monkeypatch, name, **changes):
    """Let the data stage see a changed row of the catalogue."""
    entry = replace(find_entry(name), **changes)
    monkeypatch.setattr(loading, "find_entry", lambda _: entry)
    monkeypatch.delenv("FEATURESIEVE_DATA", raising=False)
    return entry


def test_openml_data_is_downloaded_once_and_then_read(site, openml, tmp_path):
    first = load("eye", cache=tmp_path)
    n_asked = len(site.asked)
    second = load("eye", cache=tmp_path)
    np.testing.assert_allclose(first.X, openml)
    assert first.y.tolist() == [0, 1, 2] * 10
    assert not first.is_sample
    assert first.column_names == ("f0", "f1", "f2", "f3")
    np.testing.assert_array_equal(first.X, second.X)
    assert len(site.asked) == n_asked == 2
    path = tmp_path / "tabular" / "eye_movements.parquet"
    assert sorted(path.parent.iterdir()) == [path, path.with_suffix(".parquet.md5")]
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(CorruptDataError, match="was expected"):
        load("eye", cache=tmp_path)


def test_source_of_another_shape_is_refused(site, openml, tmp_path):
    openml_files(site, openml[1:], list("abc") * 9 + ["a", "b"])
    with pytest.raises(CorruptDataError, match="29 rows × 4 columns"):
        fetch("eye", cache=tmp_path)
    assert list((tmp_path / "tabular").iterdir()) == []


def fetched(tmp_path, entry):
    def get(url, file, checksum):
        download(url, tmp_path / file, checksum=checksum, wait_seconds=0)
        return tmp_path / file

    return SOURCES[entry.source["kind"]](entry, get)


def made_source(site, kind, content, ending="zip", **source):
    """Put a file on the site; return what a row of the catalogue says of it."""
    site.files[f"/made.{ending}"] = content
    return {"kind": kind, "url": f"{site.address}/made.{ending}", **source}


def test_california_columns_follow_scikit_learn(site, tmp_path):
    raw = np.arange(1, 28, dtype=float).reshape(3, 9)
    text = "\n".join(",".join(str(value) for value in row) for row in raw).encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        member = tarfile.TarInfo("CaliforniaHousing/cal_housing.data")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    content = buffer.getvalue()
    sha256 = hashlib.sha256(content).hexdigest()
    source = made_source(site, "statlib", content, sha256=sha256)
    table = fetched(tmp_path, replace(find_entry("california"), source=source))
    # Longitude, latitude, age, rooms, bedrooms, population, households, income, value.
    assert table.X[0] == pytest.approx([8, 3, 4 / 7, 5 / 7, 6, 6 / 7, 2, 1])
    assert table.y == pytest.approx(raw[:, 8] / 1e5)
    assert table.names[:2] == ("MedInc", "HouseAge")


def test_uci_file_has_the_target_first(site, tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("Year.txt", "2001,1.5,2\n1999,3,4\n")
    source = made_source(site, "uci", buffer.getvalue())
    table = fetched(tmp_path, replace(find_entry("year"), source=source))
    assert table.X.tolist() == [[1.5, 2], [3, 4]]
    assert table.y.tolist() == [2001, 1999]


def test_matlab_file_has_arrays_x_and_y(site, tmp_path):
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, {"X": np.eye(3), "Y": np.array([[1], [2], [1]])})
    source = made_source(site, "matlab", buffer.getvalue(), "mat")
    table = fetched(tmp_path, replace(find_entry("isolet"), source=source))
    assert table.X.tolist() == np.eye(3).tolist()
    assert table.y.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("case", "kept"), [("CRC", [1, 0]), ("bmi", [1, 0]), (["T2D", "CRC"], [1, 0])]
)
def test_cohort_keeps_cases_and_controls(site, tmp_path, case, kept):
    site.files["/S/sgb_table.tsv"] = b"id\tp1\tp2\tp3\ng|s__A\t1\t2\t3\nB\t4\t5\t6\n"
    site.files["/S/sample_metadata.tsv"] = (
        b"sample_id\tdisease\tbmi\np1\tCRC\t31\np2\tadenoma\t27\np3\tcontrol\t20\n"
    )
    source = {"kind": "cohort", "url": site.address, "study": "S", "case": case}
    table = fetched(tmp_path, replace(find_entry("FengQ_2015"), source=source))
    assert table.X.tolist() == [[1, 4], [3, 6]]
    assert table.y.tolist() == kept
    assert table.names == ("A", "B")


@pytest.mark.network
def test_california_can_be_fetched_from_its_source(tmp_path, monkeypatch):
    monkeypatch.delenv("FEATURESIEVE_DATA", raising=False)
    assert load("california", cache=tmp_path).X.shape == (20640, 8)
