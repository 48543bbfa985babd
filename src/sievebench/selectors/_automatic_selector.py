"""Selectors that can find the number of columns themselves."""

from abc import abstractmethod
from typing import ClassVar

from sievebench.selectors._scored_selector import ScoredSelector, Support


class AutomaticSelector(ScoredSelector):
    """Keep the best columns, or with "auto" those of the selector's own rule.

    A subclass says in `_score_columns` how columns are scored, and in
    `_automatic_support` which of them its own rule keeps.
    """

    has_automatic_count: ClassVar[bool] = True

    @abstractmethod
    def _automatic_support(self) -> Support:
        """Return the columns the selector keeps by its own rule, after scoring."""

    @property
    def _is_automatic(self) -> bool:
        """Whether the selector is to find the number of columns."""
        wanted = self.n_features_to_select
        return isinstance(wanted, str) and wanted == "auto"

    def _choose_columns(self) -> Support:
        """Return the columns to keep, after scoring."""
        if self._is_automatic:
            return self._automatic_support()
        return super()._choose_columns()

    def _check_count(self, n_features: int) -> None:
        """Raise ValueError if n_features_to_select is not allowed, before scoring."""
        if not self._is_automatic:
            super()._check_count(n_features)
