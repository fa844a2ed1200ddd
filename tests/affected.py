"""Names the files of tests that a change may break, for `make affected`.

They mirror a module that changed or one that imports it (by the import graph), import a module that
changed, or name a data file that did. A change far away can still break others: `make test` has
them all.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
LIB, TESTS = ROOT / "lib", ROOT / "tests"
CORE = "deadzone"


def changed(base: str) -> set[Path]:
    """Files that differ from a commit, and those that git does not know yet."""
    listings = ("diff", "--name-only", base), ("ls-files", "--others", "--exclude-standard")
    return {
        ROOT / name
        for listing in listings
        for name in subprocess.check_output(("git", *listing), cwd=ROOT, text=True).splitlines()
    }


def module_of(path: Path) -> str:
    """Dotted name of a module of the library; of a package, of its folder."""
    parts = path.relative_to(LIB).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def mirror(module: str) -> Path:
    """The file of tests of a module, which may not exist."""
    package, *folders = module.split(".")
    home = TESTS if package == CORE else TESTS / "packs" / package.removeprefix(f"{CORE}_")
    return home.joinpath(*folders[:-1], f"test_{folders[-1]}.py") if folders else home


def imported(source: str) -> Iterator[tuple[str, str]]:
    """Every module that is imported, and the name taken from it; deferred and type-only too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


@cache
def imports_of(source: str) -> set[str]:
    """What a file imports: modules, and names of modules that may be modules themselves."""
    pairs = set(imported(source))
    return {module for module, _ in pairs} | {f"{module}.{name}" for module, name in pairs}


def affected(paths: Iterable[Path]) -> set[Path]:
    """The files of tests that changed files may break."""
    paths = set(paths)
    code = {path for path in paths if path.suffix == ".py"}
    sources = {path: path.read_text() for path in TESTS.rglob("test_*.py")}
    library = {path: path.read_text() for path in LIB.rglob("*.py")}
    names = {path.name for path in paths - code}
    code |= {path for path, text in library.items() if any(name in text for name in names)}
    modules = {module_of(path) for path in code if path.is_relative_to(LIB)}
    graph = grimp.build_graph(*sorted(path.parent.name for path in LIB.glob("*/__init__.py")))
    importers = {
        importer
        for module in modules & graph.modules
        for importer in graph.find_modules_that_directly_import(module)
    }
    helpers = {path.stem for path in code if path.is_relative_to(TESTS)}
    touched = {
        path
        for path, text in sources.items()
        if (modules | helpers) & imports_of(text) or any(name in text for name in names)
    }
    return (touched | set(map(mirror, modules | importers)) | code) & sources.keys()


if __name__ == "__main__":
    for name in sorted(affected(changed(sys.argv[1]))):
        print(name.relative_to(ROOT))
