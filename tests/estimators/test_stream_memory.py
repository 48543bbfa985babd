"""A stream is read and fitted within its memory, whatever the number of its rows."""

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

MIB = 2**20
N_COLUMNS, GROUP_ROWS = 50, 25_000
# A fit of a few rows first: what is loaded and started then is no part of it.
SCRIPT = """
import resource, sys, warnings
from featuresieve import AutoNFSClassifier, FeatureSieveWarning, Stream, Training
warnings.simplefilter("ignore", FeatureSieveWarning)
peaks = []
for path in sys.argv[1:]:
    selector = AutoNFSClassifier(
        "price", random_state=0, n_jobs=1, training=Training(n_epochs=1)
    )
    selector.fit(Stream(path, memory="60 MiB"), "y")
    len(selector.predict(path))
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
print(peaks[1] - peaks[0])
"""


def write(path, n_groups):
    rng = np.random.default_rng(0)
    names = [*(f"x{j}" for j in range(N_COLUMNS)), "y"]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with parquet.ParquetWriter(path, schema, compression="none") as writer:
        for _ in range(n_groups):
            X = rng.standard_normal((N_COLUMNS, GROUP_ROWS))
            y = (X[0] + X[1] > 0).astype(float)
            writer.write_table(pa.table([*X, y], schema=schema))
    return path.stat().st_size


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts otherwise")
def test_a_fit_of_many_rows_takes_the_memory_that_is_stated(tmp_path):
    write(tmp_path / "small", 1)
    n_bytes = write(tmp_path / "large", 25)
    assert n_bytes > 230 * MIB
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path / "small", tmp_path / "large"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    # The memory, and a few batches that are read ahead.
    assert int(done.stdout) < 60 * MIB + 100 * MIB
