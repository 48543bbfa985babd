"""``python -m sievebench``: the command line."""

import sys

from sievebench.cli import console

if __name__ == "__main__":
    sys.exit(console())
