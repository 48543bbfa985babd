"""Print constraints with the lowest versions that pyproject.toml allows.

`make test-lowest` installs them, so that the lower bounds are true and not only said.
All else, the tools for tests among it, has the version of constraints.txt, except what
does not fit beside versions this old.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Extras that users install, beside the dependencies.
EXTRAS = ("cli", "completion", "excel", "onnx", "plot", "lab", "cluster")
# "name>=1.2" with an environment marker after it, perhaps.
LOWER_BOUND = re.compile(r"^([A-Za-z0-9_.-]+)>=([0-9.]+)\s*(;.*)?$")
# Instead of what constraints.txt has.
BESIDE_THEM = (
    "dask==2025.1.0",  # of one release with distributed, always
    "pyparsing==3.2.5",  # matplotlib 3.8 calls functions that 3.3 deprecates
    "pytest==8.4.2",  # scikit-learn 1.6 parametrizes by generators: deprecated in 9.1
)


def lowest(requirement: str) -> str:
    """Return a constraint to the lowest version that a requirement allows."""
    match = LOWER_BOUND.match(requirement)
    if match is None:
        raise ValueError(f"{requirement!r} should be of the form name>=version.")
    name, version, marker = match.groups()
    return f"{name}=={version}{marker or ''}"


def lowest_versions() -> list[str]:
    """Return one constraint for each distribution that pyproject.toml names."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    optional = project["optional-dependencies"]
    required = {*project["dependencies"]}.union(*(optional[name] for name in EXTRAS))
    return [lowest(requirement) for requirement in required]


def constraints() -> list[str]:
    """Return one constraint for each distribution of the environment."""
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    lines = [line for line in pinned if line and not line.startswith("#")]
    by_name = {
        line.partition("==")[0].lower(): line
        for line in [*lines, *BESIDE_THEM, *lowest_versions()]
    }
    return sorted(by_name.values())


if __name__ == "__main__":
    print("\n".join(constraints()))  # noqa: T201
