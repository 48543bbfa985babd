"""``python -m featuresieve``: the command line."""

import sys

from featuresieve.cli import console

if __name__ == "__main__":
    sys.exit(console())
