"""Imports point one way: from higher modules to lower ones, from laboratory to library.

The rules are data (the two tables below). `violations` applies them to the text of one
module, so that the rules are themselves tested, on planted violations.
"""

import ast
from pathlib import Path
from types import ModuleType

import pytest

import featuresieve

SRC = Path(__file__).parents[1] / "src"

# The library, lowest to highest: a module may import only modules before it.
# "__init__" stands for the public names: who comes after it may use those.
LIBRARY_ORDER = [
    "_version",
    "_exceptions",
    "_numbers",
    "_atomic_file",
    "_file_checks",
    "_container",
    "_json_values",
    "_surroundings",
    "_memory",
    "_resumable",
    "_parameters",
    "_schedule",
    "_course",
    "_gumbel_sigmoid",
    "_gate_tensors",
    "_gates",
    "_objective",
    "_masking_network",
    "_sparse_rows",
    "_layer_products",
    "_task_network",
    "_module_network",
    "_adam",
    "_captured_step",
    "_history",
    "_noise",
    "_training_data",
    "_stack_trainer",
    "_columns",
    "_column_kinds",
    "_frame_columns",
    "_table",
    "_named_columns",
    "_returned_columns",
    "_category_encoder",
    "_number_encoder",
    "_encoding",
    "_encoding_state",
    "_canonical",
    "_wishes",
    "_problem",
    "_row_roles",
    "_settings",
    "_prices",
    "_stacks",
    "_candidates",
    "_refit",
    "_choice",
    "_fit_run",
    "_balance_path",
    "_row_weights",
    "_targets",
    "_preparation",
    "_file_findings",
    "_findings",
    "_fingerprint",
    "_interrupts",
    "_checkpoint",
    "_monitor",
    "_progress",
    "_callbacks",
    "_long_work",
    "_device",
    "_arguments",
    "_support_search",
    "_doubts",
    "_predictor",
    "_file_targets",
    "_files",
    "_other_sizes",
    "_kept_columns",
    "_plain_state",
    "_export",
    "_onnx_graph",
    "_onnx_columns",
    "_onnx_encoding",
    "_onnx_predictor",
    "_onnx_model",
    "_persistence",
    "_autonfs",
    "_docs",
    "_estimators",
    "_loading",
    "__init__",
    "process",
    "plotting",
    "onnx",
    "report",
    "_column_types",
    "_tablefile",
    "_command_options",
    "_command_parser",
    "_command",
    "cli",
    "__main__",
]

# The laboratory: each part, and the parts it may import. "featuresieve" stands for the
# public names of the library; of its inner parts only those named here are used.
STAGES = {"data", "corruption", "selectors", "downstream", "store"}
LABORATORY_MAY_IMPORT = {
    "__init__": set(),
    "labels": set(),
    "task": set(),
    "search_space": set(),
    "spelling": set(),
    "checks": set(),
    "interrupts": set(),
    "stack": {"featuresieve"},
    "environment": {"featuresieve"},
    "run_spec": set(),
    "reuse": set(),
    "experiment": {"run_spec", "reuse", "spelling"},
    "data": {"spelling"},
    "corruption": {"data"},
    "selectors": {"task", "search_space", "stack", "data", "checks", "featuresieve"},
    "compare": {"task", "labels", "selectors", "interrupts", "spelling"}
    | {"featuresieve._tablefile"},
    "downstream": {"search_space", "stack", "data", "checks"},
    "store": {"run_spec", "reuse", "environment", "spelling"},
    "tuning": {"search_space"},
    "analysis": {"labels", "run_spec"},
    "report": {"store", "analysis", "labels", "run_spec"},
    "pipeline": STAGES | {"run_spec", "search_space", "tuning", "stack", "spelling"},
    "runner": {"pipeline", "run_spec", "experiment", "store", "environment", "tuning"}
    | {"stack", "interrupts"},
    "cli": STAGES
    | {"labels", "compare", "run_spec", "runner", "experiment", "analysis", "report"}
    | {"featuresieve", "featuresieve._command_parser", "reuse", "spelling"},
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


def part_of(package, module, name):
    """Return which part of `package` the import of `name` from `module` reaches."""
    _, _, inner = module.partition(".")
    if inner:
        return inner.split(".")[0]
    is_module = name and f"{package}.{name}" in {
        known.removesuffix(".__init__") for known in MODULES
    }
    return name if is_module else "__init__"


def is_public(module, name):
    """Tell whether the library promises to keep `name` of `module`."""
    if module == "featuresieve" and name is not None:
        return name in featuresieve.__all__
    parts = [*module.split("."), *([name] if name else [])]
    return not any(part.startswith("_") for part in parts)


def library_violation(part, module, name):
    if module.split(".")[0] == "sievebench":
        return "the library knows nothing of the laboratory"
    target = part_of("featuresieve", module, name)
    if target == part:  # a package may import its own files
        return None
    if target not in LIBRARY_ORDER:
        return f"{target} has no place in LIBRARY_ORDER"
    if LIBRARY_ORDER.index(target) > LIBRARY_ORDER.index(part):
        return f"{target} stands above {part} in LIBRARY_ORDER"
    return None


def laboratory_violation(part, module, name):
    allowed = LABORATORY_MAY_IMPORT[part]
    if module.split(".")[0] == "sievebench":
        target = part_of("sievebench", module, name)
        if target in allowed | {part}:
            return None
        return f"{target} is not among the parts that {part} may import"
    if f"featuresieve.{part_of('featuresieve', module, name)}" in allowed:
        return None
    if "featuresieve" not in allowed:
        return f"{part} may not use the library"
    if not is_public(module, name):
        return "the laboratory uses public names of the library only"
    return None


def violations(importer, text):
    """Return one sentence for each import in `text` that breaks a rule."""
    package, _, inner = importer.partition(".")
    part = inner.split(".")[0]
    known, find, table = {
        "featuresieve": (LIBRARY_ORDER, library_violation, "LIBRARY_ORDER"),
        "sievebench": (
            LABORATORY_MAY_IMPORT,
            laboratory_violation,
            "LABORATORY_MAY_IMPORT",
        ),
    }[package]
    if part not in known:
        return [f"{importer}: give {part} a place in {table} (test_architecture.py)"]
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
def test_module_imports_only_what_stands_below_it(module):
    assert violations(module, MODULES[module].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("importer", "text", "reason"),
    [
        ("featuresieve._columns", "import sievebench", "nothing of the laboratory"),
        (
            "featuresieve._gumbel_sigmoid",
            "from featuresieve._estimators import AutoNFSClassifier",
            "_estimators stands above _gumbel_sigmoid",
        ),
        (
            "featuresieve._columns",
            "from featuresieve import __version__",
            "__init__ stands above _columns",
        ),
        (
            "featuresieve._columns",
            "def late():\n    import featuresieve.cli",
            "cli stands above _columns",
        ),
        (
            "featuresieve.cli",
            "from featuresieve.drawer import pull",
            "drawer has no place",
        ),
        ("featuresieve.drawer", "", "give drawer a place in LIBRARY_ORDER"),
        ("sievebench.drawer", "", "give drawer a place in LABORATORY_MAY_IMPORT"),
        (
            "sievebench.data.catalog",
            "from sievebench.selectors import fit",
            "selectors is not among the parts that data may import",
        ),
        ("sievebench.data", "import featuresieve", "data may not use the library"),
        (
            "sievebench.selectors.autonfs",
            "from featuresieve._estimators import AutoNFSClassifier",
            "public names",
        ),
        (
            "sievebench.selectors.autonfs",
            "from featuresieve import _estimators",
            "public names",
        ),
        (
            "sievebench.selectors.autonfs",
            "from featuresieve._tablefile import read_file",
            "public names",
        ),
        ("sievebench.compare", "import featuresieve", "compare may not use"),
    ],
)
def test_rules_name_a_planted_violation(importer, text, reason):
    (sentence,) = violations(importer, text)
    assert reason in sentence


@pytest.mark.parametrize(
    ("importer", "text"),
    [
        ("featuresieve._estimators", "from featuresieve._columns import encode"),
        ("featuresieve.cli", "import featuresieve"),
        ("featuresieve.report.page", "from featuresieve.report.table import rows"),
        ("featuresieve._columns", "import numpy as np"),
        ("sievebench.selectors.autonfs", "import featuresieve"),
        ("sievebench.corruption", "from sievebench.data import Dataset"),
        ("sievebench.compare", "from featuresieve._tablefile import read_file"),
    ],
)
def test_rules_allow_imports_of_lower_modules(importer, text):
    assert violations(importer, text) == []


def test_relative_import_is_refused():
    with pytest.raises(AssertionError, match="relative import in line 1"):
        violations("featuresieve._estimators", "from . import _columns")


def test_all_lists_exactly_the_visible_names():
    def is_plain(name):
        value = getattr(featuresieve, name)
        return not name.startswith("_") and not isinstance(value, ModuleType)

    # Submodules are left out: they become visible when anything imports them.
    visible = {name for name in dir(featuresieve) if is_plain(name)}
    listed = {name for name in featuresieve.__all__ if is_plain(name)}
    assert listed == visible
