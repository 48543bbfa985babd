"""What all tables and figures are made from: runs, and what benchmarks/ stored."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from sievebench import analysis
from sievebench.labels import (
    DATASET_LABELS,
    DOWNSTREAM_LABELS,
    SCENARIO_LABELS,
    SELECTOR_LABELS,
)
from sievebench.report.paper import PAPER_SCENARIOS
from sievebench.store import collect, find_stores

DEFAULT, PUBLISHED = "autonfs:auto", "autonfs:published"
# One network at a given λ.
AS_PUBLISHED = (PUBLISHED, "autonfs:literal", "autonfs:target")


@dataclass(frozen=True, eq=False)  # what follows from one is remembered
class ReportData:
    """Checked runs, and what is asked of them again and again."""

    runs: pd.DataFrame  # as `check_runs` returns it
    cells: pd.DataFrame  # the benchmark, as `summarize_cells` returns it
    downstream: str  # whose scores are reported
    benchmarks: Path | None = None  # folder of what the scripts of benchmarks/ stored

    @cached_property
    def shared(self) -> "ReportData":
        """The same with the cells of the shared experiment."""
        return replace(self, cells=analysis.summarize_cells(self.runs, "shared"))

    @property
    def scenarios(self) -> list[str]:
        """The scenarios of the benchmark, in the order of the paper."""
        return analysis.ordered(self.scored["scenario"], SCENARIO_LABELS)

    @property
    def paper_scenarios(self) -> list[str]:
        """Those of them that the paper has."""
        return [s for s in self.scenarios if s in PAPER_SCENARIOS]

    @property
    def datasets(self) -> list[str]:
        """The tables of the benchmark, in the order of the paper."""
        return analysis.ordered(self.scored["dataset"], DATASET_LABELS)

    @property
    def selectors(self) -> list[str]:
        """The selectors of the benchmark, in the order of the paper."""
        return analysis.ordered(self.scored["selector"], SELECTOR_LABELS)

    @property
    def own_selectors(self) -> list[str]:
        """The variants of AutoNFS among them."""
        return [s for s in self.selectors if s.partition(":")[0] == "autonfs"]

    @property
    def scored(self) -> pd.DataFrame:
        """The cells of the downstream."""
        return self.cells[self.cells["downstream"] == self.downstream]

    def cells_of(self, scenario: str) -> pd.DataFrame:
        """Return the cells of the downstream in a scenario."""
        return self.scored[self.scored["scenario"] == scenario]

    def wide(self, scenario: str, value: str = "score_mean") -> pd.DataFrame:
        """Return one number of each cell of a scenario, selectors × tables."""
        return analysis.score_table(self.cells, scenario, self.downstream, value)

    def unfinished(self, scenario: str) -> dict[str, list[str]]:
        """Return the tables on which some selector has no record, and the selectors."""
        return analysis.unfinished_tables(self.cells, scenario, self.downstream)

    def ranked(self, scenario: str) -> pd.DataFrame:
        """Return the scores that are ranked, selectors × tables."""
        return _ranked(self, scenario)

    @cached_property
    def exponents(self) -> pd.DataFrame:
        """Seconds against columns, as `scaling_exponents` returns them."""
        return analysis.scaling_exponents(self.runs)

    def unranked_note(self, scenarios: Iterable[str]) -> tuple[str, ...]:
        """Return a note on the tables that are not ranked, if there are any."""
        said: dict[str, list[str]] = {
            "some selectors have not been run there": [],
            "no selector has a score there": [],
        }
        for scenario in scenarios:
            unfinished = self.unfinished(scenario)
            known = {*self.ranked(scenario).columns, *unfinished}
            unscored = [name for name in self.wide(scenario) if name not in known]
            for parts, names in zip(said.values(), (unfinished, unscored), strict=True):
                if labels := ", ".join(map(self.dataset_label, names)):
                    parts.append(f"{SCENARIO_LABELS[scenario].lower()} {labels}")
        return tuple(
            f"Not ranked, because {reason}: {'; '.join(parts)}."
            for reason, parts in said.items()
            if parts
        )

    def earlier_rule(self) -> list[str]:
        """Return the variants of AutoNFS whose records are of the rule before the vote.

        Records have named the rule since there are several. The paper's setting, one
        network at a fixed λ, is the same under all of them.
        """
        runs = self.runs
        is_own = runs["selector"].str.split(":").str[0] == "autonfs"
        is_chosen = is_own & (runs["status"] == "done") & (runs["rule"] == "")
        names = analysis.ordered(runs.loc[is_chosen, "selector"], SELECTOR_LABELS)
        return [name for name in names if name not in AS_PUBLISHED]

    def stored(self, name: str) -> dict[str, Any]:
        """Return a file of the folder of benchmarks; empty if it is not there."""
        folder = self.benchmarks
        return {} if folder is None else _stored(folder.absolute() / f"{name}.json")

    def records(self, name: str) -> list[dict[str, Any]]:
        """Return the records, or cells, of such a file; none if it is not there."""
        content = self.stored(name)
        found: list[dict[str, Any]] = content.get("records", content.get("cells", []))
        return found

    def dataset_label(self, name: str) -> str:
        """Return the name of a table to print; a sample says that it is one."""
        label = DATASET_LABELS.get(name, name)
        samples = set(self.runs.loc[self.runs["is_sample"], "dataset"])
        return f"{label} (sample)" if name in samples else label


@cache
def _ranked(results: ReportData, scenario: str) -> pd.DataFrame:
    return analysis.ranked_tables(results.cells, scenario, results.downstream)


def gather(
    runs: pd.DataFrame, downstream: str | None = None, benchmarks: Path | None = None
) -> ReportData:
    """Check a table of runs and choose the downstream.

    What `benchmarks` holds is for the verdicts; nothing else depends on it.
    """
    checked = analysis.check_runs(runs)
    cells = analysis.summarize_cells(checked)
    present = analysis.ordered(cells["downstream"], DOWNSTREAM_LABELS)
    # Smaller studies have runs of their own.
    allowed = present or analysis.ordered(checked["downstream"], DOWNSTREAM_LABELS)
    if downstream is None:
        downstream = present[0] if present else "mlp"
    elif downstream not in allowed:
        raise ValueError(
            f"downstream must be one of {', '.join(allowed)}, got {downstream!r}."
        )
    return ReportData(checked, cells, downstream, benchmarks)


def read_runs(*paths: Path) -> pd.DataFrame:
    """Read runs, from folders of records and from CSV or Parquet tables of them."""
    stores = [store for path in paths if path.is_dir() for store in find_stores(path)]
    tables = [_read_table(path) for path in paths if not path.is_dir()]
    tables += [collect(store.records()).assign(folder=store.folder) for store in stores]
    runs = analysis.stacked(tables)
    if runs.empty:
        raise ValueError(f"there are no runs in {', '.join(map(str, paths))}.")
    return runs


@cache
def _stored(path: Path) -> dict[str, Any]:
    """Return what a script of benchmarks/ stored."""
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold an object, got {type(content).__name__}.")
    return content


def _read_table(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".csv":
        try:
            return pd.read_csv(path, keep_default_na=False, na_values=[""])
        except pd.errors.EmptyDataError as error:
            raise ValueError(f"{path} is empty.") from error
    raise ValueError(f"{path} must be a folder of records, a .csv or a .parquet file.")
