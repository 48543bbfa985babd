"""What all tables and figures are made from."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from sievebench.analysis import (
    check_runs,
    ordered,
    ranked_tables,
    score_table,
    summarize_cells,
    unfinished_tables,
)
from sievebench.labels import (
    DATASET_LABELS,
    DOWNSTREAM_LABELS,
    SCENARIO_LABELS,
    SELECTOR_LABELS,
)
from sievebench.store import collect, find_stores

PAPER_SCENARIOS = ("random", "corrupted", "second_order")


@dataclass(frozen=True)
class ReportData:
    """Checked runs, and what is asked of them again and again."""

    runs: pd.DataFrame  # as `check_runs` returns it
    cells: pd.DataFrame  # the benchmark, as `summarize_cells` returns it
    downstream: str  # whose scores are reported

    @property
    def scenarios(self) -> list[str]:
        """The scenarios of the benchmark, in the order of the paper."""
        return ordered(self._scored["scenario"], SCENARIO_LABELS)

    @property
    def datasets(self) -> list[str]:
        """The tables of the benchmark, in the order of the paper."""
        return ordered(self._scored["dataset"], DATASET_LABELS)

    @property
    def selectors(self) -> list[str]:
        """The selectors of the benchmark, in the order of the paper."""
        return ordered(self._scored["selector"], SELECTOR_LABELS)

    @property
    def own_selectors(self) -> list[str]:
        """The variants of AutoNFS among them."""
        return [s for s in self.selectors if s.partition(":")[0] == "autonfs"]

    @property
    def _scored(self) -> pd.DataFrame:
        """The cells of the downstream."""
        return self.cells[self.cells["downstream"] == self.downstream]

    def wide(self, scenario: str, value: str = "score_mean") -> pd.DataFrame:
        """Return one number of each cell of a scenario, selectors × tables."""
        return score_table(self.cells, scenario, self.downstream, value)

    def unfinished(self, scenario: str) -> dict[str, list[str]]:
        """Return the tables on which some selector has no record, and the selectors."""
        return unfinished_tables(self.cells, scenario, self.downstream)

    def ranked(self, scenario: str) -> pd.DataFrame:
        """Return the scores that are ranked, selectors × tables."""
        return ranked_tables(self.cells, scenario, self.downstream)

    def unranked_note(self, scenarios: Iterable[str]) -> tuple[str, ...]:
        """Return a note on the tables that are not ranked, if there are any."""
        begun = {scenario: list(self.unfinished(scenario)) for scenario in scenarios}
        without = {
            scenario: self.wide(scenario).columns.difference(
                [*self.ranked(scenario).columns, *names], sort=False
            )
            for scenario, names in begun.items()
        }
        reasons = (
            ("some selectors have not been run there", begun),
            ("no selector has a score there", without),
        )
        return tuple(
            f"Not ranked, because {reason}: {'; '.join(parts)}."
            for reason, tables in reasons
            if (parts := self._by_scenario(tables))
        )

    def _by_scenario(self, tables: Mapping[str, Collection[str]]) -> list[str]:
        """Return the tables of each scenario that has any, in words."""
        return [
            f"{SCENARIO_LABELS[scenario].lower()} "
            + ", ".join(map(self.dataset_label, names))
            for scenario, names in tables.items()
            if len(names)
        ]

    def dataset_label(self, name: str) -> str:
        """Return the name of a table to print; a sample says that it is one."""
        label = DATASET_LABELS.get(name, name)
        samples = set(self.runs.loc[self.runs["is_sample"], "dataset"])
        return f"{label} (sample)" if name in samples else label


def gather(runs: pd.DataFrame, downstream: str | None = None) -> ReportData:
    """Check a table of runs and choose the downstream."""
    checked = check_runs(runs)
    cells = summarize_cells(checked)
    present = ordered(cells["downstream"], DOWNSTREAM_LABELS)
    # Smaller studies have runs of their own.
    allowed = present or ordered(checked["downstream"], DOWNSTREAM_LABELS)
    if downstream is None:
        downstream = present[0] if present else "mlp"
    elif downstream not in allowed:
        raise ValueError(
            f"downstream must be one of {', '.join(allowed)}, got {downstream!r}."
        )
    return ReportData(checked, cells, downstream)


def read_runs(*paths: Path) -> pd.DataFrame:
    """Read runs, from records or from tables of them."""
    stores = [store for path in paths if path.is_dir() for store in find_stores(path)]
    tables = [_read_table(path) for path in paths if not path.is_dir()]
    tables += [collect(store.records()).assign(folder=store.folder) for store in stores]
    found = [table for table in tables if len(table)]
    if not found:
        raise ValueError(f"there are no runs in {', '.join(map(str, paths))}.")
    return pd.concat(found, ignore_index=True)


def _read_table(path: Path) -> pd.DataFrame:
    """Return the runs of a file."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".csv":
        try:
            return pd.read_csv(path, keep_default_na=False, na_values=[""])
        except pd.errors.EmptyDataError as error:
            raise ValueError(f"{path} is empty.") from error
    raise ValueError(f"{path} must be a folder of records, a .csv or a .parquet file.")


def scenario_labels(names: Iterable[str]) -> list[str]:
    """Return the names of scenarios to print."""
    return [SCENARIO_LABELS.get(name, name) for name in names]
