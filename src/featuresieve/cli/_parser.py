"""The words of the command line, and their help."""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from featuresieve import __version__
from featuresieve.cli._completion import SHELLS, PrintCompletion
from featuresieve.cli._options import UsageError
from featuresieve.cli._words import (
    as_balance,
    as_class_weight,
    as_count,
    as_delimiter,
    as_device,
    as_encoding,
    as_fraction,
    as_jobs,
    as_lines,
    as_memory,
    as_priced,
    as_seconds,
    as_seed,
    as_typed,
)
from featuresieve.errors import did_you_mean, listed

_TOP_EXAMPLES = """\
examples:
  featuresieve demo
  featuresieve select churn.csv --target churned --out churn_small.csv
  featuresieve apply churn.sieve new_customers.csv --predict predictions.csv

featuresieve select --help has the options.
"""
_SELECT_EXAMPLES = """\
examples:
  featuresieve select churn.csv --target churned
  featuresieve select churn.csv --target churned --drop 'customer id' --out small.csv
  featuresieve select houses.parquet --target price --max-features 10 --plot houses.png
  featuresieve select churn.csv --target churned --cost 'credit report=5' --keep age
  featuresieve select churn.csv --target churned --report churn.html
  featuresieve select churn.csv --target churned --save churn.sieve --json churn.json
  featuresieve select 'events/*.parquet' --target bought --save bought.sieve
  zcat big.csv.gz | featuresieve select - --target y --max-time 300 --json -

FILE is CSV, TSV (delimiter, quotes, decimal comma and encoding are found; .gz, .bz2,
.xz, .zip, .zst too), JSON lines, Parquet, Feather, Arrow, or with the extra excel a
spreadsheet. Names are as in the header; quote those with spaces. With * and ? a name is
a pattern.

Parquet may be a folder (with partitions such as year=2024) or a pattern, in quotes.
Where it needs more than half of the memory, or than --memory, it is read batch by
batch, and the columns are selected on a random sample of the rows, with all rows of
rare classes; the output says so.

The task is classification if the target holds text or truth values, or whole numbers of
which there are at most 20 (and three rows for each, or only two of them); else it is
regression.

A fifth of the rows (at most 20,000) is set apart before the selection and only used for
the score; --test 0 selects from all rows and gives no score.

The exit status is 0, or 2 for arguments and files that do not fit, 1 for a run that
failed, 130 after Ctrl-C. Files are written whole or not at all.
"""
_APPLY_EXAMPLES = """\
examples:
  featuresieve apply churn.sieve new.csv > reduced.csv
  featuresieve apply churn.sieve new.csv --out reduced.parquet --also 'customer id'
  featuresieve apply churn.sieve new.csv --predict predictions.csv
  featuresieve apply bought.sieve 'events/*.parquet' --out kept.parquet

Columns that were not kept need not be there. Without --out and --predict, the kept
columns go to standard output.
"""
# Options that take several words, and may be repeated.
_MANY: dict[str, Any] = {"action": "extend", "nargs": "+"}


class Parser(argparse.ArgumentParser):
    """A parser that raises what it has to complain about, with the nearest word.

    Options are written out: a short form may become that of another option.
    """

    def __init__(self, **named: Any) -> None:
        super().__init__(**named | {"allow_abbrev": False})
        self._commands: Any = None

    def add_commands(self) -> Any:
        """Return what commands are added to."""
        self._commands = self.add_subparsers(dest="command", metavar="COMMAND")
        return self._commands

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read the words; none is left over."""
        words = sys.argv[1:] if args is None else list(args)
        self._check_options(words)
        found, rest = super().parse_known_args(words, namespace)
        if rest and rest[0].startswith("-"):
            self.error(f"there is no option {rest[0]}")
        if rest:
            advice = "names with spaces and patterns go in quotes"
            self.error(f"{rest[0]!r} is one word too many; {advice}")
        if self._commands is not None and found.command is None:
            self.error(f"say which command: {listed(list(self._commands.choices))}")
        return found, rest

    def _check_options(self, words: Sequence[str]) -> None:
        """Refuse an option that is none, before one that is missing is asked for."""
        commands = self._commands.choices.values() if self._commands else ()
        of_commands = {option for parser in commands for option in _options(parser)}
        for word in words:
            if word == "--" or (self._commands and not word.startswith("-")):
                return  # values; or a command, which knows its own
            name, known = word.partition("=")[0], _options(self)
            if name in of_commands - known:
                self.error(f"{name} stands after the command")
            if name.startswith("--") and name not in known and " " not in name:
                hint = did_you_mean(name, known | of_commands, "")
                self.error(f"there is no option {name}{hint}")

    def error(self, message: str) -> NoReturn:
        """Raise the complaint."""
        wrong = re.match(r"argument COMMAND: invalid choice: '(.*?)'", message)
        if wrong:
            hint = did_you_mean(wrong[1], self._commands.choices)
            message = f"there is no command {wrong[1]!r}{hint}"
        if message.endswith("required: FILE"):
            message += ", which stands before the options"
        raise UsageError(f"{message} (see {self.prog} --help)")


def _options(parser: argparse.ArgumentParser) -> set[str]:
    """Return the options of a parser that are words."""
    return {"--help", *re.findall(r"--[\w-]+", parser.format_usage())}


def build_parser() -> Parser:
    """Build the parser of all commands; options that are not given are None."""
    parser = Parser(
        prog="featuresieve",
        description="Which columns of a table matter, and how many?",
        epilog=_TOP_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "--completion",
        action=PrintCompletion,
        choices=SHELLS,
        help='print what makes a shell complete words: eval "$(featuresieve '
        '--completion bash)" in its start-up file (fish: | source)',
    )
    commands = parser.add_commands()

    def command(name: str, text: str, epilog: str | None = None) -> Any:
        return commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    select = command("select", "select columns of a table in a file", _SELECT_EXAMPLES)
    _add_select(select)
    text = "take the kept columns of another file, and predict its rows"
    _add_apply(command("apply", text, _APPLY_EXAMPLES))
    demo = command("demo", "select columns of a bundled table, noise among them")
    demo.add_argument("--quiet", action="store_true", help="no progress")
    command("doctor", "print versions, extras, devices, and try a small fit on each")
    return parser


def _add_select(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `featuresieve select`."""
    add = parser.add_argument
    text = "the table; - is standard input; a folder or 'pattern' is Parquet"
    add("file", metavar="FILE", help=text)
    add("--target", metavar="COLUMN", help="the column to predict (required)")
    tasks = ("auto", "classification", "regression")
    add("--task", choices=tasks, help="what the target stands for (auto)")
    add = parser.add_argument_group("what you know about the columns").add_argument
    add("--keep", **_MANY, metavar="NAME", help="always keep these")
    add("--drop", **_MANY, metavar="NAME", help="leave these out")
    text = "keep or drop these together; may be repeated"
    add("--group", action="append", nargs="+", metavar="NAME", help=text)
    text = "what a column costs in the penalty (1)"
    add("--cost", **_MANY, type=as_priced, metavar="NAME=NUMBER", help=text)
    text = "weights of classes, or the word balanced"
    label = "LABEL=NUMBER"
    add("--class-weight", **_MANY, type=as_class_weight, metavar=label, help=text)
    add("--weight", metavar="COLUMN", help="the weight of each row")
    text = "rows with the same value here belong together, and are never separated"
    add("--row-group", metavar="COLUMN", help=text)
    text = "the time of each row: what is learnt is judged on later rows"
    add("--time", metavar="COLUMN", help=text)
    _add_how(parser.add_argument_group("how to select"))
    reading = parser.add_argument_group("how the file is written")
    add_reading(reading)
    add_types(reading)
    _add_outputs(parser.add_argument_group("what to write"))


def _add_how(group: Any) -> None:
    """Add the options of the search."""
    add = group.add_argument
    text = "auto (default), price (quicker, less careful) or a number: more of it, "
    add("--balance", type=as_balance, help=f"{text}fewer columns")
    text = "as few as predict as well (minimal), or all that carry information"
    add("--goal", choices=("minimal", "all_relevant"), help=text)
    text = "trees: more columns, where trees are shown to predict better with them"
    add("--judge", choices=("networks", "trees"), help=text)
    add("--max-features", type=as_count, metavar="N", help="keep at most N columns")
    add("--n-features", type=as_count, metavar="N", help="keep exactly N columns")
    text = "rows set apart for the score (0.2; 0 for none)"
    add("--test", type=as_fraction, metavar="FRACTION", help=text)
    add("--seed", type=as_seed, metavar="N", help="decides all that is random (0)")
    add("--device", type=as_device, help="auto (default), cpu, cuda or mps")
    add("--jobs", type=as_jobs, metavar="N", help="threads that train (all cores)")
    text = "Parquet that needs more is read as a sample (half of what there is)"
    add("--memory", type=as_memory, metavar="SIZE", help=text)
    text = "shorten the selection to about so long"
    add("--max-time", type=as_seconds, metavar="SECONDS", help=text)
    add("--members", type=as_count, metavar="N", help="networks that vote (by size)")
    add("--epochs", type=as_count, metavar="N", help="length of training (by size)")
    text = "read options from a file; those given here win"
    add("--config", metavar="FILE.toml", help=text)


def add_reading(group: Any) -> None:
    """Add the options that say how a file is written to a parser or group."""
    add = group.add_argument
    add("--encoding", type=as_encoding, help="such as latin-1 or cp1251 (detected)")
    add("--delimiter", type=as_delimiter, help="one character, or tab (detected)")
    text = "such as k.A.: a missing value, beside NA, null, ? and the like"
    add("--missing", **_MANY, metavar="TEXT", help=text)
    add("--skip", type=as_lines, metavar="LINES", help="lines before the header (0)")
    text = "the sheet of a spreadsheet (the first that holds anything)"
    add("--sheet", metavar="NAME", help=text)


def add_types(group: Any) -> None:
    """Add the option that says what columns hold."""
    text = "read a column as number, category, date or text (detected)"
    group.add_argument("--type", **_MANY, type=as_typed, metavar="NAME=TYPE", help=text)


def _add_outputs(group: Any) -> None:
    """Add the options that name files, and how much is said."""
    add = group.add_argument
    add("--out", metavar="FILE", help="the kept columns and the target; - for text")
    add("--json", metavar="FILE", help="the result as JSON; - is standard output")
    add("--save", metavar="FILE", help="the fitted selector, for featuresieve apply")
    add("--plot", metavar="FILE", help="a picture: .png, .svg or .pdf")
    add("--report", metavar="FILE", help="a page about the selection: .html")
    flag: dict[str, Any] = {"action": "store_const", "const": True}
    add("--quiet", **flag, help="no progress, and only the result")
    add("--verbose", **flag, help="also columns left out, candidates and tracebacks")


def _add_apply(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `featuresieve apply`."""
    add = parser.add_argument
    add("saved", metavar="SAVED", help="what featuresieve select --save wrote")
    text = "the table; - is standard input; a folder or 'pattern' is Parquet"
    add("file", metavar="FILE", help=text)
    add("--out", metavar="FILE", help="the kept columns")
    add("--also", **_MANY, metavar="NAME", help="copy these columns too")
    add("--predict", metavar="FILE", help="prediction for each row")
    text = "Parquet that needs more is read in parts (half of what there is)"
    add("--memory", type=as_memory, metavar="SIZE", help=text)
    add_reading(parser)
