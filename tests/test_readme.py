"""README and pages tell the truth: their code runs, and prints what they show.

All ```python blocks run in order in one namespace. When the next fenced block is
```text or ```output, it must be exactly what the code printed.
"""

import contextlib
import io
import re
import textwrap
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

import featuresieve

ROOT = Path(__file__).parents[1]
FENCE = re.compile(
    r"^(?P<indent>[ ]*)```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class CodeBlock:
    """Python code of a document, the line it starts at, and the output it promises."""

    code: str
    line: int
    output: str | None


def code_blocks(text):
    fences = list(FENCE.finditer(text))
    blocks = []
    for fence, following in zip(fences, [*fences[1:], None], strict=True):
        if fence["language"] != "python":
            continue
        shows_output = following and following["language"] in ("text", "output")
        blocks.append(
            CodeBlock(
                code=textwrap.dedent(fence["body"]),
                line=text.count("\n", 0, fence.start("body")) + 1,
                output=textwrap.dedent(following["body"]) if shows_output else None,
            )
        )
    return blocks


def run_blocks(blocks, filename):
    """Execute the blocks in one namespace and compare what they print."""
    namespace = {"__name__": "__main__"}
    for block in blocks:
        # Leading newlines make tracebacks name the line of the document.
        source = "\n" * (block.line - 1) + block.code
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, filename, "exec"), namespace)
        if block.output is not None:
            assert printed.getvalue() == block.output, (
                f"the code at {filename}:{block.line} prints something else"
            )


def read(name):
    path = ROOT / name
    assert path.is_file(), f"{name} is missing in {ROOT}"
    return path.read_text(encoding="utf-8")


def first_match(pattern, text):
    match = re.search(pattern, text, re.MULTILINE)
    assert match, f"nothing matches {pattern}"
    return match[1]


HAS_CALLBACKS = find_spec("sklearn.callback") is not None


@pytest.mark.parametrize(
    ("page", "n_outputs"),
    [
        ("README.md", 1),
        pytest.param("docs/guide.md", 9, marks=pytest.mark.slow),
        ("docs/start.md", 3),
        ("docs/questions.md", 5),
        ("docs/files.md", 6),
        ("docs/show.md", 0),
        pytest.param(
            *("docs/long_work.md", 4),
            marks=pytest.mark.skipif(not HAS_CALLBACKS, reason="no sklearn.callback"),
        ),
    ],
)
def test_page_runs_and_prints_what_it_shows(page, n_outputs, tmp_path, monkeypatch):
    blocks = code_blocks(read(page))
    assert sum(block.output is not None for block in blocks) >= n_outputs
    monkeypatch.chdir(tmp_path)  # what the code writes stays out of the repository
    run_blocks(blocks, page)


def test_code_blocks_share_a_namespace_and_match_their_output():
    text = "```python\na = 1\n```\n\n```python\nprint(a)\n```\n\n```text\n1\n```\n"
    blocks = code_blocks(text)
    assert [(block.line, block.output) for block in blocks] == [(2, None), (6, "1\n")]
    run_blocks(blocks, "document.md")
    blocks = code_blocks("Words.\n\n```python\nprint(1)\n```\n\n```output\n2\n```\n")
    with pytest.raises(AssertionError, match=r"document\.md:4 prints something else"):
        run_blocks(blocks, "document.md")


def test_version_is_the_same_everywhere():
    versions = {
        "pyproject.toml": tomllib.loads(read("pyproject.toml"))["project"]["version"],
        "featuresieve.__version__": featuresieve.__version__,
        "CHANGELOG.md": first_match(r"^## \[(\d[^\]]*)\]", read("CHANGELOG.md")),
        "CITATION.cff": first_match(r"^version: *(\S+)", read("CITATION.cff")),
    }
    assert len(set(versions.values())) == 1, versions
