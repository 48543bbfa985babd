"""Columns as a user names them: exactly, or by a pattern, or nearly."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from featuresieve.errors import did_you_mean
from featuresieve.files._dialect import skip_hint
from featuresieve.files._errors import TableFileError

if TYPE_CHECKING:  # which finds columns by their names itself
    from featuresieve.files._reading import TableFile


def find_column(option: str, name: str, file: "TableFile") -> str:
    """Return the one column that has a name; an error begins with `option`."""
    names = file.table.column_names
    n_alike = file.headings.count(name)
    if n_alike > 1:
        raise TableFileError(
            f"{option}: {file.source.name} has {n_alike} columns named {name!r}."
        )
    if name in names:
        return name
    error = no_column(option, name, names)
    hint = _hint(file)
    raise TableFileError(f"{error} {hint}") if hint else error


def _hint(file: "TableFile") -> str:
    """Return why a file may have other columns than expected, or nothing."""
    if file.dialect is None:
        return ""
    if skip := skip_hint(file.source, file.dialect):
        return skip.strip()
    if len(file.headings) == 1:
        return "If cells are separated by another character, name it with --delimiter."
    if all(_is_number(heading) for heading in file.headings if heading):
        return "The first line must name the columns, and seems to be data."
    return ""


def _is_number(text: str) -> bool:
    """Tell whether a text is a number."""
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def find_columns(option: str, wanted: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns that names and patterns stand for, in the order of the table.

    What is no name and has a ``*`` or ``?`` is a pattern. Errors begin with `option`.
    """
    found: set[str] = set()
    for name in wanted:
        if name in names:
            found.add(name)
            continue
        is_pattern = "*" in name or "?" in name
        matches = [n for n in names if is_pattern and fnmatchcase(n, name)]
        if not matches:
            raise no_column(option, name, names)
        found.update(matches)
    return [name for name in names if name in found]


def no_column(option: str, name: str, names: Sequence[str]) -> TableFileError:
    """Build the error for a column that is not there, with the nearest names."""
    hint = did_you_mean(name, names, most=3)
    return TableFileError(f"{option}: there is no column {name!r}{hint}")
