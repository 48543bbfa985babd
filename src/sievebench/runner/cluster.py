"""Cells on the machines of a Dask cluster, through joblib."""

import logging
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import joblib

from sievebench.runner.node import Order, carry_out

_CONNECT_SECONDS = 10


class ClusterError(Exception):
    """A cluster cannot be used; the message says why."""


class Cluster:
    """A connection to a Dask scheduler, such as that of ``tcp://host:8786``."""

    def __init__(self, address: str) -> None:
        try:
            distributed: Any = import_module("distributed")  # an extra, and untyped
        except ImportError as error:
            raise ClusterError(
                "a cluster needs Dask: pip install 'featuresieve[cluster]', here and "
                "on its machines."
            ) from error
        for name in ("distributed", "distributed.client", "tornado.application"):
            # What they say of each task that is let go is no more than our one error.
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = distributed.Client(address, timeout=_CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise ClusterError(f"no scheduler at {address}: {error}") from error
        self.n_workers = sum(self._client.nthreads().values())
        if self.n_workers == 0:
            self.close()
            raise ClusterError(f"the scheduler at {address} has no workers.")

    def close(self) -> None:
        """Let go of the cluster; cells that run there end by themselves."""
        self._client.close()

    def carry_out(self, orders: Sequence[Order]) -> Iterator[tuple[str, float]]:
        """Yield what `carry_out` returns for each cell, as they end."""
        with joblib.parallel_config("dask", client=self._client):
            try:
                yield from carry_out_with_joblib(orders)
            except Exception as error:  # of Dask, or of other code on its machines
                raise ClusterError(
                    "the cluster could not go on; what is finished is kept, the same "
                    "command goes on. Do all its machines have this version? "
                    f"{type(error).__name__}: {error}"
                ) from error


def carry_out_with_joblib(orders: Sequence[Order]) -> Iterator[tuple[str, float]]:
    """Yield what `carry_out` returns for each cell, with joblib's backend in force."""
    parallel = joblib.Parallel(
        return_as="generator_unordered", batch_size=1, pre_dispatch="all"
    )
    yield from parallel(joblib.delayed(carry_out)(order) for order in orders)
