"""Imports point one way: between the rooms of the library, from laboratory to library.

The rules are data (the two tables below). `violations` applies them to the text of one
module, so that the rules are themselves tested, on planted violations.
"""

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import featuresieve

SRC = Path(__file__).parents[1] / "src"

# The library: each room, and the rooms it may import, by their doors. All may import
# "errors" and the version; "featuresieve" stands for the public names.
BELOW_ESTIMATORS = {"process", "tables", "files", "engine", "problem", "search"}
BELOW_ESTIMATORS |= {"storage", "monitoring"}
ROOM_MAY_IMPORT = {
    "errors": set(),
    "process": set(),
    "tables": set(),
    "files": set(),
    "engine": set(),
    "problem": {"tables"},
    "search": {"problem", "engine"},
    "storage": {"tables", "problem", "engine", "search", "files"},
    "monitoring": {"process", "problem", "engine", "storage", "files"},
    "estimators": BELOW_ESTIMATORS,
    "__init__": {"estimators"},
    "plotting": {"featuresieve"},
    "cli": {"featuresieve", "process", "files", "engine", "plotting"},
    "__main__": {"cli"},
}
# Doors of the library that the laboratory may use: a stable inner interface.
OPEN_TO_LABORATORY = {"errors", "process", "engine", "files", "plotting", "cli"}

# The laboratory: each part, and the parts it may import. "featuresieve" stands for the
# public names of the library and the doors above.
STAGES = {"data", "corruption", "selectors", "downstream", "store"}
LABORATORY_MAY_IMPORT = {
    "__init__": set(),
    "labels": set(),
    "search_space": set(),
    "checks": {"featuresieve"},
    "stack": {"featuresieve"},
    "environment": {"featuresieve"},
    "run_spec": set(),
    "toml_keys": {"featuresieve"},
    "experiment": {"run_spec", "toml_keys", "featuresieve"},
    "data": {"toml_keys", "featuresieve"},
    "corruption": {"data"},
    "selectors": {"search_space", "stack", "data", "checks", "featuresieve"},
    "compare": {"labels", "selectors", "featuresieve"},
    "downstream": {"search_space", "stack", "data", "checks", "featuresieve"},
    "store": {"run_spec", "environment", "featuresieve"},
    "tuning": {"search_space"},
    "analysis": {"labels", "run_spec"},
    "report": {"store", "analysis", "labels", "run_spec", "featuresieve"},
    "pipeline": STAGES
    | {"run_spec", "search_space", "tuning", "stack", "featuresieve"},
    "runner": {"pipeline", "run_spec", "experiment", "store", "environment", "tuning"}
    | {"stack", "featuresieve"},
    "cli": STAGES
    | {"labels", "compare", "run_spec", "runner", "experiment", "analysis", "report"}
    | {"featuresieve"},
    "__main__": {"cli"},
}

MODULES = {
    ".".join(path.relative_to(SRC).with_suffix("").parts): path
    for path in sorted(SRC.rglob("*.py"))
}


def imported_names(text):
    """Yield (module, name) of every import in `text`; name is None for `import a.b`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            yield from ((node.module, alias.name) for alias in node.names)


def part_of(module, name):
    """Return which part of its package the import of `name` from `module` reaches."""
    package, _, inner = module.partition(".")
    if inner:
        return inner.split(".")[0]
    is_module = name and f"{package}.{name}" in {
        known.removesuffix(".__init__") for known in MODULES
    }
    return name if is_module else "__init__"


def is_door(module):
    """Tell whether a module is a room itself, not a file in it."""
    return module.count(".") <= 1


def library_violation(part, module, name):
    if module.split(".")[0] == "sievebench":
        return "the library knows nothing of the laboratory"
    room = part_of(module, name)
    if room == part:  # inside a room, files import files
        return None
    if name == "__version__":
        return None
    if room not in ROOM_MAY_IMPORT:
        return f"{room} has no row in ROOM_MAY_IMPORT"
    allowed = ROOM_MAY_IMPORT[part] | {"errors"}
    if room not in allowed and not (room == "__init__" and "featuresieve" in allowed):
        return f"{part} may not import {room}"
    if not is_door(module):
        return f"{module} is not the door of {room}"
    return None


def laboratory_violation(part, module, name):
    allowed = LABORATORY_MAY_IMPORT[part]
    target = part_of(module, name)
    if module.split(".")[0] == "sievebench":
        if target in allowed | {part}:
            return None
        return f"{target} is not among the parts that {part} may import"
    if "featuresieve" not in allowed:
        return f"{part} may not use the library"
    is_public = target == "__init__" and (name is None or name in featuresieve.__all__)
    if is_public or (target in OPEN_TO_LABORATORY and is_door(module)):
        return None
    return "the laboratory uses public names and open doors of the library only"


def violations(importer, text):
    """Return one sentence for each import in `text` that breaks a rule."""
    package, _, inner = importer.partition(".")
    part = inner.split(".")[0]
    known, find, table = {
        "featuresieve": (ROOM_MAY_IMPORT, library_violation, "ROOM_MAY_IMPORT"),
        "sievebench": (
            LABORATORY_MAY_IMPORT,
            laboratory_violation,
            "LABORATORY_MAY_IMPORT",
        ),
    }[package]
    if part not in known:
        return [f"{importer}: give {part} a row in {table} (test_architecture.py)"]
    sentences = []
    for module, name in imported_names(text):
        if module.split(".")[0] not in ("featuresieve", "sievebench"):
            continue
        reason = find(part, module, name)
        if reason:
            imported = f"{module}.{name}" if name else module
            sentences.append(f"{importer} imports {imported}: {reason}")
    return sentences


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_only_what_its_room_may(module):
    assert violations(module, MODULES[module].read_text(encoding="utf-8")) == []


def test_rooms_are_few_and_form_no_cycle():
    paths = (SRC / "featuresieve").iterdir()
    entries = [p for p in paths if p.is_file() or (p / "__init__.py").is_file()]
    assert len(entries) <= 15
    left = {
        room: allowed - {"featuresieve"} for room, allowed in ROOM_MAY_IMPORT.items()
    }
    while left:
        free = {room for room, needed in left.items() if not needed & left.keys()}
        assert free, f"these need each other: {sorted(left)}"
        left = {room: needed for room, needed in left.items() if room not in free}


@pytest.mark.parametrize(
    "door",
    sorted((SRC / "featuresieve").glob("*/__init__.py")),
    ids=lambda p: p.parent.name,
)
def test_door_of_a_room_says_what_it_may_import(door):
    text = ast.get_docstring(ast.parse(door.read_text(encoding="utf-8")))
    room = door.parent.name
    said = text.split("May import:")[1]
    for other in ROOM_MAY_IMPORT[room] - {"featuresieve"}:
        assert other in said or "every room but" in said


TABLE, TRAINER = "featuresieve.tables._table", "featuresieve.engine._trainer"
AUTONFS = "sievebench.selectors.autonfs"
ESTIMATOR = "from featuresieve.estimators import AutoNFSClassifier"
INNER = "from featuresieve.engine._trainer import StackTrainer"
LATE = "def late():\n    import featuresieve.cli"
FIT = "from sievebench.selectors import fit"


@pytest.mark.parametrize(
    ("importer", "text", "reason"),
    [
        (TABLE, "import sievebench", "nothing of the laboratory"),
        (TRAINER, ESTIMATOR, "engine may not import estimators"),
        (TABLE, "from featuresieve import load", "tables may not import __init__"),
        (TABLE, LATE, "tables may not import cli"),
        ("featuresieve.search._search", INNER, "not the door of engine"),
        (TABLE, "from featuresieve.drawer import pull", "drawer has no row"),
        ("featuresieve.drawer", "", "give drawer a row in ROOM_MAY_IMPORT"),
        ("sievebench.drawer", "", "give drawer a row in LABORATORY_MAY_IMPORT"),
        ("sievebench.data.catalog", FIT, "not among the parts that data may import"),
        ("sievebench.labels", "import featuresieve", "labels may not use the library"),
        (AUTONFS, ESTIMATOR, "open doors"),
        (AUTONFS, INNER, "open doors"),
        (AUTONFS, "from featuresieve import _drawer", "open doors"),
        # Imports of lower rooms are allowed.
        ("featuresieve.estimators._a", "from featuresieve.tables import Table", None),
        (TRAINER, "from featuresieve.engine._state import State", None),
        ("featuresieve.storage._export", "from featuresieve import __version__", None),
        ("featuresieve.cli._main", "import featuresieve", None),
        (TABLE, "import numpy as np", None),
        (AUTONFS, "import featuresieve", None),
        ("sievebench.corruption", "from sievebench.data import Dataset", None),
        ("sievebench.stack", "from featuresieve.engine import resolve_device", None),
    ],
)
def test_rules_name_a_planted_violation_and_no_other(importer, text, reason):
    found = violations(importer, text)
    assert len(found) == (reason is not None)
    assert reason is None or reason in found[0]


def test_relative_import_is_refused():
    with pytest.raises(AssertionError, match="relative import in line 1"):
        violations("featuresieve.estimators._autonfs", "from . import _columns")


@pytest.mark.parametrize(
    ("room", "unwanted"),
    [
        ("featuresieve", {"torch", "sklearn", "numpy"}),
        ("featuresieve.tables", {"torch", "safetensors"}),
        ("featuresieve.problem", {"torch", "safetensors"}),
        ("featuresieve.files", {"torch", "safetensors", "pyarrow"}),
        ("featuresieve.plotting", {"torch", "safetensors", "matplotlib"}),
        ("featuresieve.cli", {"torch", "safetensors", "pyarrow"}),
    ],
)
def test_importing_a_room_loads_only_what_it_needs(room, unwanted):
    code = f"import sys, {room}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not unwanted & set(done.stdout.split())


def test_estimators_need_what_the_wheel_names_and_no_extra():
    extras = "dict.fromkeys(('pyarrow', 'pandas', 'matplotlib', 'jinja2'))"
    code = (
        f"import sys; sys.modules.update({extras})\n"
        "from featuresieve import AutoNFSClassifier\n"
        "try: AutoNFSClassifier().fit('x.parquet', 'y')\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert b"pip install 'featuresieve[cli]'" in done.stdout


def test_all_lists_exactly_the_visible_names():
    def is_plain(name):
        value = getattr(featuresieve, name)
        return not name.startswith("_") and not isinstance(value, ModuleType)

    # Submodules are left out: they become visible when anything imports them.
    visible = {name for name in dir(featuresieve) if is_plain(name)}
    listed = {name for name in featuresieve.__all__ if is_plain(name)}
    assert listed == visible
