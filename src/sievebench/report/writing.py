"""The whole report: which tables and figures there are, and their files."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path

from jinja2 import Template
from markupsafe import Markup

from featuresieve.files import write_atomically
from sievebench.labels import ABBREVIATIONS, DOWNSTREAM_LABELS
from sievebench.report import rank_tables as ranks
from sievebench.report import score_tables as scores
from sievebench.report import study_tables as studies
from sievebench.report.against_paper import comparison_tables
from sievebench.report.claims import verdict_tables
from sievebench.report.field_tables import field_tables
from sievebench.report.figures import canvas, critical_difference, panels
from sievebench.report.figures.canvas import Drawing
from sievebench.report.rank_tables import versus_tables
from sievebench.report.report_data import ReportData
from sievebench.report.tables import MISSING, Table, csv, latex, markdown, markdown_text

Sections = list[tuple[str, list[Table]]]
Maker = Callable[[ReportData], Iterator[Table]]
Drawer = Callable[[ReportData], Iterator[Drawing]]

# Heading of the page -> tables and figures below it. Each function yields nothing if
# there is nothing to show.
SECTIONS: dict[str, tuple[tuple[Maker, ...], Drawer | None]] = {
    "Verdicts": ((verdict_tables,), None),
    "Fresh draws": ((field_tables,), None),
    "Overview": ((scores.overview_tables,), critical_difference.drawings),
    "Ranks": ((ranks.rank_tables, ranks.friedman_tables), None),
    "Beside each other selector": ((versus_tables,), panels.versus_drawings),
    "Scores": ((scores.score_tables,), panels.score_drawings),
    "With the same predictors": ((ranks.shared_tables,), None),
    "Columns kept": (
        (scores.count_tables, studies.misselection_tables),
        panels.count_drawings,
    ),
    "At equal numbers of columns": ((studies.matched_tables,), None),
    "Predictive power": ((studies.power_tables,), panels.power_drawings),
    "Time": ((studies.scaling_tables,), panels.scaling_drawings),
    "Balance": ((studies.balance_tables,), panels.balance_drawings),
    "Cohorts": ((studies.cohort_tables,), None),
    "Beside the paper": ((comparison_tables,), None),
    "Missing": ((scores.missing_tables,), None),
}
WRITERS: dict[str, Callable[[Table], str]] = {
    "markdown": markdown,
    "latex": latex,
    "csv": csv,
}
_SUFFIXES = {"markdown": "md", "latex": "tex", "csv": "csv"}
_ABBREVIATION = re.compile(
    r"(?<![\w-])("
    + "|".join(map(re.escape, sorted(ABBREVIATIONS, key=len, reverse=True)))
    + r")(?![\w-])"
)
_MANIFEST = "files.txt"
_OWN_NAME = re.compile(r"(tables|figures)/[^/\\]+\.(md|tex|csv|svg|png)")


def all_tables(results: ReportData) -> Sections:
    """Return every table, by section."""
    return [
        (heading, [table for make in makers for table in make(results)])
        for heading, (makers, _) in SECTIONS.items()
    ]


def all_figures(results: ReportData) -> dict[str, Drawing]:
    """Return every figure by name; needs matplotlib."""
    drawers = [draw for _, draw in SECTIONS.values() if draw is not None]
    with canvas.house_style():
        return {drawing.name: drawing for draw in drawers for drawing in draw(results)}


def write_report(
    results: ReportData,
    folder: Path,
    has_figures: bool = True,
    sections: Sections | None = None,
) -> list[Path]:
    """Write tables, figures, one Markdown file with all tables, and the page."""
    sections = all_tables(results) if sections is None else sections
    tables = [table for _, section in sections for table in section]
    files: dict[str, str | bytes] = {
        f"tables/{table.name}.{_SUFFIXES[form]}": write(table)
        for table in tables
        for form, write in WRITERS.items()
    }
    drawings = all_figures(results) if has_figures else {}
    images = {name: canvas.svg_text(drawing) for name, drawing in drawings.items()}
    for name, drawing in drawings.items():
        files[f"figures/{name}.svg"] = images[name]
        files[f"figures/{name}.png"] = canvas.png_bytes(drawing)
    parts = ["# Results\n", *(f"{markdown_text(fact)}\n" for fact in facts(results))]
    files = {
        "index.html": html_page(results, sections, drawings, images),
        "report.md": "\n".join([*parts, *(markdown(table) for table in tables)]),
        **files,
    }
    _remove_earlier(folder, set(files))
    files[_MANIFEST] = "".join(f"{name}\n" for name in sorted(files))
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        write_atomically(folder / name, data)
    return [folder / name for name in files]


def _remove_earlier(folder: Path, names: set[str]) -> None:
    """Remove what an earlier report wrote, and this one does not."""
    manifest = folder / _MANIFEST
    earlier = manifest.read_text().splitlines() if manifest.is_file() else []
    # Only names that a report gives: anybody may have changed the file.
    for name in filter(_OWN_NAME.fullmatch, set(earlier) - names):
        (folder / name).unlink(missing_ok=True)


def html_page(
    results: ReportData,
    tables: Sequence[tuple[str, Sequence[Table]]],
    drawings: Mapping[str, Drawing],
    images: Mapping[str, str],
) -> str:
    """Return the report as a self-contained page.

    Tables are by the heading of their section, drawings and images (SVG) by name.
    """
    source = resources.files("sievebench.report").joinpath("page.html")
    template: Template = Template(
        source.read_text(encoding="utf-8"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    verdicts = [t for _, section in tables for t in section if t.name == "verdicts"]
    sections = [
        (heading, [table for table in section if table not in verdicts])
        for heading, section in tables
    ]
    return template.render(
        title="Does the paper hold? The AutoNFS benchmark, run again",
        facts=facts(results),
        verdicts=verdicts[0] if verdicts else None,
        claims=verdicts[0].data.to_dict("records") if verdicts else [],
        sections=[(heading, section) for heading, section in sections if section],
        drawings=drawings.values(),
        images=images,
        missing=MISSING,
        anchor=lambda heading: re.sub("[^a-z0-9]+", "-", f"section {heading}".lower()),
        abbr=_with_abbreviations,
        abbreviations=ABBREVIATIONS,
    )


def facts(results: ReportData) -> list[str]:
    """Return sentences about the runs."""
    runs = results.runs
    n_done = int((runs["status"] == "done").sum())
    label = DOWNSTREAM_LABELS.get(results.downstream, results.downstream)
    names = ", ".join(map(results.dataset_label, results.datasets))
    sentences = [
        f"{len(runs):,} runs, {n_done:,} of them done. Benchmark: "
        f"{len(results.selectors)} selectors on {len(results.datasets)} tables "
        f"({names}), scores of {label}."
    ]
    sentences += results.unranked_note(results.scenarios)
    if runs["is_sample"].any():
        sentences.append(
            "(sample): only a part of the rows was at hand; these scores are not "
            "comparable with the paper's."
        )
    return sentences


def _with_abbreviations(text: str) -> Markup:
    """Return escaped text in which abbreviations explain themselves on hover."""
    parts = _ABBREVIATION.split(text)  # every second one is an abbreviation
    return Markup("").join(
        Markup('<abbr title="{}">{}</abbr>').format(ABBREVIATIONS[part], part)
        if k % 2
        else part
        for k, part in enumerate(parts)
    )
