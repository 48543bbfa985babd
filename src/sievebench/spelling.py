"""What to say of a name that nobody knows."""

import difflib
from collections.abc import Iterable


def hint(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence: the nearest of the known names, else all of them.

    Parameters
    ----------
    name : str
        The unknown one.
    known : iterable of str

    Returns
    -------
    str

    Examples
    --------
    >>> hint("forrest", ["forest", "lasso"])
    "; did you mean 'forest'?"
    >>> hint("magic", ["forest", "lasso"])
    '; there are forest, lasso.'
    """
    names = list(known)
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    return (
        f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}."
    )
