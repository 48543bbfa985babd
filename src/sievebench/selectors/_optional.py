"""Packages that only some selectors need."""

from importlib import import_module
from types import ModuleType


def require(module: str, selector: str) -> ModuleType:
    """Import a package of the extra `lab`, or say what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(
            f"{selector} needs the package {package!r}, which could not be imported "
            f"({error}). Install it with: pip install 'featuresieve[lab]'"
        ) from error
