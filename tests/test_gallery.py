"""Every study of the gallery runs to its end where its program is installed, and has its page."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml
from disturbance import GENERATOR, NO_DOUBTS, undisturbed
from needs import needs
from servers import postgres_programs
from spring_build import built_jar

from deadzone.errors import SweepError
from deadzone.study.loading import load_study

ROOT = Path(__file__).parent.parent
GALLERY = sorted((ROOT / "notebooks" / "studies" / "gallery").glob("*.yaml"))
PROGRAMS = {
    "nginx": ("nginx",), "redis": ("redis-server", "redis-benchmark", "redis-cli"),
    "postgres": ("pgbench",), "zstd": ("zstd",), "xz": ("xz",), "jvm": ("java",), "sort": ("sort",),
    "sqlite": ("sqlite3",), "python": ("python3",), "node": ("node",), "pigz": ("pigz", "numactl"),
    "nginx-daemon": ("nginx", "wrk"), "jvm-small-heap": ("java", "javac"), "go": ("gofmt",),
    "duckdb": ("python3",), "make": ("make", "gcc", "apt-get"), "x264": (),
}  # fmt: skip


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_it_asks_a_question_and_names_its_program(path):
    study = load_study(path)
    assert study.question.endswith("?") and study.study == path.stem
    assert path.read_text().startswith("# Needs ")
    page = (ROOT / "docs" / "gallery" / f"{path.stem}.md").read_text()
    assert study.question in page
    assert ("# Typed: " in path.read_text()) == ("## As it was typed first" in page)
    assert ("# Typed: " in path.read_text()) == ("# Took: " in path.read_text())


FIRST_FAILS = ("jvm-heap", "jvm-small-heap", "python-pool-zero")
"""Studies whose first level cannot work: with the least heap a server lets nobody connect."""

LOADED = ("nginx", "jvm")
"""Those that are asked at a rate, which neighbours may keep the generator from."""

FOR_EACH_CHANGE = ("zstd-threads",)


def marks_of(study):
    alone = pytest.mark.alone("neighbours keep a generator from its rate")
    return [
        *([alone] if study.startswith(LOADED) else []),
        *([] if study in FOR_EACH_CHANGE else [pytest.mark.night]),
    ]


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=marks_of(path.stem), id=path.stem) for path in GALLERY]
)
def test_it_runs_to_its_end(path, home, sweep):
    first = path.stem.partition("-")[0]
    for program in PROGRAMS.get(path.stem, PROGRAMS[first]):
        needs(program)
    if first == "postgres":
        postgres_programs()
        if os.geteuid():
            pytest.skip("only root may run a server as the user postgres")
    if path.stem == "jvm-heap" and not built_jar(ROOT / "deploy" / "spring-websocket").is_file():
        pytest.skip("the Spring server is not built here: run the study spring-websocket once")
    document = yaml.safe_load(path.read_text())
    if (
        first == "duckdb"
        and subprocess.run(["python3", "-c", "import duckdb"], capture_output=True).returncode
    ):
        pytest.skip("DuckDB is not installed: pip install duckdb")
    listed = {
        name: one if isinstance(one, list) else one["levels"]
        for name, one in document["factors"].items()
    }
    two = slice(-2, None) if path.stem in FIRST_FAILS else slice(2)
    ends = {f"factors.{name}": levels[two] for name, levels in listed.items()}
    if document["design"].get("kind") == "search":  # its baseline is one of all levels
        ends = {"design.budget_s": 15}
    short = {"workload.duration_s": 2} if document["workload"]["kind"] == "load" else {}
    searched = isinstance(document["workload"].get("rate"), dict)
    short |= (
        {"workload.rate": {"find": "capacity", "from": 20, "within": 1}, "design.budget_s": 20}
        if searched
        else {}
    )
    trust = {f"trust.{name}": value for name, value in NO_DOUBTS.items()}

    def measured():
        """The trials; None where the generator was late at each, no failure of the study."""
        try:
            return sweep(path, {**ends, **short, **trust, "replicates": 1, "warmup": 0}).trials()
        except SweepError as error:
            if GENERATOR in str(error):
                return None
            raise

    trials = undisturbed(measured, lambda trials: trials is None, attempts=2)
    ended = trials["status"].eq("ok")
    # At one of several trials it may be late as well.
    assert (ended | trials["error"].fillna("").str.contains("generator saturated")).all(), trials[
        "error"
    ].tolist()
    response = "latency_p99_ms" if searched else document["response"]["name"]
    assert trials.loc[ended, response].notna().all()
