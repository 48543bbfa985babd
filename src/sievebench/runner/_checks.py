"""Whether cells can be run at all, asked before any is."""

from collections.abc import Iterable

from sievebench.run_spec import RunSpec


def check_cells(specs: Iterable[RunSpec], *, is_elsewhere: bool = False) -> None:
    """Raise an error if a cell names what does not exist, or cannot be run here."""
    # Here, as both import torch: a process that only reads records need not wait.
    from featuresieve.engine import resolve_device
    from sievebench.pipeline import check_components, check_table

    for spec in specs:
        check_components(spec)
        if not is_elsewhere:
            check_table(spec)
            resolve_device(spec.device, needs_float64=True)
