"""The command ``featuresieve``: words become files, an estimator, and text.

May import: errors, process, files, engine (is there such a device?), plotting, and the
public names.
"""

from featuresieve.cli._completion import complete
from featuresieve.cli._main import console, main
from featuresieve.cli._options import UsageError
from featuresieve.cli._parser import Parser, add_reading, add_types
from featuresieve.cli._words import as_seed, number, plain_number, whole_number
