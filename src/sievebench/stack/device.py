"""Where a neural selector trains."""

import torch


def resolve_device(device: str | torch.device) -> torch.device:
    """Return the device a name stands for; "auto" is CUDA if it is there, else CPU.

    Parameters
    ----------
    device : str or torch.device
        "auto" or the name of a torch device.

    Returns
    -------
    torch.device

    Raises
    ------
    ValueError
        If the name is not a device, or the device is not there.
    """
    is_cuda_there = torch.cuda.is_available()
    if device == "auto":
        return torch.device("cuda" if is_cuda_there else "cpu")
    try:
        resolved = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f"device must be 'auto' or the name of a torch device, got {device!r}."
        ) from error
    if resolved.type != "cpu" and not (resolved.type == "cuda" and is_cuda_there):
        raise ValueError(
            f"device={device!r} is not available here; use 'auto' or 'cpu'."
        )
    return resolved
