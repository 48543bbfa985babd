"""What the score loses without one of the kept columns."""

import numpy as np
import pandas as pd

from sievebench.analysis.cells import in_order

_WHOLE = ["dataset", "scenario", "selector", "downstream", "seed"]
_WHERE = ["scenario", "selector", "downstream", "removal"]


def predictive_power(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean loss of score without one kept column, in percentage points.

    100 · (score of all kept − score without one), averaged over seeds, then over the
    kept columns, then over the tables. "retrained" and "imputed" (the column replaced
    by its mean, the predictor unchanged) are apart.

    Parameters
    ----------
    runs : DataFrame
        As `check_runs` returns it. In the removal experiment a run with an empty
        `removed` has all kept columns.

    Returns
    -------
    DataFrame
        Columns scenario, selector, downstream, removal, drop, drop_std (over the
        tables), n_datasets, n_columns (removed, in all tables).
    """
    chosen = runs[(runs["experiment"] == "removal") & (runs["status"] == "done")]
    whole = chosen[chosen["removed"] == ""].set_index(_WHOLE)["score"]
    less = chosen[chosen["removed"] != ""]
    joined = less.join(whole.rename("whole"), on=_WHOLE).dropna(subset=["whole"])
    joined = joined.assign(drop=100 * (joined["whole"] - joined["score"]))
    by_column = joined.groupby([*_WHERE, "dataset", "removed"])["drop"].mean()
    rows = []
    for key, group in by_column.groupby(level=_WHERE, sort=False):
        by_dataset = group.groupby(level="dataset").mean()
        rows.append(
            {
                **dict(zip(_WHERE, key, strict=True)),
                "drop": by_dataset.mean(),
                "drop_std": by_dataset.std(ddof=1) if len(by_dataset) > 1 else np.nan,
                "n_datasets": len(by_dataset),
                "n_columns": len(group),
            }
        )
    columns = [*_WHERE, "drop", "drop_std", "n_datasets", "n_columns"]
    return in_order(pd.DataFrame(rows, columns=columns))
