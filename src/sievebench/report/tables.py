"""A printed table, and how it is written as Markdown, LaTeX and CSV."""

import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sievebench import analysis
from sievebench.labels import DOWNSTREAM_LABELS, SCENARIO_LABELS, selector_label

# A cell of each row: made by a function of it, or a template whose fields may end in
# ":.2" (decimals), ":+2" (and a sign), ":p" (a probability), the name of a kind of
# label, and "?–", what is printed where there is no number.
Cell = Callable[[Any], str] | str
Columns = Mapping[str, Cell]

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
    title: str
    data: pd.DataFrame  # the numbers in full, for CSV
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # printed cells
    notes: tuple[str, ...] = ()  # sentences below the table
    bold: frozenset[tuple[int, int]] = frozenset()  # row and column of the best cells
    n_text_columns: int = 1  # from the left
    is_sortable: bool = True  # by a reader of the page
    code_columns: frozenset[int] = frozenset()  # commands, typeset as such

    def __post_init__(self) -> None:
        if any(len(row) != len(self.header) for row in self.rows):
            raise ValueError(f"rows of {self.name} must be as long as its header.")

    def cells(self, escape: Callable[[str], str], bold: str) -> list[list[str]]:
        """Return the escaped cells, the best ones in bold."""
        return [
            [
                bold.format(escape(cell)) if (i, j) in self.bold else escape(cell)
                for j, cell in enumerate(row)
            ]
            for i, row in enumerate(self.rows)
        ]


class _Template(string.Formatter):
    """Fills the templates of cells."""

    def format_field(self, value: Any, spec: str) -> str:
        """Print one value."""
        form, _, missing = spec.partition("?")
        kinds: dict[str, Callable[[Any], str]] = {
            "selector": selector_label,
            "scenario": SCENARIO_LABELS.__getitem__,
            "downstream": lambda name: DOWNSTREAM_LABELS.get(name, name),
            "p": lambda p: probability(p, missing or MISSING),
        }
        if form in kinds:
            return kinds[form](value)
        if form[:1] in (".", "+") and form[1:].isdecimal():
            show = signed if form[0] == "+" else number
            return show(value, int(form[1:]), missing or MISSING)
        return format(value, form)


def tables_of(lines: pd.DataFrame, columns: Columns, **about: Any) -> Iterator[Table]:
    """Yield a table with a cell for each row of `lines` and column; none without rows.

    The numbers in full are `lines`, unless `about` has other `data`.
    """
    if lines.empty:
        return
    fill = _Template().vformat
    rows = tuple(
        tuple(
            fill(cell, (), row) if isinstance(cell, str) else cell(row)
            for cell in columns.values()
        )
        for _, row in lines.iterrows()
    )
    yield Table(header=tuple(columns), rows=rows, **{"data": lines, **about})


def mean_and_std(mean: str, std: str, n_decimals: int) -> Cell:
    """Return what prints a mean of a row with its deviation."""
    return lambda row: with_deviation(row[mean], row[std], n_decimals)


def interval(
    name: str,
    n_decimals: int,
    low: str = "low",
    high: str = "high",
    *,
    is_signed: bool = False,
    missing: str = MISSING,
) -> Callable[[Any], str]:
    """Return what prints a number of a row with its interval."""

    def cell(row: Any) -> str:
        if pd.isna(row[name]):
            return missing
        return with_interval(row[name], (row[low], row[high]), n_decimals, is_signed)

    return cell


def markdown(table: Table) -> str:
    """Return a table as Markdown."""
    header = [markdown_text(cell) for cell in table.header]
    rows = table.cells(markdown_text, "**{}**")
    for row, cells in zip(table.rows, rows, strict=True):
        for j in table.code_columns:
            cells[j] = f"`{_one_line(row[j])}`" if row[j] else ""
    widths = [max(3, *map(len, column)) for column in zip(header, *rows, strict=True)]
    sides = ["<" if j < table.n_text_columns else ">" for j in range(len(header))]
    aligned = [f"{side}{width}" for side, width in zip(sides, widths, strict=True)]
    rule = [f"{':':-{form}}" for form in aligned]
    one_line = " | ".join(f"{{:{form}}}" for form in aligned).format
    lines = [f"| {one_line(*cells)} |" for cells in (header, rule, *rows)]
    notes = [f"- {markdown_text(note)}" for note in table.notes]
    parts = [f"## {markdown_text(table.title)}", "\n".join(lines), "\n".join(notes)]
    return "\n\n".join(part for part in parts if part) + "\n"


def latex(table: Table) -> str:
    """Return a table as LaTeX, for the package booktabs; notes become comments."""
    n_numbers = len(table.header) - table.n_text_columns
    rows = table.cells(_latex_text, r"\textbf{{{}}}")
    lines = [
        *(f"% {_one_line(note)}" for note in (table.title, *table.notes)),
        r"\begin{tabular}{" + "l" * table.n_text_columns + "r" * n_numbers + "}",
        r"\toprule",
        " & ".join(map(_latex_text, table.header)) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def csv(table: Table) -> str:
    """Return the numbers of a table as CSV, six digits each, nothing if missing."""
    text: str = table.data.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    return text


def markdown_text(text: str) -> str:
    """Return text with every sign that means something to Markdown escaped."""
    return _MARKDOWN.sub(r"\\\g<0>", _one_line(text))


def number(value: Any, n_decimals: int, missing: str = MISSING) -> str:
    """Return a number with so many decimals, or that it is missing."""
    if value is None or np.isnan(value):
        return missing
    text = f"{value:.{n_decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def probability(value: float, missing: str = MISSING) -> str:
    """Return a probability with two digits, or that it is tiny."""
    if np.isnan(value):
        return missing
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"


def signed(value: Any, n_decimals: int, missing: str = MISSING) -> str:
    """Return a difference with its sign, or that it is missing."""
    text = number(value, n_decimals, missing)
    return f"+{text}" if text != missing and float(text) > 0 else text


def with_deviation(mean: Any, deviation: Any, n_decimals: int) -> str:
    """Return "mean ± deviation", the mean alone if there is no deviation."""
    text = number(mean, n_decimals)
    if text == MISSING or np.isnan(deviation):
        return text
    return f"{text} ± {number(deviation, n_decimals)}"


def with_interval(
    value: float, ends: tuple[float, float], n_decimals: int, is_signed: bool = False
) -> str:
    """Print a number with its interval, the number alone if there is none.

    Examples
    --------
    >>> with_interval(1.44, (1.12, 1.88), 1), with_interval(0.5, (0.4, 0.6), 1, True)
    ('1.4 [1.1, 1.9]', '+0.5 [+0.4, +0.6]')
    """
    show = signed if is_signed else number
    text = show(value, n_decimals)
    if np.isnan(ends).any():
        return text
    low, high = (show(end, n_decimals) for end in ends)
    return f"{text} [{low}, {high}]"


def best_cells(
    wide: pd.DataFrame, n_decimals: int, first_column: int = 1
) -> frozenset[tuple[int, int]]:
    """Return row and column of the largest printed values of each column."""
    printed = analysis.as_printed(wide, n_decimals)
    rows, columns = np.nonzero(printed == printed.max())
    return frozenset(zip(rows.tolist(), (first_column + columns).tolist(), strict=True))


def _one_line(text: str) -> str:
    """Return text without ends of lines and other control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _latex_text(text: str) -> str:
    pattern = "|".join(map(re.escape, _LATEX))
    escaped = re.sub(pattern, lambda match: _LATEX[match.group()], _one_line(text))
    return re.sub(r"(?<![\w.])([-+])(?=[\d.])", r"$\1$", escaped)
