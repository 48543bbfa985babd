"""Stage 1: a name becomes a table, a table becomes three parts.

What is known of each data set stands in ``catalog.toml``. Nothing here knows of added
columns, selectors or predictors.
"""

from sievebench.data._catalog import SOURCE_KEYS as SOURCE_KEYS
from sievebench.data._catalog import CatalogEntry as CatalogEntry
from sievebench.data._catalog import CatalogError as CatalogError
from sievebench.data._catalog import CorruptDataError as CorruptDataError
from sievebench.data._catalog import DataError as DataError
from sievebench.data._catalog import Metric as Metric
from sievebench.data._catalog import MissingDataError as MissingDataError
from sievebench.data._catalog import OfflineError as OfflineError
from sievebench.data._catalog import SmallDataError as SmallDataError
from sievebench.data._catalog import Task as Task
from sievebench.data._catalog import UnknownDatasetError as UnknownDatasetError
from sievebench.data._catalog import catalog as catalog
from sievebench.data._catalog import data_folder as data_folder
from sievebench.data._catalog import find_entry as find_entry
from sievebench.data._catalog import read_catalog as read_catalog
from sievebench.data._dataset import Dataset as Dataset
from sievebench.data._dataset import Matrix as Matrix
from sievebench.data._dataset import Part as Part
from sievebench.data._dataset import Split as Split
from sievebench.data._dataset import fit_scaler as fit_scaler
from sievebench.data._dataset import split as split
from sievebench.data._download import download as download
from sievebench.data._sources import SOURCES as SOURCES
from sievebench.data._sources import bundled_table as bundled_table
from sievebench.data._table_files import RawTable as RawTable
from sievebench.data._table_files import file_md5 as file_md5
from sievebench.data._table_files import write_table as write_table
from sievebench.data.loading import fetch as fetch
from sievebench.data.loading import find_file as find_file
from sievebench.data.loading import load as load
