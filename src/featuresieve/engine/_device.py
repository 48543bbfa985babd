"""Where a stack is trained."""

import torch


def resolve_device(device: str | torch.device) -> torch.device:
    """Return the device a name stands for; "auto" is CUDA, then MPS, then the CPU.

    Raises
    ------
    ValueError
        If the name is not a device, or the device is not there.
    """
    if isinstance(device, str) and device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        if torch.backends.mps.is_available():
            return torch.device("mps")
        return torch.device("cpu")
    try:
        resolved = torch.device(device)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ValueError(
            f"device must be 'auto' or the name of a torch device, got {device!r}."
        ) from error
    is_there = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if not is_there.get(resolved.type, False):
        raise ValueError(
            f"device={device!r} is not available here; use 'auto' or 'cpu'."
        )
    return resolved
