"""Words completed in a shell, by argcomplete: an extra."""

import argparse
import os
from contextlib import suppress
from typing import Any

SHELLS = ("bash", "zsh", "fish")
_COMMANDS = ["featuresieve", "sievebench"]


class PrintCompletion(argparse.Action):
    """The option that prints what a shell has to run, and ends the command."""

    def __call__(self, parser: argparse.ArgumentParser, _: Any, *words: Any) -> None:
        """Print the script for a shell."""
        from argcomplete.shell_integration import shellcode

        print(shellcode(_COMMANDS, shell=words[0]))
        parser.exit()


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks for completions, and end; else do nothing."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    with suppress(ImportError):
        import argcomplete

        argcomplete.autocomplete(parser)
