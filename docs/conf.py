"""Settings of the documentation site; `make docs` builds it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE / "_ext")]

import bayescout  # noqa: E402

project = "bayescout"
author = "the bayescout authors"
project_copyright = "2026, the bayescout authors"
version = release = bayescout.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "docstrings",
    "formulas",
    "public_names",
    "replay",
]
exclude_patterns = ["_ext", "_static", "data"]
default_role = "py:obj"
smartquotes = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"
copybutton_selector = "div.highlight-python pre, div.highlight-console pre, div.highlight-sh pre"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
add_module_names = False

html_theme = "furo"
html_title = f"bayescout {version}"
html_static_path = ["_static"]
html_css_files = ["site.css", "tables.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_search_summary = False  # it is fetched page by page, which a browser refuses for files
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_theme_options: dict[str, Any] = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7db8e0", "color-brand-content": "#7db8e0"},
}

CHILDREN = "\n\n```{toctree}\n:hidden:\n:glob:\n\n%s\n```\n"
INDEXES = {"decisions/README": "*", "studies/README": "*/README"}
"""Pages that are read outside of the site as well: the lists of the pages below them are added here."""

OUTSIDE = {"architecture": "ARCHITECTURE.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
"""Pages whose text lies at the root of the repository."""

LINKS = {
    "](docs/": "](",
    "](ARCHITECTURE.md": "](architecture.md",
    "](examples/own_score.py)": "](tasks/own-parts.md#a-score)",
    "](examples/own_search.py)": "](tasks/own-parts.md#a-search)",
    "](examples/own_engine.py)": "](tasks/own-parts.md#an-engine)",
}


def complete(app: Any, docname: str, source: list[str]) -> None:
    """Fill in the pages whose text is kept elsewhere, and leave out of the index what is not there."""
    if docname in INDEXES:
        source[0] += CHILDREN % INDEXES[docname]
    if docname in OUTSIDE:
        source[0] = (HERE.parent / OUTSIDE[docname]).read_text(encoding="utf-8")
        for written, here in LINKS.items():
            source[0] = source[0].replace(written, here)
        app.env.note_dependency(str(HERE.parent / OUTSIDE[docname]))
    if docname == "index":
        for folder in ("searches", "migration", "benchmarks"):
            if not (HERE / folder / "index.md").exists():
                source[0] = source[0].replace(f"{folder}/index\n", "")


def setup(app: Any) -> None:
    app.connect("source-read", complete)
