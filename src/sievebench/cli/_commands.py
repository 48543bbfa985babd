"""What all commands share: how one is added, and how one refuses."""

import argparse
import sys
from collections.abc import Callable
from typing import Any


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], **texts: str
) -> argparse.ArgumentParser:
    """Add a command, which `run` runs; its epilog is shown as it is written."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, formatter_class=argparse.RawDescriptionHelpFormatter, **texts
    )
    parser.set_defaults(run=run)
    return parser


def refuse(error: object) -> int:
    """Print what is wrong and return the exit status."""
    print(f"sievebench: error: {error}", file=sys.stderr)
    return 2
