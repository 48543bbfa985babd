"""``python -m sievebench``: the command line."""

import sys

from sievebench.cli import main

if __name__ == "__main__":
    sys.exit(main())
