"""A table in memory becomes one float32 matrix in which a feature owns columns.

Comes in: X as array, data frame, sparse matrix, tensor or lists.
Goes out: `Table`, `TableEncoder`, columns in the form they came in.
May import: errors. No torch.
"""

from featuresieve.tables._column import MISSING_NAMES, Level, shortened
from featuresieve.tables._feature_encoder import (
    DATE_PARTS,
    NUMBER_PARTS,
    CategoryEncoder,
    FeatureEncoder,
    NumberEncoder,
)
from featuresieve.tables._number_blocks import blocks_of
from featuresieve.tables._returned_columns import (
    are_same_labels,
    as_library,
    plain_array,
    put_columns,
    take_columns,
    with_known_names,
)
from featuresieve.tables._scaling import (
    ColumnScaler,
    Float32Array,
    FloatArray,
    IndexArray,
    Scaling,
    means_and_stds,
    scaled_indicator,
)
from featuresieve.tables._table import PartialTable, Table, read_table
from featuresieve.tables._table_encoder import NUMERIC_KINDS, TableEncoder
from featuresieve.tables._threads import on_threads, shares_of
