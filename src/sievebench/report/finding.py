"""What we found on a claim, and the words of a verdict."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sievebench import analysis
from sievebench.report.tables import with_interval

Verdict = Literal["holds", "partly", "does not", "cannot be tested here", "missing"]
Rule = Literal["earlier", "present", "either"]


@dataclass(frozen=True)
class Finding:
    """Our figures on one claim."""

    text: str  # figures with their 95 % intervals in brackets
    verdict: Verdict
    rule: Rule = "either"  # which rule chose the columns of AutoNFS's default


def side(low: float, high: float, bound: float = 0.0) -> Verdict:
    """Say on which side of a bound an interval is; above it a claim holds.

    Where there are too few tables for an interval, nothing can be said.

    Examples
    --------
    >>> side(0.1, 0.2), side(-0.2, 0.1), side(-0.2, -0.1)
    ('holds', 'partly', 'does not')
    """
    if np.isnan(low):
        return "cannot be tested here"
    if low > bound:
        return "holds"
    return "does not" if high < bound else "partly"


def joined(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a claim of several parts: partly unless they agree."""
    found = set(verdicts) - {"missing", "cannot be tested here"}
    if not found:
        return "cannot be tested here"
    return found.pop() if len(found) == 1 else "partly"


def told(is_so: bool, is_sure_not: bool = True) -> Verdict:
    """Return the verdict on a part that is so or not."""
    if is_so:
        return "holds"
    return "does not" if is_sure_not else "partly"


class Parts:
    """What is said of the parts of a claim, and the verdicts on them."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._verdicts: list[Verdict] = []

    def add(self, text: str, *verdicts: Verdict) -> None:
        """Say something, and judge it."""
        self._said.append(text)
        self._verdicts += verdicts

    def add_mean(
        self,
        values: object,
        n_decimals: int,
        label: str = "",
        *,
        above: float = 0.0,
        below: float | None = None,
        is_signed: bool = False,
    ) -> None:
        """Say a mean over tables, which should be above a bound or below one."""
        text = f"{label} {mean_with_interval(values, n_decimals, is_signed)}".lstrip()
        low, high = analysis.interval_of_mean(values)
        is_so = side(low, high, above) if below is None else side(-high, -low, -below)
        self.add(text, is_so)

    def finding(
        self, text: str = "{}", rule: Rule = "either", *, is_list: bool = True
    ) -> Finding | None:
        """Return the finding, its parts where the text has `{}`; None without any."""
        if not self._said:
            return None
        said = listed(self._said) if is_list else "; ".join(self._said)
        return Finding(text.replace("{}", said), joined(self._verdicts), rule)


def mean_with_interval(values: object, n_decimals: int, is_signed: bool = False) -> str:
    """Print the mean over tables with its bootstrap interval."""
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    mean = float(known.mean()) if len(known) else float("nan")
    ends = analysis.interval_of_mean(known)
    return with_interval(mean, ends, n_decimals, is_signed)


def listed(parts: Iterable[str]) -> str:
    """Join with commas, and an "and" before the last.

    Examples
    --------
    >>> listed(["1", "2", "3"]), listed(["1"])
    ('1, 2 and 3', '1')
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
