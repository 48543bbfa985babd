"""Print constraints with the lowest versions that pyproject.toml allows.

`make test-lowest` installs them, so that the lower bounds are true and not only said.
Bounds of the tools for development are left out: nobody who uses the library has them.
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
# Extras that users install, beside the dependencies.
EXTRAS = ("cli", "onnx", "plot", "lab")
# "name>=1.2" with an environment marker after it, perhaps.
LOWER_BOUND = re.compile(r"^([A-Za-z0-9_.-]+)>=([0-9.]+)\s*(;.*)?$")


def lowest(requirement: str) -> str:
    """Return a constraint to the lowest version that a requirement allows."""
    match = LOWER_BOUND.match(requirement)
    if match is None:
        raise ValueError(f"{requirement!r} should be of the form name>=version.")
    name, version, marker = match.groups()
    return f"{name}=={version}{marker or ''}"


def constraints() -> list[str]:
    """Return one constraint for each distribution that users install."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    required = {*project["dependencies"]}.union(*(optional[name] for name in EXTRAS))
    return sorted(lowest(requirement) for requirement in required)


if __name__ == "__main__":
    print("\n".join(constraints()))  # noqa: T201
