"""Parquet files, folders, partitions and patterns, checked before a row is read."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import dataset, fs, parquet

from featuresieve.errors import TableFileError, did_you_mean, listed, one_line

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
# Of each column: else whole groups of rows are held, or whole files.
_BUFFER_BYTES = 1 << 20
_ENDINGS = (".parquet", ".pq", ".parq")
_ADVICE = "Write the files with one schema, or name the columns to read."


@dataclass(frozen=True)
class ParquetFiles:
    """Files of one table, in the order in which they are read."""

    fragments: tuple[Any, ...]
    schema: pa.Schema
    n_rows: int

    def part(self, number: int, size: int) -> "list[tuple[int, ParquetFiles]]":
        """Return every so manieth group of rows, after the place of its first row."""
        pieces, first_row = [], 0
        groups = [(each, g) for each in self.fragments for g in each.row_groups]
        for place, (fragment, group) in enumerate(groups):
            if place % size == number:
                own = fragment.subset(row_group_ids=[group.id])
                pieces.append((first_row, replace(self, fragments=(own,))))
            first_row += group.num_rows
        return pieces

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield batches of some columns and so many rows; a damaged file is named."""
        schema = pa.schema([self.schema.field(name) for name in names])
        for fragment in self.fragments:
            with _damage_explained(fragment.path):
                yield from _batches_of(fragment, schema, n_rows)


def _batches_of(
    fragment: Any, schema: pa.Schema, n_rows: int
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of one file."""
    fixed = dataset.get_partition_keys(fragment.partition_expression)
    inside = [name for name in schema.names if name not in fixed]
    # Not as a dataset, which holds whole row groups.
    with (
        fragment.filesystem.open_input_file(fragment.path) as raw,
        parquet.ParquetFile(raw, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file,
    ):
        groups = [group.id for group in fragment.row_groups]
        for batch in file.iter_batches(n_rows, groups, inside):
            columns = [
                pa.repeat(pa.scalar(fixed[field.name], field.type), batch.num_rows)
                if field.name in fixed
                else batch.column(field.name).cast(field.type, safe=False)
                for field in schema  # the types that all files agree on
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def find_files(
    paths: Sequence[str | os.PathLike[str]],
    filesystem: Any = None,
    columns: Sequence[str] | None = None,
) -> ParquetFiles:
    """Find the files that paths, folders or patterns name, and read their footers.

    Folders such as ``year=2024`` below the first one that is named are columns too.
    """
    system: Any = None
    found, base = [], ""
    for path in paths:
        system, place = _located(os.fspath(path), filesystem)
        files, base = _files_of(system, place)
        found += files
    if len(paths) > 1:
        base = os.path.commonpath(found) if len({*found}) > 1 else ""
    options = dataset.FileSystemFactoryOptions(
        partition_base_dir=base, partitioning=dataset.HivePartitioning.discover()
    )
    kind = dataset.ParquetFileFormat()
    try:
        factory = dataset.FileSystemDatasetFactory(system, found, kind, options)
        data = factory.finish()
        fragments = list(data.get_fragments())
    except (pa.ArrowException, OSError) as error:
        for file in found:  # which of them it is
            with _damage_explained(file), system.open_input_file(file) as raw:
                parquet.ParquetFile(raw).close()
        raise TableFileError(
            f"{found[0]} and the files beside it make no table: {one_line(error)}. "
            f"A name must be one column, of the files or of their folders. {_ADVICE}"
        ) from error
    return checked(fragments, data.schema, columns)


def checked(
    fragments: Sequence[Any], known: pa.Schema, columns: Sequence[str] | None = None
) -> ParquetFiles:
    """Return files whose columns fit together; `known` has those of partitions."""
    check_names(fragments[0].path, columns or (), known)
    schemas, n_rows = [], 0
    for fragment in fragments:
        with _damage_explained(fragment.path):
            schemas.append(_wanted(fragment.physical_schema, columns))
            n_rows += fragment.count_rows()
    united = schemas[0]
    for fragment, schema in zip(fragments, schemas, strict=True):
        _check_names(fragment.path, schema, fragments[0].path, schemas[0])
        try:
            united = pa.unify_schemas([united, schema], promote_options="permissive")
        except pa.ArrowException as error:
            first = fragments[0].path
            raise _other_types(fragment.path, schema, first, united) from error
    inside = {*fragments[0].physical_schema.names}
    fields = [field for field in known if field.name not in inside]
    united = pa.schema([*united, *_wanted(pa.schema(fields), columns)])
    return ParquetFiles(tuple(fragments), united, n_rows)


def check_names(name: str, wanted: Iterable[str], schema: pa.Schema) -> None:
    """Refuse columns that are not there; errors begin with `name`."""
    known = {*schema.names}
    if unknown := [each for each in wanted if each not in known]:
        hint = did_you_mean(unknown[0], schema.names)
        raise TableFileError(f"{name} has no column {listed(unknown)}{hint}")


def _wanted(schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    """Return the fields that are read, without what programs noted about them."""
    names = {*(schema.names if columns is None else columns)}
    return pa.schema(
        [pa.field(field.name, field.type) for field in schema if field.name in names]
    )


def is_address(path: str) -> bool:
    """Tell whether a path begins with the name of a file system."""
    return _ADDRESS.match(path) is not None


def is_pattern(path: str) -> bool:
    """Tell whether a path stands for all those that fit it."""
    return re.search(r"[*?\[]", path) is not None


def _located(path: str, filesystem: Any) -> tuple[Any, str]:
    """Return the file system of a path, and the path in it."""
    if not path:  # which would be the folder of the process
        raise TableFileError("the path of a file must not be empty.")
    if filesystem is not None:
        if not isinstance(filesystem, fs.FileSystem):
            if not hasattr(filesystem, "protocol"):
                raise TypeError(
                    "filesystem must be one of pyarrow.fs or of fsspec, got "
                    f"{filesystem!r}."
                )
            filesystem = fs.PyFileSystem(fs.FSSpecHandler(filesystem))
        return filesystem, path
    if not is_address(path):
        return fs.LocalFileSystem(), Path(path).expanduser().absolute().as_posix()
    try:
        system, place = fs.FileSystem.from_uri(path)
    except (pa.ArrowException, OSError) as error:
        raise TableFileError(
            f"{path} cannot be opened: {one_line(error)} Pass a file system, such as "
            "Stream(path, filesystem=fsspec.filesystem(...))."
        ) from error
    return system, place


def _files_of(system: Any, path: str) -> tuple[list[str], str]:
    """Return the files behind a path in their order, and where partitions begin."""
    info = system.get_file_info(path)
    if info.type == fs.FileType.File:
        return [path], path.rpartition("/")[0]
    base, pattern = path.rstrip("/"), None
    if info.type != fs.FileType.Directory:
        if not is_pattern(path):
            raise TableFileError(f"there is no file or folder {path}.")
        base = re.split(r"/?[^/]*[*?\[]", path, maxsplit=1)[0]
        pattern = re.compile(_as_expression(path))
    selector = fs.FileSelector(base or "/", recursive=True, allow_not_found=True)
    found = system.get_file_info(selector)
    # Names of marks of success, checksums and drafts begin so.
    is_hidden = re.compile(r".*/[._]").match
    files = sorted(
        each.path
        for each in found
        if each.type == fs.FileType.File
        and not is_hidden("/" + each.path[len(base) :].lstrip("/"))
    )
    if pattern is not None:
        files = [file for file in files if pattern.fullmatch(file)]
    else:  # others lie beside them; programs also write files without an ending
        files = [file for file in files if _may_be_parquet(file)]
    if not files and pattern is None:
        raise TableFileError(f"{path} is a folder without Parquet in it.")
    if not files:
        raise TableFileError(f"no file fits {path}.")
    return files, base


def _may_be_parquet(path: str) -> bool:
    """Tell whether a file has the ending of Parquet, or none."""
    return path.endswith(_ENDINGS) or "." not in path.rpartition("/")[2]


def _as_expression(pattern: str) -> str:
    """Return the regular expression for a pattern of paths."""
    known = {"**/": r"(?:.*/)?", "*": r"[^/]*", "?": r"[^/]"}
    parts = re.split(r"(\*\*/|\*|\?|\[[^/\]]+\])", pattern)
    return "".join(  # a text and a mark in turn; a set of letters stays one
        known.get(part, part.replace("[!", "[^")) if place % 2 else re.escape(part)
        for place, part in enumerate(parts)
    )


@contextmanager
def _damage_explained(path: str) -> Iterator[None]:
    """Turn what reading a file raises into an error that names it."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        advice = (
            "It is not whole, or no Parquet: write or copy it again, or leave it out."
            if _may_be_parquet(path)
            else "Only Parquet is read as a stream: pass what the file holds, such as "
            "pandas.read_csv(path)."
        )
        message = f"{path} cannot be read: {one_line(error)} {advice}"
        raise TableFileError(message) from error


def _check_names(
    path: str, schema: pa.Schema, first_path: str, first: pa.Schema
) -> None:
    """Refuse a file that has other columns than the first."""
    for one, own, other, its in (
        (path, schema, first_path, first),
        (first_path, first, path, schema),
    ):
        if missing := sorted({*its.names} - {*own.names}, key=its.names.index):
            raise TableFileError(
                f"{one} has no column {listed(missing)}, which {other} has. {_ADVICE}"
            )


def _other_types(
    path: str, schema: pa.Schema, first_path: str, known: pa.Schema
) -> TableFileError:
    """Build the error for a column that is of another type in one file."""
    for field in schema:
        pair = [pa.schema([field]), pa.schema([known.field(field.name)])]
        try:
            pa.unify_schemas(pair, promote_options="permissive")
        except pa.ArrowException:
            return TableFileError(
                f"{field.name!r} is {field.type} in {path}, and "
                f"{known.field(field.name).type} in {first_path}. {_ADVICE}"
            )
    raise AssertionError("types that fit together")
