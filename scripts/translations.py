"""Keep the translations equal to the code: find the texts that it marks, and merge them into each
`.po`.

    python scripts/translations.py

New texts stand there with an empty `msgstr`, to be filled in; texts that no code says any more are
taken out. The build compiles them (`hatch_build.py`), and so does `make`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "lib"
LOCALE = LIBRARY / "deadzone" / "locale"

CHANGING = tuple(
    f'"{name}'
    for name in ("Generated-By", "Last-T", "Language-T", "PO-", "POT-", "Project-", "Report-")
)
"""Lines of the header that would change with every run, or name nobody."""

MARKS = {"_": (), "N_": (), "ngettext": (), "pgettext": ("context",)}
"""Names of calls that mark a text, with what stands before it; a plural stands behind it."""

FINDING = "finding"
"""The decorator of a check marks all texts of its keywords."""


def texts(source: str) -> Iterator[tuple[str, str, str]]:
    """The texts that a module marks: one, its plural (or nothing), its context (or nothing)."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id == FINDING:
            for part in node.keywords:
                said = part.value.values if isinstance(part.value, ast.Dict) else [part.value]
                yield from (
                    (str(one.value), "", "") for one in said if isinstance(one, ast.Constant)
                )
        if node.func.id in MARKS:
            try:
                said = [ast.literal_eval(part) for part in node.args]
            except ValueError:
                raise ValueError(
                    f"line {node.lineno}: {ast.unparse(node)} marks no literal text"
                ) from None
            named = {part.arg: part.value for part in node.keywords}
            before = len(MARKS[node.func.id])
            context = str(said[0]) if before else ""
            if node.func.id == "N_" and "context" in named:
                context = ast.literal_eval(named["context"])
            one, other = [*map(str, said[before:]), ""][:2]
            yield one, other, context


@cache
def template() -> Catalog:
    """All texts of the library."""
    found = Catalog()
    for path in sorted(LIBRARY.rglob("*.py")):
        for one, other, context in texts(path.read_text(encoding="utf-8")):
            flags = ["python-brace-format"] if "{" in one else []
            found.add((one, other) if other else one, context=context or None, flags=flags)
    return found


def translations() -> list[Path]:
    """The files of the other languages."""
    return sorted(LOCALE.glob("*/LC_MESSAGES/*.po"))


def read(path: Path, language: str = "") -> Catalog:
    """A file of translations; its folder names the language where none is given."""
    with path.open("rb") as file:
        return read_po(file, locale=language or path.parent.parent.name)


def write(catalog: Catalog, path: Path) -> None:
    """The translations in the order of the English texts, a line each, so that few changes meet."""
    made = BytesIO()
    write_po(made, catalog, width=0, no_location=True, sort_output=True, ignore_obsolete=True)
    lines = made.getvalue().decode().splitlines(keepends=True)
    path.write_text(
        "".join(line for line in lines if not line.startswith(CHANGING)), encoding="utf-8"
    )


def compiled(path: Path) -> None:
    """Write what gettext reads beside a file of translations, where that is newer."""
    made = path.with_suffix(".mo")
    if not made.exists() or made.stat().st_mtime < path.stat().st_mtime:
        with made.open("wb") as file:
            write_mo(file, read(path))


def merge(path: Path, language: str = "") -> Catalog:
    """Add to a file of translations the texts that are new, and take out those that no code
    says."""
    catalog = read(path, language)
    catalog.update(template(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    write(catalog, path)
    return catalog


def main() -> None:
    """Merge the texts of the code into every file of translations, and compile it."""
    for path in translations():
        catalog = merge(path)
        compiled(path)
        missing = [message.id for message in catalog if message.id and not message.string]
        print(
            f"{path.relative_to(ROOT)}: {len(catalog)} texts, {len(missing)} without a translation"
        )


if __name__ == "__main__":
    main()
