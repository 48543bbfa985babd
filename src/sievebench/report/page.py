"""The report as one HTML page that needs no other file."""

import re
from collections.abc import Mapping, Sequence
from html import escape

from sievebench.labels import DOWNSTREAM_LABELS
from sievebench.report.figures import Drawing
from sievebench.report.material import ReportData
from sievebench.report.tables import MISSING, Table

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 84em;
       padding: 0 1.2em; color: #222; background: #fff; }
h1 { font-size: 1.6em; margin-bottom: .2em; }
h2 { font-size: 1.25em; margin: 2.4em 0 .4em; border-bottom: 2px solid #0072B2;
     padding-bottom: .15em; }
h3 { font-size: 1.02em; margin: 1.6em 0 .4em; }
nav { font-size: .93em; } nav a { margin-right: 1.1em; white-space: nowrap; }
a { color: #0072B2; text-decoration: none; } a:hover { text-decoration: underline; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .87em;
        font-variant-numeric: tabular-nums; }
th, td { padding: .22em .55em; text-align: right; white-space: nowrap;
         border-bottom: 1px solid #e4e4e4; }
th { vertical-align: bottom; border-bottom: 1.5px solid #888; font-weight: 600;
     white-space: normal; min-width: 3em; }
th.text, td.text { text-align: left; }
th.sorts { cursor: pointer; } th.sorts:hover { color: #0072B2; }
th:first-child, td:first-child { position: sticky; left: 0; background: #fff; }
tbody tr:hover td { background: #f2f7fb; }
td.best { font-weight: 700; } td.missing { color: #a33; font-style: italic; }
tr.last td { border-bottom: 1.5px solid #bbb; }
.notes { color: #555; font-size: .87em; max-width: 60em; padding-left: 1.2em; }
figure { margin: 1.2em 0; } figure svg { max-width: 100%; height: auto; }
figcaption { color: #555; font-size: .87em; max-width: 60em; }
"""
# Click on a heading: sort by it, numbers by value, what is missing last.
_SCRIPT = """
document.querySelectorAll("th.sorts").forEach(function (th) {
  th.addEventListener("click", function () {
    var table = th.closest("table"), body = table.tBodies[0], k = th.cellIndex;
    var up = th.dataset.up !== "1"; th.dataset.up = up ? "1" : "0";
    var key = function (row) {
      var text = row.cells[k].textContent.trim(), value = parseFloat(text);
      return isNaN(value) ? text : value;
    };
    Array.from(body.rows).sort(function (a, b) {
      var x = key(a), y = key(b);
      if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
      var order = typeof x === "number" ? x - y : x.localeCompare(y);
      return up ? order : -order;
    }).forEach(function (row) { body.appendChild(row); });
  });
});
"""


def html_page(
    material: ReportData,
    tables: Sequence[tuple[str, Sequence[Table]]],
    drawings: Mapping[str, Sequence[Drawing]],
    images: Mapping[str, str],
) -> str:
    """Return the report as a self-contained page."""
    title = "AutoNFS benchmark: results beside the paper's"
    sections = [(h, t) for h, t in tables if t or drawings.get(h)]
    links = " ".join(f'<a href="#{_anchor(h)}">{escape(h)}</a>' for h, _ in sections)
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        *(f"<p>{escape(fact)}</p>" for fact in facts(material)),
        f"<nav>{links}</nav>",
    ]
    for heading, section in sections:
        parts.append(f'<h2 id="{_anchor(heading)}">{escape(heading)}</h2>')
        parts += [_figure(d, images[d.name]) for d in drawings.get(heading, ())]
        parts += [_table(table) for table in section]
    parts += [f"<script>{_SCRIPT}</script>", "</body></html>"]
    return "\n".join(parts) + "\n"


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


def _figure(drawing: Drawing, svg: str) -> str:
    """Return a figure with its caption."""
    svg = svg[svg.index("<svg") :]
    name = escape(drawing.title, quote=True)
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{name}"', 1)
    caption = f"<figcaption>{escape(drawing.caption)}</figcaption>"
    title = f"<h3>{escape(drawing.title)}</h3>"
    return (
        f'<figure id="figure-{escape(drawing.name)}">{title}\n{svg}{caption}</figure>'
    )


def _table(table: Table) -> str:
    """Return a table with title and notes."""
    sorts = " sorts" if table.is_sortable else ""
    head = "".join(
        f'<th class="{"text" if j < table.n_text_columns else "number"}{sorts}">'
        f"{escape(text)}</th>"
        for j, text in enumerate(table.header)
    )
    lines = [_row(table, i) for i in range(len(table.rows))]
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    return (
        f'<h3 id="table-{escape(table.name)}">{escape(table.title)}</h3>\n'
        f'<div class="wide"><table>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody>"
        "</table></div>" + (f'\n<ul class="notes">{notes}</ul>' if notes else "")
    )


def _row(table: Table, i: int) -> str:
    """Return one row; a text that the row above has too is not repeated."""
    row = table.rows[i]
    above = table.rows[i - 1] if i and not table.is_sortable else ("",)
    below = table.rows[i + 1] if i + 1 < len(table.rows) else ("",)
    cells = []
    for j, text in enumerate(row):
        classes = ["text"] if j < table.n_text_columns else []
        classes += ["best"] if (i, j) in table.bold else []
        classes += ["missing"] if text == MISSING else []
        attribute = f' class="{" ".join(classes)}"' if classes else ""
        shown = "" if j == 0 and text == above[0] else text
        cells.append(f"<td{attribute}>{escape(shown)}</td>")
    is_last = not table.is_sortable and below[0] != row[0]
    start = '<tr class="last">' if is_last else "<tr>"
    return f"{start}{''.join(cells)}</tr>"


def _anchor(heading: str) -> str:
    """Return the name of a section in links."""
    return "section-" + re.sub(r"[^a-z0-9]+", "-", heading.lower())
