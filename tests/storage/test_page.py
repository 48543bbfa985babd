"""`report` writes one page on which every name is text, and its pictures are true."""

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.pipeline import make_pipeline

import featuresieve
from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from featuresieve.storage.page._distribution import distribution
from featuresieve.storage.page._fit_data import ColumnValues, FitData, TargetValues
from headless_browser import use_page
from quick_selectors import built

HOSTILE = (
    *('<script>alert("x")</script>', "</script><img src=x onerror=alert(1)>"),
    *("quote\"d 'name' &amp;", "größe 🎈 {{ 7 * 7 }}", "{% raw %}", "a\x00\x1b[2J\x7f"),
)
SHORT = {"n_members": 10, "n_epochs": 5, "random_state": 0}


def hostile_table(n_rows=240):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.normal(size=n_rows) for name in HOSTILE})
    table["n" * 5000] = rng.normal(size=n_rows)
    label = np.where(table[HOSTILE[0]] + table[HOSTILE[2]] > 0, "<b>yes", "no & not")
    return table, pd.Series(label, name="</script>target")


def mixed_table(n_rows=300):
    """Return a column of each kind, with missing values."""
    rng = np.random.default_rng(1)
    number = rng.lognormal(size=n_rows)
    number[::7] = np.nan
    day = np.datetime64("2020-01-01") + rng.integers(0, 900, n_rows)
    colour = rng.choice(["red", "green", "blue", None], n_rows)
    columns = {"number": number, "flag": rng.random(n_rows) > 0.3, "day": day}
    columns |= {"colour": colour, "two": rng.choice(["a", "b"], n_rows)}
    columns |= {"count": rng.integers(0, 5, n_rows), "nothing": np.full(n_rows, np.nan)}
    return pd.DataFrame(columns), rng.normal(size=n_rows) + (colour == "red")


@pytest.fixture(scope="module")
def hostile():
    """Return a fit of hostile names, and its page."""
    X, y = hostile_table()
    return built(AutoNFSClassifier, **SHORT).fit(X, y)


@pytest.fixture
def page(hostile, tmp_path):
    X, y = hostile_table()
    facts = {"title": "<i>title</i>", "notes": ["'<b>'"], "warnings": [HOSTILE[1]]}
    hostile.report(tmp_path / "page.html", X, y, facts=facts)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


class Parsed(HTMLParser):
    """Elements by name, addresses, and the text of the cells with names."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses, self.names = [], [], []
        self._is_name = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        attributes = dict(attributes)
        self.addresses += [attributes[k] for k in ("src", "href") if k in attributes]
        self._is_name = attributes.get("class") == "name" and tag == "td"
        if self._is_name:
            self.names.append("")

    def handle_endtag(self, tag):
        self._is_name &= tag != "td"

    def handle_data(self, data):
        if self._is_name:
            self.names[-1] += data


def test_hostile_names_are_text_on_a_page_without_addresses(page):
    parsed = Parsed(page)
    shown = {name.strip() for name in parsed.names}
    assert shown == {*HOSTILE[:-1], "a [2J", "n" * 199 + "…"}
    assert parsed.tags.count("script") == 1
    assert not {"img", "i "} & set(parsed.tags)
    assert parsed.addresses == ["data:,"]
    assert not re.search(r"https?:|url\(|@import|fetch\(", page)


MORE = """(page) => {
  const shown = () => page.querySelectorAll("#columns tbody tr:not([hidden])").length;
  const count = page.querySelector("#shown"), seen = [shown(), count.textContent];
  page.querySelector("#more").click();
  return [...seen, shown(), count.textContent];
}"""


@pytest.mark.browser
def test_page_of_a_thousand_columns_is_small_and_shows_a_hundred_first(tmp_path):
    X = np.random.default_rng(0).normal(size=(500, 1000))
    selector = built(AutoNFSClassifier, 0.01, n_members=2, n_epochs=1, random_state=0)
    selector.fit(pd.DataFrame(X).add_prefix("a rather long name "), X[:, 0] > 0)
    selector.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(Parsed(text).names) == 1000
    assert len(text.encode()) < 3e6
    seen = use_page(text, MORE, tmp_path)["seen"]
    assert seen == [100, "100 of 1,000", 1000, "1,000"]


@pytest.mark.parametrize("scaling", ["normal_scores", "standard", "none"])
def test_pictures_are_drawn_from_the_values_of_the_table(scaling):
    X, y = mixed_table()
    selector = built(AutoNFSRegressor, scaling=scaling, **SHORT).fit(X, y)
    data = FitData(selector._prepared, selector._target_code)
    rows = selector._prepared.rows
    seconds = X["day"].astype("datetime64[s]").astype("int64")
    expected = X.assign(day=seconds)[["number", "flag", "day", "count"]].astype(float)
    for name in expected:
        column = data.column(X.columns.get_loc(name))
        values = expected[name].to_numpy()[rows]
        # Encoded columns are float32.
        tolerance = 1e-6 * np.nanmax(np.abs(values))
        np.testing.assert_allclose(column.values, values, rtol=1e-4, atol=tolerance)
    for name in ("colour", "two"):
        column = data.column(X.columns.get_loc(name))
        read = [None if np.isnan(k) else column.levels[int(k)] for k in column.values]
        known = X[name].astype(object).where(X[name].notna(), None)
        assert read == known.iloc[rows].tolist()
    assert data.column(X.columns.get_loc("nothing")).missing_share == 1
    np.testing.assert_allclose(data.target.values, y[rows], rtol=1e-4, atol=1e-6)


def test_long_positive_tails_are_drawn_by_their_logarithm():
    values = np.random.default_rng(0).lognormal(5, 1.5, size=1000)
    for numbers, is_log in ((values, True), (-values, False), (np.sqrt(values), False)):
        picture = distribution(ColumnValues("number", numbers), TargetValues())
        assert picture.high.endswith("(log)") is is_log


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_correlations_of_standardised_columns_are_those_of_numpy(form):
    X = np.random.default_rng(0).normal(size=(200, 4))
    X[:, 3] -= 2 * X[:, 0]
    X[X < -1.5] = 0
    selector = built(AutoNFSClassifier, "price", scaling="standard", **SHORT)
    selector.fit(form(X), X[:, 0] > 0)
    data = FitData(selector._prepared, selector._target_code)
    found = data.correlations([3, 1], [0, 2])
    expected = np.corrcoef(X.T)[np.ix_([3, 1], [0, 2])]
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("has_copy", [True, False])
def test_page_speaks_of_dropped_columns_only_where_it_shows_some(has_copy, tmp_path):
    X = 20_000 * np.random.default_rng(0).normal(size=(200, 4))
    if has_copy:
        X[:, 3] = X[:, 0] + 0.1 * X[:, 3]
    two = {"always_keep": [0, 1], "n_features_to_select": 2}
    selector = built(AutoNFSClassifier, **two, **SHORT)
    selector.fit(X, X[:, 0] > 0).report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ("right of the gap" in text) is has_copy
    assert ("No dropped column goes closely" in text) is not has_copy
    assert not re.search(r">−?\d\.\d+e\+04<", text)


def test_page_of_a_loaded_selector_says_that_the_data_are_missing(hostile, tmp_path):
    hostile.save(tmp_path / "selector.sieve")
    loaded = featuresieve.load(tmp_path / "selector.sieve")
    loaded.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "the data of the fit are not there any more" in text
    assert len(Parsed(text).names) == len(HOSTILE) + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"facts": {"titel": "x"}}, "did you mean 'title'"),
        ({"X": [[1.0]]}, "got no y"),
        ({"facts": {"score": {"metric": "R²"}}}, "got no all_columns"),
        ({"X": pd.DataFrame({"a": [1.0]}), "y": [0]}, "feature names"),
    ],
)
def test_report_names_what_is_wrong_and_writes_nothing(
    hostile, tmp_path, arguments, message
):
    with pytest.raises(ValueError, match=message):
        hostile.report(tmp_path / "page.html", **arguments)
    assert not any(tmp_path.iterdir())


def test_report_without_jinja2_names_the_extra(hostile, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"featuresieve\[report\]"):
        hostile.report(tmp_path / "page.html")
    assert "featuresieve-" not in hostile._repr_html_()  # scikit-learn's alone


def test_notebook_shows_the_answer_above_the_diagram_of_scikit_learn(hostile):
    fitted = hostile._repr_mimebundle_()["text/html"]
    assert "2 of 7 columns" in fitted.replace("</strong>", "")
    assert "&lt;script&gt;alert" in fitted
    assert "<script>alert" not in fitted
    assert "sk-top-container" in fitted
    assert "sk-top-container" in make_pipeline(hostile)._repr_html_()
    unfitted = AutoNFSClassifier()._repr_html_()
    assert 'class="featuresieve"' not in unfitted
    with sklearn.config_context(display="text"):
        assert not hasattr(hostile, "_repr_html_")
        assert "text/html" not in hostile._repr_mimebundle_()


def test_table_has_bars_and_escapes_names_which_may_be_numbers(hostile):
    text = hostile.styled_table(max_features=4).to_html()
    assert text.count("linear-gradient") > 0
    assert "<script>" not in text
    assert text.count("<tr>") == 5
    X = np.random.default_rng(0).normal(size=(60, 3))
    selector = built(AutoNFSClassifier, 0.1, n_epochs=20, random_state=0)
    text = selector.fit(pd.DataFrame(X, columns=[7, 8, 9]), X[:, 1] > 0)._repr_html_()
    assert 'title="8">8</span>' in text


STEPS = """(page, inner) => {
  const click = (query) => page.querySelector(query).click();
  const shown = () => [...page.querySelectorAll("#columns tbody tr")]
    .filter((row) => !row.hidden).map((row) => Number(row.cells[0].textContent));
  const seen = { first: shown() };
  click('th[data-sort="rank"] button');
  seen.reversed = shown();
  click('th[data-sort="votes"] button');
  seen.votes = [...page.querySelectorAll('[data-key="votes"]')]
    .map((cell) => Number(cell.dataset.value));
  click('.choice button[value="kept"]');
  seen.kept = shown().length;
  click('.choice button[value="all"]');
  const search = page.querySelector("#search");
  search.value = "GRÖSSE größe 7";
  search.dispatchEvent(new inner.Event("input"));
  seen.none = shown().length;
  search.value = "Größe 7";
  search.dispatchEvent(new inner.Event("input"));
  seen.found = shown().length;
  const paper = () => inner.getComputedStyle(page.body).backgroundColor;
  seen.before = paper();
  click("#theme");
  seen.after = paper();
  return seen;
}"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 360])
def test_page_sorts_searches_turns_dark_and_fits(page, hostile, tmp_path, width):
    result = use_page(page, STEPS, tmp_path, width=width)
    assert result["errors"] == []
    assert result["requests"] == []
    assert result["width"] <= width
    seen = result["seen"]
    assert seen["first"] == sorted(seen["first"])
    assert seen["reversed"] == seen["first"][::-1]
    assert seen["votes"] == sorted(hostile.selection_frequency_, reverse=True)
    assert seen["kept"] == hostile.n_features_selected_
    assert (seen["none"], seen["found"]) == (0, 1)
    assert seen["before"] != seen["after"]
