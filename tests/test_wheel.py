"""The wheel alone, in a fresh environment and an empty folder, as somebody meets it who has no
clone of the repository."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from jupyterlab_browser import in_browser, lab, run_all, until
from needs import needs
from packaging.requirements import Requirement

from deadzone.errors import EXIT_FINDING

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    argv = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True)
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory):
    """Runs programs of an environment with the wheel and all its extras."""
    return environment(wheel, "all", tmp_path_factory)


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    """Runs programs of an environment with the wheel and none of its extras."""
    return environment(wheel, "", tmp_path_factory)


def environment(wheel, extra, tmp_path_factory):
    """Runs programs of an environment that holds the wheel and what it declares, in an empty
    folder, by somebody with a new HOME."""
    home, folder, own = (tmp_path_factory.mktemp(name) for name in ("environment", "empty", "home"))
    subprocess.run((sys.executable, "-m", "venv", "--without-pip", home), check=True)
    ours = ("PYTHON", "DEADZONE", "JUPYTER", "VIRTUAL_ENV")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    variables |= {"PATH": f"{home / 'bin'}:{os.environ['PATH']}", "HOME": str(own), "TERM": "dumb"}

    def run(program, *arguments, cwd=folder, code=0, or_else=0):
        argv = (home / "bin" / program, *map(str, arguments))
        how = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        ended = subprocess.run(argv, cwd=cwd, env=variables, **how)
        assert ended.returncode in (code, or_else or code), (ended.stdout + ended.stderr)[-5000:]
        return ended.stderr if code else ended.stdout

    run.folder, run.environment, run.home = folder, variables, home
    # what a command imports is compiled when it is first started
    pip(run, "install", "-q", "--no-compile", "--no-deps", "--no-index", wheel)
    [packages] = home.glob("lib/python*/site-packages")
    for needed in declared(packages, extra):
        link(needed, packages, home / "bin" / "python")
    assert str(home) in run("python", "-c", "import deadzone; print(deadzone.__file__)")
    return run


def pip(run, *arguments):
    """Run the pip of this environment for the one that holds the wheel."""
    argv = (sys.executable, "-m", "pip", "--python", run.home / "bin" / "python", *arguments)
    return subprocess.run(
        argv, env=run.environment, check=True, capture_output=True, text=True
    ).stdout


def declared(packages, extra):
    """What the wheel and an extra depend on by their own word, and what that depends on, as
    installed here from the lock file."""
    [installed] = metadata.distributions(name="deadzone", path=[str(packages)])
    found, asked = {}, [(requirement, extra) for requirement in installed.requires]
    while asked:
        requirement, extra = asked.pop()
        requirement = Requirement(requirement)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        needed = metadata.distribution(requirement.name)
        for extra in {"", *requirement.extras} - found.setdefault(needed.name, set()):
            found[needed.name].add(extra)
            asked += [(one, extra) for one in needed.requires or ()]
    return [metadata.distribution(name) for name in sorted(found)]


def link(needed, packages, python):
    """Put a package that is installed here into another environment by links, its programs as that
    environment's own."""
    for file in needed.files:
        source, place = needed.locate_file(file).resolve(), Path(os.path.normpath(packages / file))
        if packages in place.parents:
            place = packages / place.relative_to(packages).parts[0]
            source = needed.locate_file(place.name)
        if place.name == "__pycache__" or place.exists():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.parent == python.parent and source.read_bytes().startswith(
            f"#!{sys.prefix}".encode()
        ):
            place.write_text("\n".join([f"#!{python}", *source.read_text().splitlines()[1:]]))
            place.chmod(0o755)
        elif packages in place.parents:
            place.symlink_to(source)
        else:
            shutil.copy2(source, place)  # JupyterLab serves no links that lead out of its folder


def test_it_carries_notebooks_studies_tables_and_templates(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    carried = "deadzone/carried"
    asked = ("notebooks/phases.ipynb", "notebooks/studies/xz-threads.yaml", ".gitattributes")
    assert {f"{carried}/{name}" for name in asked} <= names
    assert "deadzone/cli/repository/README.md" in names
    assert any(name.startswith(f"{carried}/data/reference/") for name in names)


@pytest.mark.night
def test_it_speaks_korean(alone):
    said = "from deadzone.language.messages import N_, say; print(say(N_('disk')).translated('ko'))"
    assert alone("python", "-c", said) == "디스크\n"


@pytest.mark.night
def test_what_it_declares_is_all_that_it_needs(alone, bare):
    """The other tests here run with nothing else; pip finds nothing missing, wrong, or at odds."""
    assert "No broken requirements" in pip(alone, "check")
    assert "No broken requirements" in pip(bare, "check")
    found = "import importlib.util as u; print(u.find_spec('scipy'), u.find_spec('hypothesis'))"
    there = alone("python", "-c", found)
    # nothing of those who develop it
    assert there.startswith("ModuleSpec") and there.endswith(" None\n")


@pytest.mark.night
def test_try_then_run_of_the_saved_study_then_its_recommendation_in_an_empty_folder(alone):
    line = ("try", "-L", "n", "1,2,3", "-r", "2", "--save", "my.yaml", "--", "sleep", "0.{n}")
    assert "Run: deadzone/runs/sleep-n/" in alone("deadzone", *line, or_else=EXIT_FINDING)
    run = ("deadzone", "run", "my.yaml", "--json")
    said = json.loads(alone(*run, or_else=EXIT_FINDING).splitlines()[-1])
    assert Path(said["report"]).is_relative_to(alone.folder / "deadzone" / "reports" / "sleep-n")
    assert Path(said["report"]).is_file()
    assert Path(said["report"]).with_name(said["run_id"]).joinpath("report.pdf").is_file()
    found = json.loads(alone("deadzone", "recommend", "sleep-n/latest", "--json", "--anyway"))
    assert "setting" in found
    assert {path.name for path in alone.folder.iterdir()} == {"deadzone", "my.yaml"}


@pytest.mark.night
def test_a_bundled_study_finds_the_program_that_it_measures(alone):
    once = ("-p", "design.replicates", 1, "-p", "design.warmup", 0, "-p", "trust.max_attempts", 1)
    alone("deadzone", "sweep", "sqlite-threads", "-p", "factors.threads", "[1, 2]", *once)
    [run] = (alone.folder / "deadzone" / "runs" / "sqlite-threads").iterdir()
    assert {json.loads(line)["status"] for line in (run / "trials.jsonl").open()} == {"ok"}


@pytest.fixture(scope="module")
def repository(alone):
    """A repository of one's own with the run that its schedule makes, of fewer trials."""
    alone("deadzone", "init", "tuning")
    folder = alone.folder / "tuning"
    overrides = (
        "-y",
        "overrides: {replicates: 1, warmup: 0, factors.level: [1, 5, 9], "
        "trust.max_foreign_cpu: 64}",
    )
    scheduled = ("notebooks/sweep.ipynb", "data/sweep.ipynb", "-p", "study", "gzip-level")
    alone("papermill", *scheduled, *overrides, cwd=folder)
    return folder


@pytest.mark.night
def test_a_repository_of_ones_own_runs_its_notebooks_on_a_schedule(alone, repository):
    [run] = (repository / "data" / "runs" / "gzip-level").iterdir()
    assert (run / "trials.parquet").is_file()
    alone("deadzone", "report", "gzip-level/latest", cwd=repository)
    assert list((repository / "reports" / "gzip-level").glob("*/index.html"))


@pytest.fixture(scope="module")
def served(alone, repository, tmp_path_factory):
    """Chromium, and the address of JupyterLab on the notebooks of that repository."""
    chromium = needs("chromium", "chromium-browser", "google-chrome")
    start, own = (alone.home / "bin" / "jupyter", "lab"), tmp_path_factory.mktemp("jupyter")
    with lab(start, repository / "notebooks", own, alone.environment) as address:
        yield chromium, address


@pytest.mark.night
@pytest.mark.parametrize("name", ["phases", "explore"])
def test_run_all_in_jupyterlab_runs_every_cell(served, repository, name):
    chromium, address = served
    path = repository / "notebooks" / f"{name}.ipynb"
    with in_browser(chromium, f"{address}/lab/tree/{path.name}?reset") as page:
        run_all(page)
        until(page, lambda: saved(page, path))
    outputs = [one for cell in cells(path) for one in cell["outputs"]]
    assert not [one for one in outputs if one["output_type"] == "error"]
    assert "gzip" in json.dumps(outputs)


def cells(path):
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def saved(page, path):
    """Save the notebook; whether every cell had run."""
    page.keyboard.press("Control+s")
    page.wait_for_timeout(1000)
    return all(one["execution_count"] or not "".join(one["source"]).strip() for one in cells(path))


HEAVY = ("jupyterlab", "kubernetes", "typst", "imageio_ffmpeg", "pyarrow", "matplotlib")

SEVERAL = """
import contextlib, io, json, sys
from deadzone.cli.main import main
ended = []
for line in json.loads(sys.argv[1]):
    sys.argv = ["deadzone", *line]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            ended.append((stop.code, out.getvalue(), err.getvalue()))
print(json.dumps(ended))
"""
"""Several commands, one after the other in one process: most of each would be its start."""

FITTED = ("--knob", "n", "--response", "wall_s")
DOCTOR, EXPORT = ("doctor",), ("export", "sleep-n/latest")
FIT = ("fit", "curve.csv", *FITTED, "--json")
COMPARE = ("compare", "curve.csv", "curve.csv", "--response", "wall_s", "--json")

WITHOUT_EXTRA = {
    ("run", "my.yaml"): ("papermill>=2.6", "notebooks"),
    ("report", "sleep-n/latest"): ("papermill>=2.6", "notebooks"),
    ("fit", "t.parquet", *FITTED): ("pyarrow>=17", "notebooks"),
    ("fit", "t.xlsx", *FITTED): ("openpyxl>=3.1", "xlsx"),
    ("sweep", "ffmpeg-cpu-limit"): ("imageio-ffmpeg>=0.6", "ffmpeg"),
    ("sweep", "thread-pool"): ("hdrhistogram>=0.10.3", "load"),
    ("sweep", "upload-cpu-limit"): ("pycurl>=7.45.3", "services"),
    ("doctor", "--kubernetes", "shop/deployment/burner"): ("kubernetes>=31", "kubernetes"),
    ("profile", "a.pb", "b.pb"): ("protobuf>=5.26", "profiles"),
}


@pytest.fixture(scope="module")
def swept(bare):
    """The folder of a run that an environment without extras measured, of a saved study; and a
    table of a knob that pays up to 4."""
    # A sleep lasts as long beside other tests as alone: no verdict that depends on who else runs.
    line = ("try", "-L", "n", "1,2,4", "-r", "3", "--save", "my.yaml", "--", "sleep", "0.{n}")
    assert "Run: deadzone/runs/sleep-n/" in bare("deadzone", *line, or_else=EXIT_FINDING)
    rows = [f"{n},{8 / min(n, 4) + k / 100}" for n in (1, 2, 3, 4, 6, 8) for k in range(4)]
    (bare.folder / "curve.csv").write_text("\n".join(["n,wall_s", *rows]))
    return next((bare.folder / "deadzone" / "runs" / "sleep-n").iterdir())


@pytest.fixture(scope="module")
def ended(bare, swept):
    """Exit code, stdout and stderr of commands in an environment without extras."""
    for name in ("t.parquet", "t.xlsx", "a.pb", "b.pb"):
        (bare.folder / name).write_bytes(b"\n\x04\x08\x01\x10\x02")
    lines = [DOCTOR, EXPORT, FIT, COMPARE, *WITHOUT_EXTRA]
    said = json.loads(bare("python", "-c", SEVERAL, json.dumps(lines)))
    return dict(zip(lines, said, strict=True))


def test_the_wheel_alone_holds_nothing_heavy(bare, ended):
    asked = f"import importlib.util as u; print([one for one in {HEAVY} if u.find_spec(one)])"
    assert bare("python", "-c", asked) == "[]\n"
    code, out, _ = ended[DOCTOR]
    assert code == 0 and "extra [notebooks]" in out


def test_the_wheel_alone_sweeps_fits_compares_and_exports(swept, ended):
    assert not (swept / "trials.parquet").exists()
    assert [ended[line][0] for line in (EXPORT, FIT, COMPARE)] == [0, 0, 0]
    exported, fitted, compared = (ended[line][1] for line in (EXPORT, FIT, COMPARE))
    trials = (swept / "trials.jsonl").read_text().splitlines()
    assert len(exported.splitlines()) == 1 + len(trials)
    assert [phase["label"] for phase in json.loads(fitted)["phases"]] == ["linear", "plateau"]
    assert json.loads(compared)


@pytest.mark.night
def test_a_run_of_the_wheel_alone_is_read_and_reported_in_full_with_the_extras(alone, bare, swept):
    told = (
        "import sys, deadzone as dz; run = dz.load_run(sys.argv[1]); print(run.trials.to_csv(), "
        "run.telemetry.to_csv())"
    )
    said = bare("python", "-c", told, swept)
    assert said.count("sleep-n") == 0 and len(said.splitlines()) > 10
    name, home = f"sleep-n/{swept.name}", alone.folder / "deadzone"
    kept = shutil.copytree(swept, home / "runs" / name)
    assert alone("python", "-c", told, kept) == said
    alone("deadzone", "report", name)
    assert list((home / "reports" / name).glob("trials.parquet"))


VERBS = """
import deadzone as dz
assert len(dz.sweep(lambda n: n, {"n": [1, 2]}, replicates=1, quiet=True).trials) >= 2
model = dz.fit_phases(dz.read_table("curve.csv"), "n", "wall_s")
assert "plateau" in repr(model) and str(model.summary())
model.plot()
"""


def test_the_verbs_work_without_extras_and_a_plot_names_what_is_missing(bare, swept):
    (bare.folder / "verbs.py").write_text(VERBS)
    last = bare("python", "verbs.py", code=1).splitlines()[-1]
    assert last == "ModuleNotFoundError: No module named 'matplotlib'"


@pytest.mark.parametrize("line", WITHOUT_EXTRA, ids=" ".join)
def test_what_needs_an_extra_ends_with_one_sentence_that_names_it(ended, line):
    package, extra = WITHOUT_EXTRA[line]
    code, _, err = ended[line]
    last = err.splitlines()[-1]
    assert code == 4 and last.startswith(f"deadzone: {package} is needed"), last
    assert f"the extra [{extra}] brings it" in last and "pip install" not in last
