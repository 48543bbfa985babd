"""Docstrings of selectors: what several share is written once, and filled in here."""

import inspect
import re
import textwrap
from typing import Any

_ORDER = ("Parameters", "Attributes", "Notes", "References", "Examples")


def completed(kind: type[Any]) -> str:
    """Return the docstring of a selector with all its parameters, and an example.

    What it does not say of a parameter or attribute is what its bases say.
    """
    first, given = _sections(kind)
    arguments = inspect.signature(kind).parameters
    known = _entries(kind, "Parameters")
    parameters = [_with_default(known[name], arguments[name]) for name in arguments]
    attributes = _entries(kind, "Attributes")
    if "penalty" not in arguments:
        attributes.pop("penalty_", None)
    given["Parameters"] = "\n".join(dict.fromkeys(parameters))
    given["Attributes"] = "\n".join(attributes.values())
    if published := getattr(kind, "published", None):
        said = f"`as_published` sets {_listed(published)}."
        given["Notes"] += f"\n\n{textwrap.fill(said, 84)}"
    if kind.standardises:
        said = "Columns, and a regression target, are standardised first."
        given["Notes"] = f"{given['Notes']}\n\n{said}".lstrip()
    given["Examples"] = given["Examples"] or _example(kind)
    parts = [f"{name}\n{'-' * len(name)}\n{given[name]}" for name in _ORDER]
    return "\n\n".join([first, *(part for part in parts if not part.endswith("-\n"))])


def _sections(kind: type[Any]) -> tuple[str, dict[str, str]]:
    """Return how a docstring begins, and its sections by their headings."""
    text = inspect.cleandoc(kind.__doc__ or "")
    first, *found = re.split(r"\n*^(\w+)\n-+\n", text, flags=re.MULTILINE)
    sections = dict(zip(found[::2], found[1::2], strict=True))
    return first, {**dict.fromkeys(_ORDER, ""), **sections}


def _entries(kind: type[Any], section: str) -> dict[str, str]:
    """Return what a class and its bases say of each name, its own words first."""
    entries: dict[str, str] = {}
    for base in kind.__mro__:
        for entry in re.split(r"\n(?=\S)", _sections(base)[1][section]):
            for name in entry.partition(" : ")[0].split(", "):
                entries.setdefault(name, entry)
    return {name: entry for name, entry in entries.items() if name.isidentifier()}


def _with_default(entry: str, argument: inspect.Parameter) -> str:
    default = argument.default
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    return re.sub(r"default=.*", lambda _: f"default={shown}", entry, count=1)


def _listed(settings: Any) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())


def _example(kind: type[Any]) -> str:
    settings = {"n_features_to_select": 4, "random_state": 0, **kind.example}
    return f"""\
>>> from sklearn.datasets import load_wine
>>> from sievebench.selectors import {kind.__name__}
>>> X, y = load_wine(return_X_y=True)
>>> selector = {kind.__name__}({_listed(settings)})
>>> selector.fit_transform(X, y).shape
(178, 4)"""
