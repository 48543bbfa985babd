"""How Sphinx builds these pages: `make docs`."""

import os
import re
from pathlib import Path

import matplotlib

import featuresieve

os.environ["OMP_NUM_THREADS"] = "1"
matplotlib.use("Agg")

DOCS = Path(__file__).parent
ROOT = DOCS.parent

project = "featuresieve"
author = "The featuresieve developers"
copyright = f"2026, {author}"
version = release = featuresieve.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
default_role = "code"
toc_object_entries_show_parents = "hide"
nitpicky = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = False

autodoc_typehints = "none"  # numpydoc's Parameters say it in words
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_use_plots = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"demo\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("featuresieve", "sievebench"),
    "reference_url": {"featuresieve": None, "sievebench": None},
    "image_srcset": ["2x"],
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "parallel": 2,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    # The tables that frames show, and what estimators draw in a notebook; of pictures
    # nothing, nor what `ax.set` returns, a list.
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib|featuresieve\.plotting|'list'",
}

html_theme = "pydata_sphinx_theme"
html_title = "featuresieve"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "featuresieve"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "start": []}

# What a link to one of these files leads to.
PAGES = {
    "CONTRIBUTING.md": "docs/contributing.md",
    "CHANGELOG.md": "docs/changelog.md",
    "SECURITY.md": "docs/security.md",
    "results/README.md": "docs/results.md",
    "results/report/report.md": "results/report/index.html",
}
FROM = re.compile(r"<!-- the page is (\S+) -->\n")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")
NAME = re.compile(r"(`.*?`)|(?<![\w.])(\w+)_(?=[\s,:)|])")


def read_page(app, docname, source):
    """Read a page from where its text is, and let its links lead to pages."""
    origin = DOCS / f"{docname}.md"
    if found := FROM.fullmatch(source[0]):
        origin = ROOT / found[1]
        source[0] = origin.read_text(encoding="utf-8")
    if origin.exists():
        text = source[0].replace("```mermaid", "```text")
        here = (DOCS / docname).parent
        source[0] = LINK.sub(lambda link: led(link, origin.parent, here), text)


def led(link, folder, here):
    """Return a link that leads to a page of this site, or a file, or its words."""
    words, target, part = link[1], link[2], link[3] or ""
    path = Path(os.path.normpath(folder / target))
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else target
    path = ROOT / PAGES.get(name, name)
    if path.is_dir():
        return words if words.startswith("`") else f"{words} (`{name}`)"
    return f"[{words}]({os.path.relpath(path, here)}{part})"


def is_of_others(app, what, name, thing, skip, options):
    """Leave out what scikit-learn hands down: it is documented there."""
    module = getattr(thing, "__module__", None) or ""
    return True if module.startswith("sklearn") else skip


def mark_names(app, what, name, thing, options, lines):
    """Let `support_` in a shape or a formula be a name, not a link of reST."""
    for number, line in enumerate(lines):
        if ">>>" not in line:
            lines[number] = NAME.sub(lambda m: m[1] or rf"{m[2]}\_", line)


def setup(app):
    """Connect the functions above."""
    app.connect("autodoc-process-docstring", mark_names, priority=900)
    app.connect("source-read", read_page)
    app.connect("autodoc-skip-member", is_of_others)
