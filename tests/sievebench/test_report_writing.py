"""The files of a report: which, the same every time, and complete in themselves."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from made_cells import done
from made_runs import run, table, whole_study

from headless_browser import use_page
from sievebench.report import all_figures, gather, write_report
from sievebench.report.tables import Table, latex, markdown
from sievebench.report.writing import html_page
from sievebench.run_spec import RunSpec
from sievebench.store import Store

FIGURES = {
    f"{kind}-{scenario}"
    for kind in ("critical-difference", "score-and-columns")
    for scenario in ("random", "corrupted", "second_order")
} | {"versus", "counts", "power", "scaling", "balance"}
ONE_RUN = table(run()).to_csv(index=False)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(gather(whole_study()), folder)
    return folder


@pytest.fixture(scope="module")
def page(report):
    return (report / "index.html").read_text(encoding="utf-8")


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Go where the command finds no results of benchmarks, which take long to read."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def runs_file(tmp_path, elsewhere):  # noqa: ARG001
    path = tmp_path / "runs.csv"
    runs = whole_study()
    few = runs["experiment"].isin(["benchmark", "scaling"]) & (runs["seed"] == 0)
    few &= runs["scenario"].isin(["random", "none"])
    runs[few].to_csv(path, index=False)
    return path


def test_report_has_every_figure_twice_and_every_table_three_times(report):
    for suffix in ("svg", "png"):
        assert {p.stem for p in report.glob(f"figures/*.{suffix}")} == FIGURES
    names = {p.stem for p in report.glob("tables/*")}
    for suffix in ("md", "tex", "csv"):
        assert {p.stem for p in report.glob(f"tables/*.{suffix}")} == names
    assert {"ranks", "friedman", "paper-random", "missing"} <= names


def test_docs_name_every_table_and_figure(report):
    page = (Path(__file__).parents[2] / "docs" / "report.md").read_text("utf-8")
    lines = [line for line in page.splitlines() if line.startswith("| `")]
    cells = [line.split("|")[1:3] for line in lines]
    for column, files in enumerate(("tables/*.csv", "figures/*.svg")):
        named = re.findall(r"`([\w-]+)`", " ".join(cell[column] for cell in cells))
        patterns = [re.sub("SCENARIO|SELECTOR", r"[\\w-]+", name) for name in named]
        for path in report.glob(files):
            assert any(re.fullmatch(p, path.stem) for p in patterns), path.stem


def test_report_is_the_same_every_time_in_whatever_order_the_runs_are(report, tmp_path):
    shuffled = whole_study().sample(frac=1, random_state=0)
    write_report(gather(shuffled), tmp_path)
    for path in sorted(report.rglob("*.*")):
        name = path.relative_to(report)
        assert (tmp_path / name).read_bytes() == path.read_bytes(), name


def test_svg_is_well_formed_keeps_its_text_and_has_no_date(report):
    for path in report.glob("figures/*.svg"):
        text = path.read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert "<dc:date>" not in text
        assert "<dc:creator>" not in text
    text = (report / "figures/critical-difference-random.svg").read_text("utf-8")
    assert "AutoNFS, auto" in text


@pytest.mark.parametrize("n_tables", [1, 2, 3, 4])
def test_legend_and_markers_are_not_cut_off(n_tables):
    selectors = ("none", "lasso", "autonfs:auto", "autonfs:budget", "autonfs:published")
    runs = [
        run(selector=selector, dataset=dataset, n_kept=place + 1)
        for dataset in ("california", "eye", "house", "otto")[:n_tables]
        for place, selector in enumerate(selectors)
    ]
    for name, drawing in all_figures(gather(table(*runs))).items():
        figure = drawing.figure
        figure.draw_without_rendering()
        for legend in figure.legends:
            drawn = legend.get_window_extent()
            assert drawn.x0 >= 0, name
            assert drawn.x1 <= figure.bbox.x1, name
        if name == "counts":
            inside = figure.axes[0].bbox
            lines = figure.axes[0].lines
            points = [line for line in lines if line.get_label()[0] != "_"]
            assert len(points) == 4
            for drawn in (line.get_window_extent() for line in points):
                assert inside.y0 < drawn.y0 < drawn.y1 < inside.y1


class Page(HTMLParser):
    """Collect what a page refers to, and its ids."""

    def __init__(self):
        super().__init__()
        self.references, self.ids = [], []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        fields = dict(attrs)
        self.ids += [fields["id"]] if "id" in fields else []
        keys = ("href", "src", "xlink:href")
        self.references += [fields[key] for key in keys if fields.get(key)]


def test_page_needs_no_other_file_and_has_all_figures(page):
    found = Page()
    found.feed(page)
    assert all(reference.startswith("#") for reference in found.references)
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)
    assert {reference[1:] for reference in found.references} <= set(found.ids)
    assert len(set(found.ids)) == len(found.ids)
    assert "JA (sample)" in page
    assert '<td class="missing">missing</td>' in page
    assert page.count("<svg ") == len(FIGURES)


@pytest.mark.parametrize("n_runs", [0, 1])
def test_report_of_few_runs_can_be_written(tmp_path, n_runs):
    write_report(gather(whole_study().iloc[:n_runs]), tmp_path)
    assert f"{n_runs} run" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_later_report_removes_what_an_earlier_one_wrote(tmp_path):
    def files():
        return {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.*")}

    write_report(gather(whole_study()), tmp_path, has_figures=False)
    assert "tables/scaling.md" in files()
    (tmp_path / "tables" / "mine.md").write_text("a user's own")
    (tmp_path / "kept.md").write_text("a file that a changed manifest names")
    with (tmp_path / "files.txt").open("a") as manifest:
        manifest.write("kept.md\n../tables/mine.md\n")
    (tmp_path / "tables" / "scaling.tex").unlink()
    written = write_report(gather(table(run())), tmp_path, has_figures=False)
    own = {str(path.relative_to(tmp_path)) for path in written}
    assert files() == own | {"tables/mine.md", "kept.md"}


def test_report_imports_no_torch():
    code = "import sys, sievebench.report; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_command_writes_the_report_or_prints_a_part(runs_file, tmp_path, printed):
    out = tmp_path / "r"
    assert "index.html" in printed("report", runs_file, "--out", out, "--no-figures")
    assert (out / "tables" / "ranks.md").is_file()
    table = printed("report", runs_file, "--table", "ranks", "--format", "csv")
    assert table.startswith("selector,random: ours,")
    ElementTree.fromstring(printed("report", runs_file, "--figure", "counts"))
    names = printed("report", runs_file, "--list")
    assert re.search(r"^table +paper-agreement ", names, re.MULTILINE)
    assert re.search(r"^figure +scaling ", names, re.MULTILINE)


@pytest.mark.usefixtures("elsewhere")
def test_command_reads_records_as_it_reads_a_table_of_them(tmp_path, printed):
    folders = [tmp_path / "runs" / name for name in ("benchmark", "matched")]
    for folder in folders:
        for selector, kept in (("lasso", (0, 1)), ("autonfs:auto", (0,))):
            spec = RunSpec("eye", "random", selector, experiment=folder.name)
            Store(folder).write(done(spec, kept))
    table = tmp_path / "runs.csv"
    printed("collect", tmp_path / "runs", "--out", table)
    said = [
        printed("report", *runs, "--table", "matched-autonfs-auto")
        for runs in ([table], [tmp_path / "runs"], folders)
    ]
    assert said[0] == said[1] == said[2]
    assert "Lasso" in said[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--figure", "count"], "no figure 'count', but critical-difference-random"),
        (["--table", "rank"], "no table 'rank', but verdicts, overview-random"),
        (["--list", "--downstream", "oracle"], "downstream must be one of mlp, .*got"),
        (["--out", "runs.csv"], r"--out 'runs\.csv': (Not a dir|File ex)"),
    ],
)
def test_command_says_what_does_not_fit(runs_file, words, message, refused):
    assert re.search(message, refused("report", runs_file, *words))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "runs.csv"),
        ("", "runs.csv is empty"),
        (ONE_RUN.partition("\n")[0], "there are no runs in .*runs.csv"),
        (ONE_RUN.replace("n_kept", "kept"), "no column 'n_kept'"),
    ],
)
def test_command_says_what_is_wrong_with_the_runs(tmp_path, text, message, refused):
    path = tmp_path / "runs.csv"
    if text is not None:
        path.write_text(text)
    assert re.search(message, refused("report", path, "--list"))


def test_command_says_that_runs_alone_give_no_table(tmp_path, refused):
    path = tmp_path / "runs.csv"
    table(run(experiment="matched")).to_csv(path, index=False)
    words = ("--benchmarks", tmp_path, "--out", tmp_path / "report")
    error = refused("report", path, *words)
    assert "runs of matched give no table by themselves" in error
    assert not (tmp_path / "report").exists()


def test_command_prints_the_ranks_of_the_paper(printed):
    line = next(x for x in printed("paper", "ranks").splitlines() if "AutoNFS" in x)
    numbers = re.findall(r"\d+\.\d", line)
    assert numbers[0::3] == numbers[1::3] == ["3.3", "2.3", "4.4"]


HOSTILE = "a|b `c` <b>_d_ e_f &amp; 5% \\x [l](u) *m* ~s~ {g} #h ^i $j$\nk\x1b"


def hostile(name=HOSTILE):
    """Return a table with one name in its title, header, cells and notes."""
    data = pd.DataFrame({name: [name]})
    return Table("t", name, data, (name,), ((name,), ("[p]",)), notes=(name,))


def test_markdown_shows_every_sign_of_a_name():
    shown = (
        r"a\|b \`c\` \<b>\_d\_ e_f \&amp; 5% \\x \[l\](u) \*m\* \~s\~ {g} #h ^i $j$ k "
    )
    title, _, header, _, first, last, _, note = markdown(hostile()).splitlines()
    assert title == f"## {shown}"
    assert header == f"| {shown} |"
    assert first == header
    assert last.startswith(r"| \[p\] ")
    assert note == f"- {shown}"


def test_latex_shows_every_sign_of_a_name():
    shown = (
        r"a\textbar{}b \textasciigrave{}c\textasciigrave{} \textless{}b\textgreater{}"
        r"\_d\_ e\_f \&amp; 5\% \textbackslash{}x {[}l{]}(u) {*}m{*} "
        r"\textasciitilde{}s\textasciitilde{} \{g\} \#h \textasciicircum{}i \$j\$ k "
    )
    lines = latex(hostile()).splitlines()
    assert lines[4] == lines[6] == rf"{shown} \\"
    assert lines[7] == r"{[}p{]} \\"
    assert lines[0] == lines[1] == f"% {' '.join(HOSTILE.splitlines())[:-1]} "


@pytest.mark.parametrize("name", ["lasso:a/../../b", "lasso:a\nb", "lasso:\x1b[2J"])
def test_runs_with_names_that_no_file_can_have_are_refused(name):
    runs = whole_study()
    runs["selector"] = runs["selector"].replace("lasso", name)
    with pytest.raises(ValueError, match="column 'selector' must hold names that can"):
        gather(runs)


def test_page_shows_every_sign_of_a_name():
    page = html_page(gather(whole_study()), [("Scores", [hostile()])], {}, {})
    assert "<b>" not in page
    assert page.count("&lt;b&gt;_d_ e_f &amp;amp; 5%") == 4


FOLDS = """(page) => {
  const folds = [...page.querySelectorAll("details")];
  const before = folds.map((fold) => fold.open);
  folds.forEach((fold) => fold.querySelector("summary").click());
  return { before, after: folds.map((fold) => fold.open) };
}"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 360])
def test_page_unfolds_and_fits_any_screen(page, tmp_path, width):
    result = use_page(page, FOLDS, tmp_path, width=width)
    assert (result["errors"], result["requests"]) == ([], [])
    assert result["width"] <= width
    assert len(result["seen"]["before"]) > 10
    assert all(a != b for a, b in zip(*result["seen"].values(), strict=True))
