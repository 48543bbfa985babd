"""Stage 1: a name becomes a table, a table becomes three parts.

What is known of each data set stands in ``catalog.toml``. Nothing here knows of added
columns, selectors or predictors.
"""

from sievebench.data._catalog import (
    CatalogEntry,
    Metric,
    Task,
    catalog,
    find_entry,
    made_sizes,
)
from sievebench.data._dataset import Dataset
from sievebench.data._exceptions import (
    CatalogError,
    CorruptDataError,
    DataError,
    MissingDataError,
    OfflineError,
    SmallDataError,
    UnknownDatasetError,
)
from sievebench.data._folders import data_folder
from sievebench.data._loading import fetch, find_place, load
from sievebench.data._split import Part, Split, split

__all__ = [
    "CatalogEntry",
    "CatalogError",
    "CorruptDataError",
    "DataError",
    "Dataset",
    "Metric",
    "MissingDataError",
    "OfflineError",
    "Part",
    "SmallDataError",
    "Split",
    "Task",
    "UnknownDatasetError",
    "catalog",
    "data_folder",
    "fetch",
    "find_entry",
    "find_place",
    "load",
    "made_sizes",
    "split",
]
