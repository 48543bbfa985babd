"""What to say of a name that nobody knows."""

import difflib
from collections.abc import Iterable


def hint(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """Return the end of a sentence: the nearest of the known names, else all of them.

    Parameters
    ----------
    name : str
        The unknown one.
    known : iterable of str
    otherwise : str or None, default=None
        What to say instead of all names, where there are many.

    Returns
    -------
    str

    Examples
    --------
    >>> hint("Forrest", ["forest", "lasso"])
    "; did you mean 'forest'?"
    >>> hint("magic", ["forest", "lasso"])
    '; there are forest, lasso.'
    """
    names = list(known)
    lowered = {each.lower(): each for each in names}
    near = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {lowered[near[0]]!r}?"
    return f"; {otherwise}" if otherwise else f"; there are {', '.join(names)}."
