"""Write the pages of docs/findings from the catalogue: one for each finding, and the list of them.

Used as: .venv/bin/python scripts/finding_pages.py
"""

from pathlib import Path

from deadzone.analysis.findings.examining import CATALOGUE, index, page

FOLDER = Path(__file__).parent.parent / "docs" / "findings"

WITHOUT_EXAMPLE = (
    "nothing_trusted",
    "other_workload",
    "selected_by_trust",
    "errors_by_level",
    "work_size",
    "impossible_numbers",
    "contradicting_numbers",
    "fixed_duration",
    "other_factor",
)
"""These are of tables that others made, or of a machine that is never quiet."""
"""These are of tables that others made, or of what others changed meanwhile."""

EXAMPLE = """
## An example

![{key}](examples/{key}.png)

A run in which we caused this problem deliberately, and what Deadzone reported. The program and its study: [{key}.{ending}](examples/{key}.{ending}).
"""  # noqa: E501
"""The picture is drawn by scripts/finding_examples.py."""


def example(key: str) -> str:
    """The part of a page that shows a run, with the file that makes it."""
    [path] = [
        path for path in (FOLDER / "examples").glob(f"{key}.*") if path.suffix in (".yaml", ".sh")
    ]
    return EXAMPLE.format(key=key, ending=path.suffix[1:])


def pages() -> dict[str, str]:
    """Every page by the name of its file."""
    examples = {key: "" if key in WITHOUT_EXAMPLE else example(key) for key in CATALOGUE}
    return {
        "README.md": index(),
        **{f"{key}.md": page(key) + said for key, said in examples.items()},
    }


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
