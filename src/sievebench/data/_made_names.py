"""The names of tables that are made, ``made:ROWSxCOLUMNS``, and what they stand for."""

import re

from sievebench.data._exceptions import UnknownDatasetError

PREFIX = "made:"
# So many columns, the first ones, decide the class; the others are noise.
N_RELEVANT = 10

_NAME = re.compile(r"made:(\d+)x(\d+)")
_FEWEST_ROWS = 20


def made_sizes(name: str) -> tuple[int, int]:
    """Return the rows and columns that the name of a made table stands for.

    Parameters
    ----------
    name : str
        Such as "made:2000x512".

    Returns
    -------
    int, int

    Raises
    ------
    UnknownDatasetError
        If the name has another form, or the table would be too small.
    """
    found = _NAME.fullmatch(name)
    if found is not None:
        n_rows, n_columns = int(found[1]), int(found[2])
        if n_rows >= _FEWEST_ROWS and n_columns >= N_RELEVANT:
            return n_rows, n_columns
    raise UnknownDatasetError(
        f"a made table must be 'made:ROWSxCOLUMNS' with at least {_FEWEST_ROWS} rows "
        f"and {N_RELEVANT} columns, got {name!r}."
    )
