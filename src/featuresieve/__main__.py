"""``python -m featuresieve``: the command line."""

import sys

from featuresieve.cli import main

if __name__ == "__main__":
    sys.exit(main())
