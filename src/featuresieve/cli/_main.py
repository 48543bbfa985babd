"""The command line: parse, call, print."""

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from featuresieve import FeatureSieveError
from featuresieve.cli._completion import complete
from featuresieve.cli._options import (
    ApplyOptions,
    SelectOptions,
    UsageError,
    check_options,
    read_config,
)
from featuresieve.cli._parser import Parser, build_parser
from featuresieve.errors import one_line
from featuresieve.process import (
    INTERRUPTED,
    NulError,
    check_words,
    interrupts_delayed,
    nobody_reads,
    printable_output,
    rank,
    run_as_process,
    show_status,
    was_interrupted,
)

_EXTRA_OF = {
    **{"argcomplete": "completion", "jinja2": "report"},
    **{"matplotlib": "plot", "pyarrow": "cli"},
}


def console() -> int:
    """Run the command line as a process."""
    return run_as_process(main)


@printable_output()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the words of the process."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads the output has seen enough
        return nobody_reads()
    except KeyboardInterrupt:
        return _failed("interrupted", INTERRUPTED, words)
    except Exception as error:
        if was_interrupted(error):
            return _failed("interrupted", INTERRUPTED, words)
        if isinstance(error, FeatureSieveError | ImportError | OSError | MemoryError):
            # 2 for what the user can fix, 1 for what failed on the way.
            is_input = isinstance(error, ValueError | ImportError | OSError)
            return _failed(_explained(error), 2 if is_input else 1, words)
        text = one_line(error, has_kind=True, longest=None)
        return _failed(f"{text} (--verbose shows where)", 1, words)
    return status


def _run(words: list[str]) -> int:
    """Run the command that the words name."""
    parser = build_parser()
    complete(parser)
    check_words(words)
    try:
        given = parser.parse_args(words)
    except SystemExit as done:  # --help and --version
        return int(done.code or 0)
    if given.command == "demo":
        return _demo(given.quiet)
    if given.command == "select":
        return _select(_select_options(given, parser))
    if rank() > 0:  # the first one does it
        return 0
    if given.command == "doctor":
        from featuresieve.cli._doctor import doctor

        return doctor()
    return _apply(given)


def _failed(message: str, status: int, words: list[str]) -> int:
    """Say in one line why nothing came of it."""
    if "--verbose" in words and status == 1:
        traceback.print_exc()
    if status == INTERRUPTED and rank() > 0:
        return status
    show_status("")  # over a line of progress
    kind = "" if status == INTERRUPTED else "error: "
    if rank() > 0:
        kind = f"rank {rank()}: {kind}"
    print(f"featuresieve: {kind}{message}", file=sys.stderr)
    return status


def _explained(error: BaseException) -> str:
    """Return the line for an error."""
    if isinstance(error, MemoryError):
        return "out of memory; --drop columns, or use fewer rows."
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.split(".")[0]
        if package in _EXTRA_OF:
            extra = _EXTRA_OF[package]
            return f"this needs {package}: pip install 'featuresieve[{extra}]'"
    return one_line(error, longest=None)


def _select_options(given: argparse.Namespace, parser: Parser) -> SelectOptions:
    """Return the options of a selection: words first, then the configuration."""
    options = _given_options(given)
    if "config" in options:
        options = _from_config(options.pop("config"), parser) | options
    if "target" not in options:
        raise UsageError("--target is required: the column to predict.")
    for name in options.keys() & {"cost", "class_weight", "type"}:
        options[name] = dict(options[name])
    return SelectOptions(**options)


def _given_options(given: argparse.Namespace) -> dict[str, Any]:
    """Return the options that were given."""
    options = {name: value for name, value in vars(given).items() if value is not None}
    del options["command"]
    return options


def _from_config(path: str, parser: Parser) -> dict[str, Any]:
    """Return the options of a configuration, checked as words are."""
    config = read_config(path)
    words = [
        f"--{name.replace('_', '-')}={value}"
        for name, value in config.items()
        if isinstance(value, str)
    ]
    try:
        check_words(words)
        checked = vars(parser.parse_args(["select", "-", *words]))
    except (UsageError, NulError) as error:
        raise UsageError(f"--config: {path}: {error}") from error
    return {
        name: checked[name] if isinstance(value, str) else value
        for name, value in config.items()
        if value is not None
    }


def _select(options: SelectOptions) -> int:
    """Select columns, print them, write files."""
    with interrupts_delayed():
        from featuresieve.cli._facts import facts, known_arguments
        from featuresieve.files import read_inputs

    check_options(options)
    if rank() > 0:
        options = options.silenced()
    _check_outputs(options)
    _check_device(options.device)
    uses_stdout = "-" in (options.out, options.json)
    screen = sys.stderr if uses_stdout else sys.stdout
    is_silent = uses_stdout and options.quiet
    say = (lambda _: None) if options.quiet else show_status
    say("reading …")
    with _table(options, say) as file:
        inputs = read_inputs(
            file,
            options.target,
            task=options.task,
            drop=options.drop,
            weight=options.weight,
            row_group=options.row_group,
            time=options.time,
        )
        known = known_arguments(options, inputs)
        say("")
        if not options.quiet:
            _show("\n".join(facts(file, inputs, options)), screen, options)
        # Only now: a wrong name is reported before torch is loaded.
        with interrupts_delayed():
            from featuresieve import AutoNFSClassifier  # noqa: F401  # and torch
            from featuresieve.cli._report import screen_text
            from featuresieve.cli._select import select

        outcome = select(inputs, known, options, say)
        say("")
        if rank() > 0:
            return 0
        for warning in outcome.warnings:
            print(f"warning: {warning}", file=sys.stderr)
        if not is_silent:
            blank = "" if options.quiet else "\n"
            _show(f"{blank}{screen_text(outcome, options)}", screen, options)
        # One by one: a full disk takes nothing else along. The table comes last.
        for option in ("json", "save", "plot", "report", "out"):
            if (name := getattr(options, option)) is not None:
                _write(option, name, outcome, file, options)
    for name in options.outputs:
        if name not in (None, "-") and not is_silent:
            print(f"wrote {name}", file=sys.stderr)
    return 0


def _show(text: str, screen: Any, options: SelectOptions) -> None:
    """Print what people read; files are written also if nobody does."""
    try:
        print(text, file=screen, flush=True)
    except BrokenPipeError:
        if not any(options.outputs) or screen is sys.stderr:
            raise
        nobody_reads()


@contextmanager
def _table(options: SelectOptions, say: Callable[[str], None]) -> Iterator[Any]:
    """Read the table, or as much of it as fits into memory."""
    from featuresieve.files import find_large, read_file, read_sample

    meanings: Any = {options.target: "label"}
    large = find_large(options.file, options.memory)
    if large is None:
        with read_file(
            options.file, meanings=meanings, types=options.type, **options.reading
        ) as file:
            yield file
        return
    large.check(options.reading, options.outputs)
    yield read_sample(
        large,
        options.target,
        task=options.task,
        seed=options.seed,
        meanings=meanings,
        types=options.type,
        missing=options.missing,
        say=say,
    )


def _check_outputs(options: SelectOptions) -> None:
    """Refuse files that cannot be written before anything is computed."""
    from featuresieve.files import check_output, check_table_output

    if options.out == "-" and options.json == "-":
        raise UsageError("--out and --json cannot both be standard output.")
    if options.out is not None:
        check_table_output("--out", options.out)
    for option, name, endings in (
        ("--json", options.json, ()),
        ("--save", options.save, ()),
        ("--plot", options.plot, (".png", ".svg", ".pdf")),
        ("--report", options.report, (".html", ".htm")),
    ):
        if name == "-" and option != "--json":
            raise UsageError(f"{option} must name a file, got '-'.")
        if name is not None:
            check_output(option, name, endings)
    with interrupts_delayed():  # a package that is not there is said now
        if options.plot is not None:
            import matplotlib  # noqa: F401
        if options.report is not None:
            import jinja2  # noqa: F401
    paths = [os.path.realpath(n) for n in options.outputs if n not in (None, "-")]
    if len(set(paths)) < len(paths):
        raise UsageError("two options name the same file to write.")
    if os.path.realpath(options.file) in paths:
        raise UsageError(f"{options.file} is read, and must not be written.")


def _check_device(name: str) -> None:
    """Refuse a device that is not there; torch is loaded only if that is in doubt."""
    if name in ("auto", "cpu"):
        return
    with interrupts_delayed():
        from featuresieve.engine import resolve_device

    try:
        resolve_device(name)
    except ValueError:
        message = f"--device: there is no {name} here; take auto or cpu."
        raise UsageError(message) from None


def _write(
    option: str, name: str, outcome: Any, file: Any, options: SelectOptions
) -> None:
    """Write one of the files that were asked for."""
    from featuresieve.cli._report import draw, json_text, write_page
    from featuresieve.files import AtomicFiles, full_disk_explained, write_columns

    with full_disk_explained(name), AtomicFiles() as drafts:
        if option == "json":
            with drafts.open(name) as out:
                out.write(json_text(outcome, file, options).encode())
        elif option == "save":
            outcome.selector.save(drafts.path(name))
        elif option == "plot":
            draw(outcome.selector, drafts.path(name))
        elif option == "report":
            write_page(outcome, file, options, drafts.path(name))
        else:
            wanted = {*outcome.kept, outcome.inputs.target.name}
            names = enumerate(file.table.column_names)
            write_columns(file, [j for j, n in names if n in wanted], name, drafts)


def _apply(given: argparse.Namespace) -> int:
    """Apply a saved selection to a file."""
    with interrupts_delayed():
        from featuresieve.cli._apply import apply

    for line in apply(ApplyOptions(**_given_options(given))):
        print(line, file=sys.stderr)
    return 0


def _demo(is_quiet: bool) -> int:
    """Select columns of a bundled table."""
    with interrupts_delayed():
        from featuresieve.cli._demo import demo_file

    with demo_file() as name:
        command = f"featuresieve select {name.name} --target diagnosis --test 0.3"
        if rank() == 0:
            print(f"$ {command}", flush=True)
        return _select(SelectOptions(str(name), "diagnosis", test=0.3, quiet=is_quiet))
