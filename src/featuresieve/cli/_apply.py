"""`featuresieve apply`: the kept columns of another file, and predictions for it."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import featuresieve
from featuresieve.cli._options import ApplyOptions
from featuresieve.errors import one_line
from featuresieve.files import (
    AtomicFiles,
    ColumnHint,
    LargeFiles,
    TableFile,
    TableFileError,
    check_table_output,
    find_column,
    find_columns,
    find_large,
    read_file,
    table_writer,
    write_columns,
    write_table,
)


def apply(options: ApplyOptions) -> list[str]:
    """Copy the kept columns of a file, predict its rows; return lines about it."""
    _check_outputs(options)
    selector = _loaded(options.saved)
    names = [str(name) for name in selector.feature_names_in_]
    kept = [names[j] for j in np.flatnonzero(selector.support_)]
    if options.out is options.predict is None:
        options = replace(options, out="-")
    large = find_large(options.file, options.memory)
    if large is None:
        with read_file(
            options.file, meanings=_meanings(selector), **options.reading
        ) as file:
            n_rows, notes = _apply_at_once(options, selector, kept, file)
    else:
        large.check(options.reading, (options.out, options.predict))
        n_rows, notes = _apply_in_parts(options, selector, kept, large)
    name = options.file if large is not None else file.source.name
    lines = [f"{name}: {n_rows} {'row' if n_rows == 1 else 'rows'}"]
    lines += [f"note: {note}" for note in notes]
    if options.out is not None:
        lines.append(f"kept {len(kept)} of {len(names)} columns")
    outputs = (options.out, options.predict)
    return [*lines, *(f"wrote {name}" for name in outputs if name not in (None, "-"))]


def _apply_at_once(
    options: ApplyOptions, selector: Any, kept: Sequence[str], file: TableFile
) -> tuple[int, list[str]]:
    """Write what was asked for of a table; return its number of rows, and notes."""
    notes = _notes_on(kept, file) if options.predict is not None else {}
    with AtomicFiles() as drafts:
        indices = _wanted(options, kept, file)
        if options.predict is not None:
            predictions = _predictions(selector, file, kept)
            write_table(predictions, options.predict, drafts)
        if options.out is not None:
            write_columns(file, indices, options.out, drafts)
    return file.n_rows, [*dict.fromkeys(notes.values())]


def _apply_in_parts(
    options: ApplyOptions, selector: Any, kept: Sequence[str], large: LargeFiles
) -> tuple[int, list[str]]:
    """Write what was asked for batch by batch; return the number of rows, and notes."""
    notes: dict[str, str] = {}
    meanings = _meanings(selector)
    first = large.part(None, meanings, options.missing)
    present = first.table.column_names
    wanted = [present[j] for j in _wanted(options, kept, first)]
    read = [name for name in present if name in {*wanted, *kept}]
    with AtomicFiles() as drafts, ExitStack() as writers:
        write = predict = None
        if options.out is not None:
            write = writers.enter_context(table_writer(options.out, drafts))
        if options.predict is not None:
            predict = writers.enter_context(table_writer(options.predict, drafts))
        for batch in large.batches(read):
            if write is not None:
                write(pa.Table.from_batches([batch.select(wanted)]))
            if predict is not None and batch.num_rows:
                part = large.part(batch, meanings, options.missing)
                predict(_predictions(selector, part, kept))
                notes = _notes_on(kept, part) | notes
    said = [f"in a part of the rows {note}" for note in notes.values()]
    return int(large.files.n_rows), said


def _notes_on(kept: Sequence[str], file: TableFile) -> dict[str, str]:
    """Return what was found of columns that are predicted from, by their names."""
    found = ((name, note) for note in file.notes for name in kept if repr(name) in note)
    return dict(found)


def _wanted(options: ApplyOptions, kept: Sequence[str], file: TableFile) -> list[int]:
    """Return the places of the columns to copy; the kept ones must be there."""
    present = file.table.column_names
    for name in kept:
        if name not in present:
            find_column(options.file, name, file)  # which says what there is
    file.check_columns(kept)
    wanted = {*kept, *find_columns("--also", options.also, present)}
    return [j for j, name in enumerate(present) if name in wanted]


def _check_outputs(options: ApplyOptions) -> None:
    """Refuse files that cannot be written before anything is computed."""
    outputs = [name for name in (options.out, options.predict) if name is not None]
    if len({os.path.realpath(name) for name in outputs}) < len(outputs):
        raise TableFileError("--out and --predict must be two files.")
    for option, name in (("--out", options.out), ("--predict", options.predict)):
        if name is None:
            continue
        check_table_output(option, name)
        inputs = {os.path.realpath(options.saved), os.path.realpath(options.file)}
        if name != "-" and os.path.realpath(name) in inputs:
            raise TableFileError(f"{option}: {name} is read, and must not be written.")


def _loaded(path: str) -> Any:
    """Return the saved selector."""
    if not Path(path).is_file():
        raise TableFileError(f"there is no file {path}.")
    try:
        selector = featuresieve.load(path)
    except (featuresieve.FeatureSieveError, ValueError) as error:
        raise TableFileError(one_line(error)) from error
    if not hasattr(selector, "feature_names_in_"):
        raise TableFileError(
            f"{path} was fitted on columns without names, which no file can match."
        )
    return selector


def _predictions(selector: Any, file: TableFile, kept: Sequence[str]) -> pa.Table:
    """Return the prediction for each row, and the probability of each class."""
    table = file.table.select(kept)
    try:
        result = {"prediction": pa.array(selector.predict(table).tolist())}
        if hasattr(selector, "predict_proba"):
            shares = selector.predict_proba(table).T
            for label, share in zip(selector.classes_, shares, strict=True):
                result[f"probability of {label}"] = pa.array(share)
    except (ValueError, TypeError) as error:
        raise TableFileError(one_line(error)) from error
    return pa.table(result)


def _meanings(selector: Any) -> dict[str, ColumnHint]:
    """Return how the kept columns were read when they were selected.

    Other rows alone may look different: codes without a leading zero like numbers,
    numbers with a word among them like text. And --type may have decided otherwise.
    """
    meanings: dict[str, ColumnHint] = {}
    for feature in selector._encoder.features:
        if feature.kind in ("number", "date"):
            meanings[str(feature.name)] = feature.kind
        elif feature.kind == "category" and all(
            isinstance(level, str) for level in feature.encoder.levels
        ):
            meanings[str(feature.name)] = "text"
    return meanings
