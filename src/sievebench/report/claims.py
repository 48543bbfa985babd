"""Every claim of the paper with what we found on it: the page of verdicts."""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, get_args

import pandas as pd

from sievebench.labels import selector_label
from sievebench.report import benchmark_findings as of_benchmarks
from sievebench.report import field_tables as of_fields
from sievebench.report import run_findings as of_runs
from sievebench.report import study_findings as of_studies
from sievebench.report.finding import Finding, Rule, Verdict, listed
from sievebench.report.report_data import ReportData
from sievebench.report.tables import Columns, Table, tables_of

Metric = Callable[[ReportData, str], Finding | None]


def _returned(thing: Any) -> Any:
    return getattr(thing, "__annotations__", {}).get("return")


# By the names that claims.toml has: each public function that returns a finding.
METRICS: Mapping[str, Metric] = {
    name: function
    for module in (of_runs, of_studies, of_benchmarks, of_fields)
    for name, function in vars(module).items()
    if not name.startswith("_") and _returned(function) == Finding | None
}
_COLUMNS: Columns = {
    "verdict": lambda row: (
        row["verdict"] + ("" if row["rule"] == "either" else f" ({row['rule']} rule)")
    ),
    "claim": "{claim} ({where})",
    "paper": "{paper}",
    "here": "{ours}",
    "command": "{command}",
}
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_COUNTED = {
    "holds": ("holds", "hold"),
    "partly": ("holds in part", "hold in part"),
    "does not": ("does not hold", "do not hold"),
    "cannot be tested here": ("cannot be tested here",) * 2,
    "missing": ("has no figures yet", "have no figures yet"),
}


@dataclass(frozen=True)
class Claim:
    """One entry of claims.toml."""

    key: str
    where: str
    claim: str
    paper: str
    quote: str
    command: str
    metric: str = ""
    argument: str = ""
    rule: Rule | None = None  # of a benchmark's figures; records say it themselves
    why: str = ""

    def finding(self, results: ReportData) -> Finding:
        """Return what we found on it."""
        if not self.metric:
            return Finding(self.why, "cannot be tested here")
        found = METRICS[self.metric](results, self.argument)
        if found is None:
            return Finding("missing", "missing")
        return Finding(found.text, found.verdict, self.rule or found.rule)


@cache
def paper_claims() -> tuple[Claim, ...]:
    """Return the claims in the order of the file."""
    file = resources.files("sievebench.report").joinpath("claims.toml")
    entries = tomllib.loads(file.read_text(encoding="utf-8"))["claims"]
    return tuple(Claim(**entry) for entry in entries)


def count_verdicts(judged: list[tuple[Claim, Finding]]) -> str:
    """Return one sentence: how many claims hold, and so on.

    Examples
    --------
    >>> claim = Claim("k", "w", "c", "p", "q", "")
    >>> count_verdicts([(claim, Finding("", "holds")), (claim, Finding("", "partly"))])
    '2 checks of what the paper claims: 1 holds and 1 holds in part.'
    """
    counts = Counter(finding.verdict for _, finding in judged)
    parts = [
        f"{counts[name]} {_COUNTED[name][counts[name] > 1]}"
        for name in VERDICTS
        if counts[name]
    ]
    return f"{len(judged)} checks of what the paper claims: {listed(parts)}."


def verdict_tables(results: ReportData) -> Iterator[Table]:
    """Yield the table of all claims, if the runs say something on any."""
    judged = [(claim, claim.finding(results)) for claim in paper_claims()]
    judged.sort(key=lambda pair: pair[1].verdict == "missing")  # these last
    of_records = (found for claim, found in judged if claim.metric and not claim.rule)
    if {found.verdict for found in of_records} <= {"missing"}:
        return  # these runs say nothing on the paper
    notes = [
        count_verdicts(judged),
        "In brackets 95 % intervals: bootstrap over tables (scaling: of the "
        "regression). A claim holds if the whole interval is on its side, does not if "
        "it is on the other, and holds in part if neither is so or its parts differ.",
    ]
    if earlier := [selector_label(name) for name in results.earlier_rule()]:
        notes.append(
            f"rule: the records of {listed(earlier)} are of the decision rule before "
            "the present one (features elected by votes); so are the figures marked "
            "earlier. present: made with it. either: does not depend on it."
        )
    rows = [
        {**vars(claim), **vars(found), "ours": found.text} for claim, found in judged
    ]
    names = ["key", "verdict", "claim", "where", "paper", "ours", "rule", "command"]
    yield from tables_of(
        pd.DataFrame(rows, columns=names),
        _COLUMNS,
        name="verdicts",
        title="Every claim of the paper",
        n_text_columns=len(_COLUMNS),
        code_columns=frozenset({len(_COLUMNS) - 1}),
        notes=tuple(notes),
    )
