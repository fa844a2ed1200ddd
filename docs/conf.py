"""The site of the documentation: `make docs` builds it from the repository, where every page lies
already."""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

import deadzone

project = "Deadzone"
author = "Deadzone"
release = deadzone.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "sphinx_copybutton",
    "docstrings",
    "study_keys",
]

# Pages lie in several folders of the repository and link to each other there, so the repository is
# the source.
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "data/README.md",
    "data/imported.md",
    "data/reference/README.md",
    "deploy/README.md",
    "docs/**",
    "notebooks/start.ipynb",
    "notebooks/phases.ipynb",
]
exclude_patterns = ["docs/benchmarks/faults/**", "docs/findings/examples/**", "docs/extensions/**"]
# Folders without a page are not searched for one.
exclude_patterns += [".git", ".venv", "build", "data/runs", "lib", "reports", "tests"]

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# Tutorials are executed afresh: the repository keeps no outputs, and a failing cell fails the
# build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 180
# Cells also hand their tables to reports, in a form that no page of the site needs.
suppress_warnings = ["mystnb.unknown_mime_type"]

autodoc_typehints = "signature"
default_role = "code"
# What is copied from a sentence is typed as it stands: two hyphens, straight quotes.
smartquotes = False
# Every class of a signature must have its place, but for those of other projects, whose sites a
# build without a network cannot read, and names that a module has for its types alone.
nitpicky = True
INSIDE = (
    r"deadzone\.(language|study|store)\..*",
    r"deadzone\.report\.sweep\.(analysis\.Analysis|trials\.Source)",
    r"deadzone\.verbs\.display\.Worded",
    r"deadzone_load\.capacity\.feasibility\.Feasibility",
    r"deadzone\.analysis\.(finding\.Finding|findings\.fitting\.TableSettings)",
    r"deadzone\.verbs\.exploring\.Explorer",
    r"deadzone_load\.capacity\.reversal\.Reversal",
    r"deadzone_profiles\.(model\.Profile|run_profiles\.RunProfiles|pairing\.(Pair|Basis))",
    r"deadzone_services\.attribution\.hypotheses\.(Margin|Roles)",
)
"""Records that a result is made of and that a user meets as its tables and sentences."""
nitpick_ignore_regex = [("py:.*", name) for name in (r"(?!deadzone).*", *INSIDE)]

html_theme = "furo"
html_title = f"Deadzone {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
templates_path = ["templates"]
html_static_path, html_css_files = ["static"], ["site.css"]
html_additional_pages = {"index": "index.html"}


def not_searched(app: Any, _tree: Any) -> None:
    """Leave pages of contributors and of figures out of the search, where they hide the how-to."""
    page = app.env.docname
    if page.startswith(("CHANGELOG", "CONTRIBUTING", "docs/benchmarks/", "docs/gallery/", "data/")):
        app.env.metadata[page]["nosearch"] = "true"


def level_of_captions(
    _app: Any, _page: str, _template: str, context: dict[str, Any], _tree: Any
) -> None:
    """Give the headings of the tables of contents the level that Sphinx leaves out and screen
    readers need."""
    for part in ("body", "furo_navigation_tree"):
        if part in context:
            context[part] = context[part].replace(
                'role="heading">', 'role="heading" aria-level="2">'
            )


def children(_app: Any, page: str, source: list[str]) -> None:
    """Put the pages that the README of a folder links to below it, in their order."""
    if page.startswith("docs/") and page.endswith("/README"):
        linked = re.findall(r"\]\(((?:\.\./\.\./data/)?[\w./-]+)\.md\)", source[0])
        below = [
            link for link in dict.fromkeys(linked) if not link.startswith("../") or "data" in link
        ]
        source[0] += "\n".join(("\n\n```{toctree}", ":hidden:", "", *below, "```", ""))


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", children)
    app.connect("doctree-read", not_searched)
    app.connect(
        "html-page-context", level_of_captions, priority=900
    )  # after the theme has made the navigation
