"""Methods of the estimators that show a selection: a page, a notebook, a table."""

import copy
import os
from collections.abc import Mapping
from typing import Any

from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from featuresieve.errors import as_called, check_integer
from featuresieve.estimators._streams import rows_of_fit
from featuresieve.files import write_atomically
from featuresieve.storage import check_facts, notebook_text, page_text
from featuresieve.tables import read_table

# Shades of the bars in a styled table.
_KEPT, _DROPPED = "#3f94cc99", "#88888866"


class Shown:
    """What an estimator inherits to be looked at."""

    @as_called()
    def report(
        self: Any,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a page about the selection: one HTML file that needs no network.

        The answer and how sure it is, what it is worth on held-out rows, the curve of
        sizes, every column with its votes and its picture against the target,
        correlations, and how to reproduce it. Equal fits give equal pages. Needs the
        extra `report`.

        Parameters
        ----------
        path : str or path-like
            An existing file is replaced.
        X, y : default=None
            The data of the fit, for distributions and correlations. An estimator that
            comes straight from `fit` still has them, unless they were large (more than
            256 MiB encoded); one from a file or a pickle does not, and its page says
            what is missing.
        facts : mapping or None, default=None
            What else the page shall say: ``title``; ``target``, the name of y;
            ``file`` and ``command``, where the selection comes from; ``notes`` and
            ``warnings``, lists of sentences; ``score``, a mapping of ``metric``,
            ``all_columns``, ``all_error``, ``kept_columns``, ``kept_error`` and
            ``n_test``, on rows that the fit has not seen, as in the JSON of the
            command.

        Raises
        ------
        ImportError
            If jinja2 is not installed.
        """
        check_is_fitted(self)
        facts = check_facts(facts)
        if (X is None) != (y is None):
            missing = "X" if X is None else "y"
            raise ValueError(f"report needs X and y, or neither, got no {missing}.")
        prepared, code = self._prepared, self._target_code
        if X is not None:
            name = y if isinstance(y, str) else getattr(y, "name", None)
            rows = rows_of_fit(self, X, y, None, None, self._seed or 0)
            self._check_columns(rows.X, read_table(rows.X))  # not the kept ones alone
            prepared, target, _ = clone(self)._prepare(rows.X, rows.y, None)
            code = target.code
            facts = {"target": name, **facts} if isinstance(name, str) else facts
        text = page_text(self, prepared, code, facts)
        write_atomically(path, text.encode("utf-8", errors="replace"))

    def styled_table(self: Any, max_features: int | None = 30) -> Any:
        """Return the feature table with bars, as a notebook shows it.

        Parameters
        ----------
        max_features : int or None, default=30
            So many of the best ranked at most; None for all.

        Returns
        -------
        pandas.io.formats.style.Styler
            Needs pandas and jinja2.
        """
        if max_features is not None:
            check_integer("max_features", max_features, least=1)
        table = self.feature_table()
        if not hasattr(table, "style"):
            raise ImportError("styled_table needs pandas: pip install pandas")
        table = table.head(len(table) if max_features is None else max_features)
        kept = table.index[table["kept"]]
        dropped = table.index[~table["kept"]]
        most = {"frequency": 1.0, "importance": table["importance"].max()}
        style = table.style.hide(axis="index").format(
            precision=3, na_rep="", escape="html"
        )
        for rows, colour in ((kept, _KEPT), (dropped, _DROPPED)):
            for name, largest in most.items():
                where = rows[table.loc[rows, name].notna()], [name]
                limits = {"vmin": 0.0, "vmax": max(largest, 1e-12)}
                size = {"width": 55, "height": 60}  # per cent of a cell
                style = style.bar(where, color=colour, **size, **limits)
        words = ["name", "verdict", "represented_by"]
        style = style.set_properties(words, **{"text-align": "left"})
        style = style.set_properties((dropped, list(table.columns)), opacity="0.65")
        return style.hide(["kept", "logit"], axis="columns")

    def _repr_html_inner(self: Any) -> str:
        """Return what a notebook shows: the answer, and scikit-learn's diagram."""
        shown = self
        if getattr(self, "_labels", None) is not None:  # the diagram wants strings
            names = [str(name) for name in self.get_feature_names_out()]
            shown = copy.copy(self)
            shown.get_feature_names_out = lambda: names
        diagram = str(super(Shown, shown)._repr_html_inner())  # type: ignore[misc]
        try:
            check_is_fitted(self)
            return f"{notebook_text(self)}\n{diagram}"
        except (NotFittedError, ImportError):
            return diagram

    def _repr_mimebundle_(self: Any, **kwargs: Any) -> dict[str, str]:  # noqa: ARG002
        """Return the same where `set_config` wants diagrams, else the text alone."""
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle
