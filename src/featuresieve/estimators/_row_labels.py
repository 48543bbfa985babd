"""Columns that name or number the rows, and columns of free text."""

import numpy as np

from featuresieve.files import LEAST_ROWS, numbers_rows
from featuresieve.tables import NumberEncoder, Table, TableEncoder

# Free text: words of the middle row, and different values for each row, at least.
_LEAST_WORDS, _LEAST_DISTINCT = 4, 0.5


def row_labels(table: Table, encoder: TableEncoder) -> tuple[list[int], list[int]]:
    """Return the columns that name or number the rows, and those of free text."""
    labels: list[int] = []
    texts: list[int] = []
    if table.n_rows < LEAST_ROWS:
        return labels, texts
    for feature in encoder.features:
        if feature.kind == "number":
            assert isinstance(feature.encoder, NumberEncoder)
            if _may_count(feature.encoder):
                values = table.column(feature.feature).values
                if (values == np.rint(values)).all() and numbers_rows(values):
                    labels.append(feature.feature)
        elif feature.kind == "category":
            column = table.column(feature.feature)
            used = np.unique(column.values[column.values >= 0])
            words = [str(column.levels[code]).count(" ") + 1 for code in used[:1000]]
            if len(used) >= _LEAST_DISTINCT * table.n_rows and (
                np.median(words) >= _LEAST_WORDS
            ):
                texts.append(feature.feature)
            elif len(used) == table.n_rows:
                labels.append(feature.feature)
    return labels, texts


def _may_count(encoder: NumberEncoder) -> bool:
    """Tell whether a column may hold whole numbers, none twice, by what is known."""
    if encoder.missing_share is not None:
        return False
    knots = encoder.scaler.knots
    return not knots or bool((knots[0] == np.rint(knots[0])).all())
