"""The report as one HTML page that needs no other file."""

import re
from collections.abc import Mapping, Sequence
from importlib import resources

from jinja2 import Template

from sievebench.labels import DOWNSTREAM_LABELS
from sievebench.report.figures import Drawing
from sievebench.report.material import ReportData
from sievebench.report.tables import MISSING, Table


def html_page(
    material: ReportData,
    tables: Sequence[tuple[str, Sequence[Table]]],
    drawings: Mapping[str, Sequence[Drawing]],
    images: Mapping[str, str],
) -> str:
    """Return the report as a self-contained page.

    Tables and drawings are by the heading of their section, images (SVG) by the name of
    their drawing.
    """
    source = resources.files("sievebench.report").joinpath("page.html")
    template: Template = Template(
        source.read_text(encoding="utf-8"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return template.render(
        title="AutoNFS benchmark: results beside the paper's",
        facts=facts(material),
        sections=[(h, t) for h, t in tables if t or drawings.get(h)],
        drawings=drawings,
        images=images,
        missing=MISSING,
        anchor=_anchor,
    )


def facts(material: ReportData) -> list[str]:
    """Return sentences about the runs."""
    runs = material.runs
    n_done = int((runs["status"] == "done").sum())
    label = DOWNSTREAM_LABELS.get(material.downstream, material.downstream)
    names = ", ".join(map(material.dataset_label, material.datasets))
    sentences = [
        f"{len(runs):,} runs, {n_done:,} of them done. Benchmark: "
        f"{len(material.selectors)} selectors on {len(material.datasets)} tables "
        f"({names}), scores of {label}."
    ]
    sentences += material.unranked_note(material.scenarios)
    if runs["is_sample"].any():
        sentences.append(
            "(sample): only a part of the rows was at hand; these scores are not "
            "comparable with the paper's."
        )
    return sentences


def _anchor(heading: str) -> str:
    """Return the name of a section in links."""
    return "section-" + re.sub(r"[^a-z0-9]+", "-", heading.lower())
