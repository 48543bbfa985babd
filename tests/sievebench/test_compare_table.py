"""Reading tables as people have them."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from compared_table import table_of

from featuresieve.files import AtomicFiles, TableFileError, read_file, write_table
from sievebench.compare import CompareError, read_table
from sievebench.compare._judging import TableEncoder


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "Größe (cm)": rng.normal(170, 10, 20).round(2),
            "город": ["Київ", "Kraków", None, "Москва"] * 5,
            "whole": np.arange(20) % 7,
            "target": ["yes", "no"] * 10,
        }
    )


def write(path, frame, **arguments):
    frame.to_csv(path, index=False, **arguments)
    return path


@pytest.mark.parametrize(
    ("file", "arguments"),
    [
        ("plain.csv", {}),
        ("semicolons.csv", {"sep": ";"}),
        ("decimal_commas.csv", {"sep": ";", "decimal": ","}),
        ("byte_order_mark.csv", {"encoding": "utf-8-sig"}),
        ("tabs.tsv", {"sep": "\t"}),
        ("bars.txt", {"sep": "|"}),
        ("packed.csv.gz", {}),
    ],
)
def test_text_file_is_read_in_every_dialect(tmp_path, frame, file, arguments):
    table = read_table(write(tmp_path / file, frame, **arguments), "target")
    assert list(table.features) == ["Größe (cm)", "город", "whole"]
    np.testing.assert_array_equal(table.features["Größe (cm)"], frame["Größe (cm)"])
    assert table.features["город"].tolist()[:4] == ["Київ", "Kraków", None, "Москва"]
    assert table.target.tolist() == ["yes", "no"] * 10
    assert table.notes == ()


def test_parquet_is_read(tmp_path, frame):
    frame["day"] = pd.date_range("2020-01-01", periods=20)
    frame["flag"] = [True, None] * 10
    frame.to_parquet(tmp_path / "table.parquet")
    table = read_table(tmp_path / "table.parquet", "whole")
    assert table.task == "regression"
    assert np.diff(table.features["day"]).tolist() == [86400.0] * 19
    assert table.features["flag"].notna().sum() == 10


def test_text_in_an_old_encoding_is_read(tmp_path, frame):
    old = frame.drop(columns="город")
    table = read_table(write(tmp_path / "old.csv", old, encoding="cp1252"), "target")
    assert list(table.features) == ["Größe (cm)", "whole"]


def test_question_marks_are_missing_numbers(tmp_path):
    lines = ["a,b,target"] + [f"{i},{'?' if i % 3 else i},{i % 2}" for i in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    table = read_table(tmp_path / "t.csv", "target")
    assert table.features["b"].dtype == np.float64
    assert table.features["b"].isna().sum() == 8


def test_rows_without_target_are_left_out_and_columns_that_say_nothing_noted(frame):
    frame["nothing"] = None
    frame["key"] = [f"key {i}" for i in range(20)]
    frame.loc[3, "target"] = None
    table = table_of(frame, "target")
    assert len(table.target) == 19
    assert table.features["nothing"].dtype == np.float64
    assert table.notes == (
        "Empty: 'nothing'.",
        "1 rows without a value of 'target' left out.",
    )


def test_index_that_pandas_wrote_is_left_out(tmp_path, frame):
    frame.to_csv(tmp_path / "indexed.csv")
    table = read_table(tmp_path / "indexed.csv", "target")
    assert list(table.features) == ["Größe (cm)", "город", "whole"]
    assert table.notes[-1] == "Names of rows left out: 'column 1'."


def test_index_that_pandas_wrote_to_parquet_is_left_out(tmp_path, frame):
    frame[frame.index != 3].to_parquet(tmp_path / "indexed.parquet")
    table = read_table(tmp_path / "indexed.parquet", "target")
    assert list(table.features) == ["Größe (cm)", "город", "whole"]


def test_first_cells_without_a_heading_are_noted(tmp_path):
    lines = ["a,b,target"] + [f"row {i},{i},{-i},{i % 2}" for i in range(12)]
    (tmp_path / "from_r.csv").write_text("\n".join(lines))
    table = read_table(tmp_path / "from_r.csv", "target")
    assert table.features.loc[3].tolist() == [3, -3]
    assert table.notes[-1] == "Names of rows left out: 'column 1'."


def test_names_that_differ_in_spaces_only_stay_apart(tmp_path):
    lines = ["a, a,target"] + [f"{i},{-i},{i % 2}" for i in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    table = read_table(tmp_path / "t.csv", "target")
    assert table.features.shape == (12, 2)


@pytest.fixture
def repeated(tmp_path):
    """Return a file with three columns `dup`, and one that has a name made of it."""
    lines = ["dup,b,dup,dup (2),dup,target"]
    lines += [f"{i},{-i},{2 * i},{3 * i},{4 * i},{i % 2}" for i in range(12)]
    (tmp_path / "repeated.csv").write_text("\n".join(lines))
    return tmp_path / "repeated.csv"


def test_columns_of_one_name_stay_apart_and_are_noted(repeated):
    table = read_table(repeated, "target")
    assert list(table.features) == ["dup", "b", "dup (3)", "dup (2)", "dup (4)"]
    assert table.features.loc[1].tolist() == [1, -1, 2, 3, 4]
    assert table.notes == (
        "A second column 'dup' is called 'dup (3)' here.",
        "A second column 'dup' is called 'dup (4)' here.",
    )


def test_target_that_names_several_columns_is_refused(repeated):
    with pytest.raises(TableFileError, match=r"repeated.csv has 3 columns named 'dup'"):
        read_table(repeated, "dup")


def test_target_without_a_value_is_named(frame):
    with pytest.raises(TableFileError, match="'nothing' is missing in every row"):
        table_of(frame.assign(nothing=None), "nothing")


def test_infinite_target_counts_as_missing(frame):
    frame.loc[2, "Größe (cm)"] = np.inf
    assert len(table_of(frame, "Größe (cm)").target) == 19


def test_infinite_numbers_count_as_missing(frame):
    frame.loc[2, "Größe (cm)"] = np.inf
    assert table_of(frame, "target").features["Größe (cm)"].isna().sum() == 1


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("Target", "did you mean 'target'?"),
        ("tagret", "did you mean 'target'?"),
        ("zzz", "there are 'Größe"),
    ],
)
def test_unknown_target_names_the_nearest(frame, target, message):
    with pytest.raises(TableFileError, match=message.replace("?", r"\?")):
        table_of(frame, target)


def test_too_small_table_is_refused(frame):
    with pytest.raises(CompareError, match="at least 10 rows"):
        table_of(frame[:5], "target")
    with pytest.raises(CompareError, match="at least 2 columns"):
        table_of(frame[["whole", "target"]], "target")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("empty.csv", b"", "is empty"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3,4\n", "row 3 has 4 cells"),
        ("fake.parquet", b"PAR1,b\n1,2\n", "cannot be read"),
        ("table.json", b"[{}]", "is JSON"),
        ("fake.csv.gz", b"\x1f\x8b,b\n1,2\n", "cannot be read"),
    ],
)
def test_file_that_is_no_table_is_refused_in_one_line(tmp_path, file, content, message):
    (tmp_path / file).write_bytes(content)
    with pytest.raises(TableFileError, match=message) as caught:
        read_table(tmp_path / file, "a")
    assert "\n" not in str(caught.value)


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(TableFileError, match="there is no file"):
        read_table(tmp_path / "nowhere.csv", "a")


def test_packed_file_is_the_same_as_its_content(tmp_path, frame):
    text = frame.to_csv(index=False).encode()
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text, mtime=0))
    (tmp_path / "b.csv").write_bytes(text)
    packed, plain = (read_table(tmp_path / f, "target") for f in ("a.csv.gz", "b.csv"))
    pd.testing.assert_frame_equal(packed.features, plain.features)


STRANGE = """Bericht 2023
erstellt von Müller

id;PLZ;Preis;Anteil;Tag;Uhrzeit;Wert;Ziel
"""


@pytest.fixture
def strange(tmp_path):
    """Return a report as a file: a preamble, currencies, percent, dates, k.A."""
    rows = [
        f"{i};{10115 + i % 3};1.{i:03d},50 €;{i} %;{i + 1:02d}.03.2020;08:{i:02d};"
        f"{'k.A.' if i == 3 else i};{'ja' if i % 2 else 'nein'}"
        for i in range(12)
    ]
    path = tmp_path / "strange.csv"
    path.write_text(STRANGE + "\n".join(rows), encoding="cp1252")
    return path


READING = {"skip": 3, "missing": ["k.A."], "types": {"PLZ": "category"}}


def test_table_is_read_as_told(strange):
    table = read_table(strange, "Ziel", drop=["i*"], **READING)
    features = table.features
    assert list(features) == ["PLZ", "Preis", "Anteil", "Tag", "Uhrzeit", "Wert"]
    assert features["PLZ"].tolist()[:3] == ["10115", "10116", "10117"]
    assert features["Preis"].tolist()[:2] == [1000.5, 1001.5]
    assert features["Anteil"].tolist()[:2] == [0, 1]
    assert np.diff(features["Tag"]).tolist() == [86400.0] * 11
    assert np.diff(features["Uhrzeit"]).tolist() == [60.0] * 11
    assert features["Wert"].isna().tolist() == [i == 3 for i in range(12)]
    assert "Left out on request: 'id'." in table.notes


def test_comparison_and_selection_read_the_same_numbers(strange):
    with read_file(str(strange), **READING) as file:
        selected = file.table.select(["Preis", "Anteil", "Wert"]).to_pandas()
    compared = read_table(strange, "Ziel", **READING).features[selected.columns]
    pd.testing.assert_frame_equal(compared, selected, check_dtype=False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({}, "If the table begins in line 4: --skip 3."),
        (READING | {"drop": ["nothing"]}, "--drop: there is no column 'nothing'"),
        (READING | {"types": {"Ziel": "number"}}, "'nein' in row 5 is no number"),
    ],
)
def test_what_cannot_be_read_so_is_told(strange, words, message):
    with pytest.raises(TableFileError, match=message):
        read_table(strange, "Ziel", **words)


@pytest.mark.parametrize("kind", ["zip", "zst"])
def test_archives_are_read(tmp_path, frame, kind):
    path = tmp_path / f"table.csv.{kind}"
    with AtomicFiles() as drafts:
        write_table(pa.Table.from_pandas(frame), str(path), drafts)
    assert list(read_table(path, "target").features) == list(frame)[:-1]


def test_encoder_learns_medians_and_labels_from_the_rows_it_is_given():
    train = pd.DataFrame({"x": [1.0, 2.0, 9.0, np.nan], "s": ["b", "a", None, "b"]})
    test = pd.DataFrame({"x": [np.nan, 5.0], "s": ["c", "b"]})
    train["s"], test["s"] = train["s"].astype(object), test["s"].astype(object)
    train.loc[2, "s"] = None
    encoder = TableEncoder().fit(train)
    assert encoder.transform(train).tolist() == [[1, 1], [2, 0], [9, -1], [2, 1]]
    assert encoder.transform(test).tolist() == [[2, -2], [5, 1]]
