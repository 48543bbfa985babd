"""The files of a report: which, the same every time, and complete in themselves."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest
from made_runs import run, table, whole_study

from sievebench.cli import main
from sievebench.report import all_figures, gather, write_report
from sievebench.run_spec import RunSpec
from sievebench.store import DatasetFacts, RunRecord, RunResult, Store

FIGURES = {
    *(f"critical-difference-{s}" for s in ("random", "corrupted", "second_order")),
    *(f"score-and-columns-{s}" for s in ("random", "corrupted", "second_order")),
    *("counts", "power", "scaling", "balance"),
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(gather(whole_study()), folder)
    return folder


@pytest.fixture
def runs_file(tmp_path):
    path = tmp_path / "runs.csv"
    whole_study().to_csv(path, index=False)
    return path


def test_report_has_every_figure_as_svg_and_png(report):
    assert {p.stem for p in report.glob("figures/*.svg")} == FIGURES
    assert {p.stem for p in report.glob("figures/*.png")} == FIGURES


def test_report_has_every_table_three_times(report):
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


@pytest.mark.slow
def test_report_is_the_same_every_time(report, tmp_path):
    write_report(gather(whole_study()), tmp_path)
    for path in sorted(report.rglob("*.*")):
        name = path.relative_to(report)
        assert (tmp_path / name).read_bytes() == path.read_bytes(), name


def test_tables_do_not_depend_on_the_order_of_the_runs(report, tmp_path):
    shuffled = whole_study().sample(frac=1, random_state=0)
    write_report(gather(shuffled), tmp_path, has_figures=False)
    for path in sorted(report.glob("tables/*")):
        other = tmp_path / "tables" / path.name
        assert other.read_bytes() == path.read_bytes(), path.name


def test_svg_is_well_formed_and_has_no_date(report):
    for path in report.glob("figures/*.svg"):
        text = path.read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert "<dc:date>" not in text
        assert "<dc:creator>" not in text


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
            points = [
                line for line in figure.axes[0].lines if line.get_label()[0] != "_"
            ]
            assert len(points) == 4
            for drawn in (line.get_window_extent() for line in points):
                assert inside.y0 < drawn.y0 < drawn.y1 < inside.y1


def test_svg_keeps_its_text(report):
    text = (report / "figures/critical-difference-random.svg").read_text("utf-8")
    assert "AutoNFS, auto" in text


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


def test_page_needs_no_other_file(report):
    page = Page()
    text = (report / "index.html").read_text(encoding="utf-8")
    page.feed(text)
    assert all(reference.startswith("#") for reference in page.references)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_page_links_lead_somewhere_and_ids_are_unique(report):
    page = Page()
    page.feed((report / "index.html").read_text(encoding="utf-8"))
    assert {reference[1:] for reference in page.references} <= set(page.ids)
    twice = {name for name in page.ids if page.ids.count(name) > 1}
    assert twice == set()


def test_page_shows_samples_missing_cells_and_figures(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    assert "JA (sample)" in text
    assert '<td class="missing">missing</td>' in text
    assert text.count("<svg ") == len(FIGURES)


def test_page_escapes_what_comes_from_the_runs(tmp_path):
    runs = whole_study()
    runs["dataset"] = runs["dataset"].replace("eye", "<b>&eye")
    write_report(gather(runs), tmp_path, has_figures=False)
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<b>&eye" not in text
    assert "&lt;b&gt;&amp;eye" in text


def test_report_of_one_run_can_be_written(tmp_path):
    write_report(gather(whole_study().iloc[:1]), tmp_path)
    assert (tmp_path / "index.html").is_file()


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


def test_report_of_no_run_can_be_written(tmp_path):
    write_report(gather(whole_study().iloc[:0]), tmp_path)
    assert "0 runs" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_report_imports_no_torch():
    code = "import sys, sievebench.report; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_command_writes_the_report(runs_file, tmp_path, capsys):
    assert (
        main(["report", str(runs_file), "--out", str(tmp_path / "r"), "--no-figures"])
        == 0
    )
    assert "index.html" in capsys.readouterr().out
    assert (tmp_path / "r" / "tables" / "ranks.md").is_file()


def test_command_prints_one_table(runs_file, capsys):
    assert main(["report", str(runs_file), "--table", "ranks", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("selector,random: ours,")


def test_command_lists_the_tables(runs_file, capsys):
    assert main(["report", str(runs_file), "--list"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^table +paper-agreement ", printed, re.MULTILINE)
    assert re.search(r"^figure +scaling ", printed, re.MULTILINE)


@pytest.fixture
def records(tmp_path):
    """Write records of two experiments below one folder and return it."""
    facts = DatasetFacts(178, 13, 26, "accuracy", is_sample=False, checksum="")
    for name, purpose in (("quick", "benchmark"), ("matched", "matched")):
        store = Store(tmp_path / "runs" / name)
        for selector, kept in (("lasso", (0, 1)), ("autonfs:auto", (0,))):
            spec = RunSpec("eye", "random", selector, experiment=purpose)
            runs = (RunResult(0, 0.9, 0.8, kept, 0, 1.0, 2.0),)
            store.write(RunRecord(spec, "done", facts=facts, runs=runs))
    return tmp_path / "runs"


def test_command_reads_records_as_it_reads_a_table_of_them(records, tmp_path, capsys):
    table = tmp_path / "runs.csv"
    assert main(["collect", str(records), "--out", str(table)]) == 0
    both = [str(records / name) for name in ("quick", "matched")]
    printed = []
    for runs in ([str(table)], [str(records)], both):
        assert main(["report", *runs, "--table", "matched-autonfs-auto"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]
    assert "Lasso" in printed[0]


def test_command_prints_one_figure(runs_file, capsys):
    assert main(["report", str(runs_file), "--figure", "counts"]) == 0
    ElementTree.fromstring(capsys.readouterr().out)


def test_command_says_that_a_folder_holds_no_records(tmp_path, capsys):
    assert main(["report", str(tmp_path), "--list"]) == 2
    assert "holds no records" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--figure", "count"], "no figure 'count', but critical-difference-random"),
        (["--table", "rank"], "no table 'rank', but overview-random"),
        (["--list", "--downstream", "oracle"], "downstream must be one of"),
    ],
)
def test_command_says_what_does_not_fit(runs_file, words, message, capsys):
    assert main(["report", str(runs_file), *words]) == 2
    assert message in capsys.readouterr().err


def test_command_says_which_column_is_missing(runs_file, capsys):
    text = runs_file.read_text(encoding="utf-8").replace("n_kept", "kept", 1)
    runs_file.write_text(text, encoding="utf-8")
    assert main(["report", str(runs_file), "--list"]) == 2
    assert "no column 'n_kept'" in capsys.readouterr().err


def test_command_says_that_a_file_is_not_there(tmp_path, capsys):
    assert main(["report", str(tmp_path / "none.csv"), "--list"]) == 2
    assert "none.csv" in capsys.readouterr().err


def test_command_prints_the_ranks_of_the_paper(capsys):
    assert main(["paper", "ranks"]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if "AutoNFS" in x)
    numbers = re.findall(r"\d+\.\d", line)
    assert numbers[0::3] == numbers[1::3] == ["3.3", "2.3", "4.4"]


def test_command_says_that_there_are_no_runs(tmp_path, capsys):
    path = tmp_path / "empty.csv"
    path.write_text("")
    assert main(["report", str(path), "--list"]) == 2
    assert f"{path} is empty" in capsys.readouterr().err
    table(run()).iloc[:0].to_csv(path, index=False)
    assert main(["report", str(path), "--list"]) == 2
    assert f"there are no runs in {path}" in capsys.readouterr().err


def test_command_says_that_runs_alone_give_no_table(tmp_path, capsys):
    path = tmp_path / "runs.csv"
    table(run(experiment="matched")).to_csv(path, index=False)
    assert main(["report", str(path), "--out", str(tmp_path / "report")]) == 2
    assert "runs of matched give no table by themselves" in capsys.readouterr().err
    assert not (tmp_path / "report").exists()


def test_command_says_where_a_report_cannot_be(runs_file, capsys):
    assert main(["report", str(runs_file), "--out", str(runs_file)]) == 2
    assert re.search(
        r"--out '.*runs\.csv': (Not a dir|File ex)", capsys.readouterr().err
    )
