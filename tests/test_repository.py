from __future__ import annotations

import ast
import json
import re
import runpy
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import metadata
from pathlib import Path

import nbformat
import pytest
import yaml
from affected import imported

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
MODULES = sorted(path for path in (ROOT / "lib").rglob("*.py") if path.name != "__init__.py")
PROGRAMS = sorted((ROOT / "notebooks" / "studies" / "programs").rglob("*.py"))

PLUG_INS = {
    "ipykernel": "the kernel in which notebooks are executed",
    "jupyterlab": "`make lab`",
    "koreanize-matplotlib": "its wheel carries a font with Korean letters, which is read as a file",
    "locust": "a program that drives load tests",
    "py-spy": "a program that takes profiles",
}
"""Dependencies that no code imports, each with what it is there for."""

MOST_LINES_A_CELL = 15
MOST_LINES_A_MODULE = 465
MOST_BYTES = 1_000_000


def tracked() -> list[Path]:
    try:
        listed = subprocess.run(
            ("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(
            "this copy of the project is no git checkout, so nothing says which files belong to it"
        )
    return [ROOT / name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def requirements() -> dict[str, str]:
    """What the wheel and its extras declare, by the package."""
    declared = project()["project"]
    lines = [
        *declared["dependencies"],
        *(one for lines in declared["optional-dependencies"].values() for one in lines),
    ]
    return {
        re.split(r"[<>=~! \[]", line)[0]: line for line in lines if not line.startswith("deadzone[")
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_outputs_short_cells_typed_parameters_and_imports_the_verbs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    stored = [cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")]
    assert not stored, "strip the outputs with nbstripout"
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    parameters = [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(parameters) == 1, "it needs one cell tagged parameters"
    for line in parameters[0].source.splitlines():
        assert re.match(r"^\w+: [\w\[\]| ]+ = .+  # [^=]+$", line), line
    for source in (cell.source for cell in cells if cell not in parameters):
        assert len(source.splitlines()) <= MOST_LINES_A_CELL, source
        assert not any(isinstance(node, ast.ClassDef) for node in ast.walk(ast.parse(source)))
    taken = {pair for cell in cells for pair in imported(cell.source)}
    assert {pair for pair in taken if pair[0].split(".")[0] == "deadzone"} == {("deadzone", "")}
    assert "import deadzone as dz" in "\n".join(cell.source for cell in cells)
    others = {module.split(".")[0] for module, _ in taken} - set(sys.stdlib_module_names)
    assert others <= {"deadzone", "IPython", "matplotlib", "numpy", "pandas", "scipy", "seaborn"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_powers_at_ticks_and_no_value_of_a_drawing_as_output(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    code = "\n".join(cell.source for cell in cells)
    is_logarithmic = re.search(r"scale(=|\(|\.set\()['\"]?log|log_scale", code)
    assert not is_logarithmic or 'rcParams["axes.formatter.min_exponent"]' in code
    for cell in cells:
        last = ast.parse(cell.source).body[-1:]
        assert not re.match(r"(facets|grid)\.", "".join(map(ast.unparse, last))), cell.source


LEAST_ON_DATA, LEAST_DRAWN = 0.60, 8
"""The share of code cells that work on data, and the notebooks whose data seaborn draws: the
analysis is the notebooks'."""

CELLS = runpy.run_path(str(ROOT / "scripts" / "analysis_cells.py"))


def test_the_notebooks_hold_the_analysis():
    rows = list(CELLS["counted"](NOTEBOOKS))
    working, cells = sum(row[2] for row in rows), sum(row[1] for row in rows)
    assert working / cells >= LEAST_ON_DATA
    assert sum(row[3] for row in rows) >= LEAST_DRAWN


@pytest.mark.parametrize(
    ("source", "works"),
    [("trials['wall_s'].median()", True), ("rows[rows[knob] > 4]", True),
     ("trials.groupby(knob).agg(['count'])", True),
     ("sns.stripplot(trials, x=knob, y=response)", True), ("ax.axhline(0, color='black')", True),
     ("stats.shapiro(residuals)", True),
     ("model = dz.fit_phases(trials, knob, response, goal=goal)\nmodel", False),
     ("trials = dz.read_table(table)\ntrials.head(3)", False), ("model.phases.round(3)", False),
     ("display(*report.section('phases'))", False), ("figure = model.plot()", False),
     ("import seaborn as sns\nimport deadzone as dz", False), ("axes[0], name[1:]", False)],
)  # fmt: skip
def test_a_cell_works_on_data_if_it_names_a_column_or_a_value(source, works):
    assert CELLS["works_on_data"](source) is works


SLIDES = runpy.run_path(str(ROOT / "scripts" / "slides.py"))


@pytest.mark.parametrize("path", SLIDES["NOTEBOOKS"], ids=lambda path: path.stem)
def test_each_text_of_a_notebook_begins_a_slide(path):
    notebook = nbformat.read(path, as_version=4)
    types = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in notebook.cells]
    assert types == SLIDES["slide_types"](notebook), "run python scripts/slides.py"
    assert types[0] == "slide" and "skip" in types


def test_each_test_that_runs_alone_says_what_it_measures():
    texts = {
        path: path.read_text()
        for path in (ROOT / "tests").rglob("test_*.py")
        if path != Path(__file__)
    }
    bare = [str(path) for path, text in texts.items() if re.search(r"mark\.alone(?!\(\s*\")", text)]
    assert not bare, "write @pytest.mark.alone with what the test measures"
    assert any("mark.alone(" in text for text in texts.values())


def test_modules_stay_small_and_their_names_say_their_subject():
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in MODULES}
    assert not {name: lines for name, lines in long.items() if lines > MOST_LINES_A_MODULE}
    vague = ("utils", "util", "helpers", "common", "misc")
    assert not [path for path in MODULES if path.stem in vague]


@cache
def library_imports() -> dict[str, set[tuple[str, str]]]:
    """What each module of the library imports, by the module's name."""
    paths = {".".join(one.relative_to(ROOT / "lib").with_suffix("").parts): one for one in MODULES}
    return {name: set(imported(path.read_text())) for name, path in paths.items()}


MOST_PRIVATE_NAMES = 236
"""So many names of the core the packs of this repository take beside those of `deadzone.plugins`.
None is wanted: it rises only by what moves from the core into a pack, as containers, gates and
Little's law did."""


def test_packs_take_ever_fewer_names_of_the_core_that_are_not_public():
    taken = {
        pair
        for name, pairs in library_imports().items()
        for pair in pairs
        if name.startswith("deadzone_")
        and pair[0].split(".")[0] == "deadzone"
        and pair[0] != "deadzone.plugins"
    }
    assert len(taken) <= MOST_PRIVATE_NAMES


MOST_FILES_A_CHANGE = 4
"""A change that touches more has no home."""

MOST_FILES_TO_A_NUMBER = 4
"""From the journal or a published table to the page, both left out."""


@pytest.mark.parametrize(
    ("heading", "n_rows", "most"),
    [
        ("### Where does my change go?", 13, MOST_FILES_A_CHANGE),
        ("### The way of a number", 2, MOST_FILES_TO_A_NUMBER),
    ],
)
def test_a_change_and_a_number_are_few_files_that_exist(heading, n_rows, most):
    text = (ROOT / "CONTRIBUTING.md").read_text().partition(heading)[2]
    rows = [line for line in text.partition("###")[0].splitlines() if line.startswith("| ")][2:]
    assert len(rows) == n_rows
    for row in rows:
        assert 0 < len([name for name in files_named(row) if not name.startswith("data/")]) <= most


def files_named(row: str) -> list[str]:
    """The files and folders that a row of a table names, all of which exist."""
    places = [one for one in re.findall(r"`([^` ]+)`", row) if "/" in one or one.endswith(".md")]
    assert not [name for name in places if not (ROOT / name).exists()], row
    return places


def test_a_class_name_means_one_thing():
    homes: dict[str, list[Path]] = {}
    for path in (ROOT / "lib").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(path)
    twice = {name for name, paths in homes.items() if len(paths) > 1}
    assert not twice


def test_no_modules_import_each_other_in_a_circle():
    order: TopologicalSorter[str] = TopologicalSorter()
    for name, taken in library_imports().items():
        for module, part in taken:
            found = f"{module}.{part}" if f"{module}.{part}" in library_imports() else module
            if found in library_imports():
                order.add(name, found)
    try:
        order.prepare()
    except CycleError as error:
        pytest.fail("imports in a circle: " + " -> ".join(reversed(error.args[1])))


def test_every_dependency_is_imported_or_a_plug_in():
    cells = [
        cell.source
        for path in NOTEBOOKS
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code"
    ]
    sources = [*cells, *(path.read_text() for path in PROGRAMS)]
    taken = set().union(*library_imports().values(), *map(imported, sources))
    used = {module.split(".")[0] for module, _ in taken}
    for package in requirements():
        provided = {file.parts[0].removesuffix(".py") for file in metadata.files(package) or ()}
        is_used = bool(provided & used)
        remedy = f"{package}: import it, name it as a plug-in, or drop it"
        assert is_used != (package in PLUG_INS), remedy


FROM_CONDA = {name: name for name in ("jupyterlab", "pandas", "papermill", "scipy", "seaborn")}
FROM_CONDA["kubernetes"] = "python-kubernetes"
"""Dependencies that conda-forge brings in `environment.yml`, by its names; pip has the rest."""


def test_conda_users_get_the_same_dependencies():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    from_pip = next(one["pip"] for one in environment["dependencies"] if isinstance(one, dict))
    from_conda = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    dependencies = requirements()
    assert environment["channels"] == ["conda-forge"]
    assert from_conda == [
        f"python{project()['project']['requires-python']}",
        *(
            line.replace(name, FROM_CONDA[name], 1)
            for name, line in dependencies.items()
            if name in FROM_CONDA
        ),
        "pip",
    ]
    assert from_pip == [
        *(line for name, line in dependencies.items() if name not in FROM_CONDA),
        "-e .",
    ]


def test_every_dependency_has_its_reason():
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    groups = project()["dependency-groups"]
    for requirement in (*requirements().values(), *groups["docs"], *groups["bench"]):
        [line] = [line for line in lines if line.strip().startswith(f'"{requirement}"')]
        assert "#" in line, f"pyproject.toml does not say beside {requirement} why it is needed"


def test_all_is_every_extra():
    extras = project()["project"]["optional-dependencies"]
    [whole] = extras.pop("all")
    assert whole == f"deadzone[{','.join(sorted(extras))}]"


@pytest.mark.parametrize(
    "name", ["requirements.lock", "requirements-dev.lock", "requirements-bench.lock"]
)
def test_lock_files_name_versions_and_hashes_and_no_address(name):
    text = (ROOT / name).read_text()
    assert "--hash=sha256:" in text
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links", text)
    pinned = {
        line.split("==")[0].lower()
        for line in text.splitlines()
        if "==" in line and not line.startswith(" ")
    }
    for package in requirements():
        remedy = f"{name} does not pin {package}; run `make lock`"
        assert package.lower().replace("_", "-") in pinned, remedy


def test_the_image_has_all_that_the_package_is_built_from():
    lines = (ROOT / "deploy" / "Containerfile").read_text().splitlines()
    copied = {name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]}
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert {*built["targets"]["sdist"]["include"], "pyproject.toml"} <= copied


def test_no_large_file_is_committed():
    assert not [str(path) for path in tracked() if path.stat().st_size > MOST_BYTES]


def test_no_text_names_another_place():
    forbidden = re.compile(r"\.\./shared|/work/(main|shared)|/root/|/home/[a-z]+/(?!ubuntu)")
    here = Path(__file__).resolve()
    for path in tracked():
        if (
            path == here
            or path.suffix in (".pdf", ".parquet", ".png", ".gz")
            or "tests" in path.parts
        ):
            continue
        found = forbidden.search(path.read_text(encoding="utf-8", errors="ignore"))
        assert not found, f"{path.relative_to(ROOT)} names {found.group(0)}"


def test_what_a_run_writes_is_ignored_and_what_is_published_is_not():
    tracked()  # skips where this is no git checkout
    written = [
        "reports/index.html",
        "reports/xz-threads/latest/index.html",
        "data/runs/xz-threads/x/trials.jsonl",
    ]
    published = ["reports/published.html", "reports/disk-io/reference/index.html"]
    argv = ("git", "check-ignore", "--no-index", *written, *published)
    ignored = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
    assert ignored.stdout.split() == written


def test_json_and_yaml_of_the_repository_are_readable():
    for path in tracked():
        if path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix in (".yaml", ".yml"):
            list(yaml.safe_load_all(path.read_text()))


def test_make_help_lists_every_target():
    makefile = (ROOT / "Makefile").read_text()
    phony = next(line for line in makefile.splitlines() if line.startswith(".PHONY")).split()[1:]
    for target in phony:
        line_of_help = rf"^{target}:.*## \w"
        assert re.search(line_of_help, makefile, re.MULTILINE), f"make {target} has no line of help"


def test_make_bench_runs_every_benchmark():
    """Who names the folder of the pages writes one."""
    scripts = {
        path.name
        for path in (ROOT / "benchmarks").glob("*.py")
        if '"docs" / "benchmarks"' in path.read_text()
    }
    script = (ROOT / "benchmarks" / "all.py").read_text()
    listed = re.findall(r'^    "(\w+\.py)",$', script, re.MULTILINE)
    assert sorted(listed) == sorted(scripts)
