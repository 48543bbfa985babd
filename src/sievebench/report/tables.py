"""A printed table, and how it is written as Markdown, LaTeX and CSV."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

MISSING = "missing"
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"{{{sign}}}" for sign in "[]*"},  # options, after the end of a row
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "λ": r"$\lambda$",
    "χ²": r"$\chi^2$",
    "×": r"$\times$",
    "–": "--",
}
# Signs that Markdown takes for its own wherever they stand, or where they stand so.
_MARKDOWN = re.compile(
    r"[\\`*|\[\]~]|(?<![^\W_])_|_(?![^\W_])|<(?=[\w/!?])|&(?=#?\w+;)"
)


@dataclass(frozen=True)
class Table:
    """One table of the report."""

    name: str  # of its files
    title: str  # one line
    data: pd.DataFrame  # the numbers in full, for CSV
    header: tuple[str, ...]  # of the printed columns; the first ones are text
    rows: tuple[tuple[str, ...], ...]  # printed cells
    notes: tuple[str, ...] = ()  # sentences below the table
    # row and column of the cells that stand out
    bold: frozenset[tuple[int, int]] = frozenset()
    n_text_columns: int = 1  # how many columns are text, from the left
    is_sortable: bool = True  # whether a reader may sort the rows

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.rows} - {len(self.header)}
        if widths:
            raise ValueError(f"rows of {self.name} must be as long as its header.")


def markdown(table: Table) -> str:
    """Return a table as Markdown."""
    header = [markdown_text(cell) for cell in table.header]
    rows = [
        [
            f"**{markdown_text(cell)}**"
            if (i, j) in table.bold
            else markdown_text(cell)
            for j, cell in enumerate(row)
        ]
        for i, row in enumerate(table.rows)
    ]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    widths = [max(width, 3) for width in widths]
    is_text = [place < table.n_text_columns for place in range(len(header))]
    rule = [
        ":" + "-" * (width - 1) if text else "-" * (width - 1) + ":"
        for width, text in zip(widths, is_text, strict=True)
    ]
    lines = [_markdown_line(header, widths, is_text), f"| {' | '.join(rule)} |"]
    lines += [_markdown_line(row, widths, is_text) for row in rows]
    notes = [f"- {markdown_text(note)}" for note in table.notes]
    parts = [f"## {markdown_text(table.title)}", "\n".join(lines), "\n".join(notes)]
    return "\n\n".join(part for part in parts if part) + "\n"


def latex(table: Table) -> str:
    r"""Return a table as LaTeX, for the package booktabs."""
    n_numbers = len(table.header) - table.n_text_columns
    lines = [
        *(f"% {_one_line(note)}" for note in table.notes),
        r"\begin{tabular}{" + "l" * table.n_text_columns + "r" * n_numbers + "}",
        r"\toprule",
        " & ".join(map(_latex_text, table.header)) + r" \\",
        r"\midrule",
    ]
    for i, row in enumerate(table.rows):
        cells = [
            rf"\textbf{{{_latex_text(cell)}}}"
            if (i, j) in table.bold
            else _latex_text(cell)
            for j, cell in enumerate(row)
        ]
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return f"% {_one_line(table.title)}\n" + "\n".join(lines) + "\n"


def csv(table: Table) -> str:
    """Return the numbers of a table as CSV, six digits each, nothing if missing."""
    text: str = table.data.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    return text


def markdown_text(text: str) -> str:
    """Return text with every sign that means something to Markdown escaped."""
    return _MARKDOWN.sub(r"\\\g<0>", _one_line(text))


def number(value: Any, n_decimals: int) -> str:
    """Return a number with so many decimals, or that it is missing."""
    if value is None or np.isnan(value):
        return MISSING
    text = f"{value:.{n_decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def signed(value: Any, n_decimals: int) -> str:
    """Return a difference with its sign, or that it is missing."""
    text = number(value, n_decimals)
    is_positive = text != MISSING and float(text) > 0
    return f"+{text}" if is_positive else text


def with_deviation(mean: Any, deviation: Any, n_decimals: int) -> str:
    """Return "mean ± deviation", the mean alone if there is no deviation."""
    text = number(mean, n_decimals)
    if text == MISSING or np.isnan(deviation):
        return text
    return f"{text} ± {number(deviation, n_decimals)}"


def best_rows(values: Iterable[float], n_decimals: int) -> list[int]:
    """Return where the printed value is largest; nothing if there is none."""
    printed = [float(f"{value:.{n_decimals}f}") for value in values]
    known = [value for value in printed if not np.isnan(value)]
    return [i for i, value in enumerate(printed) if known and value == max(known)]


def _one_line(text: str) -> str:
    """Return text without ends of lines and other control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _markdown_line(
    cells: Sequence[str], widths: Sequence[int], is_text: Sequence[bool]
) -> str:
    """Return one line, text to the left and numbers to the right."""
    padded = [
        cell.ljust(width) if text else cell.rjust(width)
        for cell, width, text in zip(cells, widths, is_text, strict=True)
    ]
    return f"| {' | '.join(padded)} |"


def _latex_text(text: str) -> str:
    """Return text with every sign that means something to LaTeX escaped."""
    pattern = "|".join(map(re.escape, _LATEX))
    escaped = re.sub(pattern, lambda match: _LATEX[match.group()], _one_line(text))
    return re.sub(r"(?<![\w.])([-+])(?=[\d.])", r"$\1$", escaped)
