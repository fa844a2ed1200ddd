import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml

from deadzone.report.sweep.source import load_source
from deadzone.store.run import list_runs


@pytest.fixture
def runs(home):
    return lambda: list_runs(home / "data" / "runs")


def test_a_study_is_swept_by_its_name_and_the_run_is_named(write_study, deadzone, runs):
    write_study()
    said = deadzone("sweep", "probe", "--json")
    assert said.code == 0
    answer = json.loads(said.out)
    (run,) = runs()
    assert answer == {"run_id": run.run_id, "folder": str(run.folder)}
    assert "trial 1 of 4: threads=" in said.err
    assert "4 of 4 trials" in said.err and f"recorded in {run.folder}" in said.err
    said = deadzone("sweep", "probe").out.splitlines()[-1]
    (new,) = {other.run_id for other in runs()} - {run.run_id}
    assert said == f"Next: deadzone report probe/{new}"


def test_a_dry_run_prints_the_plan_and_does_nothing(write_study, deadzone, home):
    argv, factors = ["touch", str(home / "touched"), "{threads}"], {"threads": [1, 2, 4]}
    write_study(argv=argv, factors=factors, design={"replicates": 5, "warmup": 2})
    before = sorted(home.rglob("*"))
    said = deadzone("sweep", "probe", "--dry-run", code=0)
    assert said.out.splitlines() == [
        "probe: 3 treatments x 5 replicates",
        "  threads=1",
        "  threads=2",
        "  threads=4",
        "21 trials, 2 of each treatment for warm-up",
        "estimated time: unknown: no earlier run of this study",
    ]
    plan = json.loads(deadzone("sweep", "probe", "--dry-run", "--json").out)
    assert plan["n_trials"] == len(plan["order"]) == 21
    assert sorted(home.rglob("*")) == before


def test_minus_one_of_a_study_is_a_word_unless_the_line_says_that_it_is_a_level(
    write_study, deadzone, runs
):
    workload = {"kind": "command", "argv": ["true", "{gogc}"]}
    write_study(workload=workload, factors={"gogc": [-1, 50, 100, 200]}, design={"replicates": 1})
    deadzone("sweep", "probe")
    deadzone("sweep", "probe", "--minus-one", "level")
    placed = [run.study().factors["gogc"].at for run in runs()]
    assert sorted(placed, key=len) == [{}, {"-1": -1.0}]


def test_a_dry_run_estimates_from_the_latest_run_even_beside_a_damaged_one(
    write_study, deadzone, runs
):
    write_study()
    deadzone("sweep", "probe")
    (run,) = runs()
    later = run.folder.parent / "99990101T000000Z-ffff"
    shutil.copytree(run.folder, later)
    (later / "trials.jsonl").write_text("damaged\nlines\n")
    assert "estimated time: 0 s" in deadzone("sweep", "probe", "--dry-run").out


def test_runs_and_warm_up_mean_what_they_mean_in_hyperfine(write_study, deadzone, runs):
    write_study()
    deadzone("sweep", "probe", "-r", "3", "-w", "1", code=0)
    counts = runs()[0].trials().groupby(["threads", "warmup"]).size().to_dict()
    assert counts == {(n, is_warmup): 1 if is_warmup else 3 for n in (1, 2) for is_warmup in (0, 1)}


def test_parameters_mean_what_they_mean_in_papermill(write_study, deadzone, home, tmp_path):
    write_study()
    more = tmp_path / "parameters.yaml"
    more.write_text("replicates: 7\nfactors.threads: [8, 16]\n")
    plan = json.loads(deadzone("sweep", "probe", "-f", more, "--dry-run", "--json").out)
    assert (plan["replicates"], plan["treatments"]) == (7, [{"threads": 8}, {"threads": 16}])
    changed = ("-p", "replicates", "2", "-p", "factors.threads", "{from: 1, to: 3, step: 1}")
    arguments = ("-f", more, *changed, "-p", "warmup", "2", "-w", "3")
    plan = json.loads(deadzone("sweep", "probe", *arguments, "--dry-run", "--json").out)
    assert (plan["replicates"], len(plan["treatments"])) == (2, 3)
    assert plan["n_trials"] == 3 * (2 + 3)


BAD_INPUT = {
    "an unknown name": ("prob",
                        "There is no study 'prob'. Did you mean `probe`? Known studies: probe."),
    "an unknown parameter": ("probe -p replicate 3", "Did you mean `replicates`?"),
    "a parameter that is no YAML": ("probe -p factors.threads '[1,'",
                                    "-p factors.threads: this is not YAML"),
    "a parameter file that is missing": ("probe -f no.yaml",
                                         "no.yaml: cannot be read: No such file"),
    "a parameter file that is a list": ("probe -f list.yaml", "is a mapping of names to values"),
    "a parameter file that is no text": ("probe -f latin.yaml", "it is not UTF-8 text"),
    "less than no warm-up": ("probe -w -1", "it must be greater than or equal to 0"),
    "a command that does not exist": ("probe -p workload.argv \"[xzz, '{threads}']\"",
                                      "is not installed here"),
    "a limit below the kernel's least":
     ("probe -p factors.cpu_limit '[0.0001]' -p target.cpu_limit 1",
      "the kernel takes 0.01 cores or more"),
    "a mechanism that is not there": ("probe -p target.mechanism cgroup-v3",
                                      "allowed: auto, cgroup-v2"),
    "a run that is not there": ("probe --resume 20260101T000000Z-aaaa", "There is no run"),
    "a program that always fails": ("probe -p workload.argv \"[ls, /nowhere, '{threads}']\"",
                                    "The program printed:"),
}  # fmt: skip
"""What is typed after `sweep`, and words of what is said."""

CODES = {
    "a command that does not exist": 4,
    "a limit below the kernel's least": 4,
    "a program that always fails": 3,
}
"""Exit codes of those that are no wrong usage."""


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_paragraph_without_a_traceback(
    case, write_study, deadzone, home, monkeypatch, traces
):
    write_study()
    monkeypatch.chdir(home)
    (home / "list.yaml").write_text("[1, 2]\n")
    (home / "latin.yaml").write_bytes(b"title: caf\xe9\n")
    line, words = BAD_INPUT[case]
    said = deadzone("sweep", *shlex.split(line), code=CODES.get(case, 2))
    assert words in said.err and "Traceback" not in said.err and said.out == ""
    assert "\n\n" not in said.err[said.err.index("deadzone: ") :]
    assert traces(os.getpid()) == []
    kept = list((home / "data" / "runs").glob("*/*"))
    assert len(kept) == (case == "a program that always fails"), "nothing is left behind"


OF_NOBODY = "-all,+dac_read_search"
AS_NOBODY = (
    *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", f"--inh-caps={OF_NOBODY}"),
    *(f"--ambient-caps={OF_NOBODY}", f"--bounding-set={OF_NOBODY}"),
)
"""A user who may read this Python environment, wherever it lies, and change nothing."""


@pytest.fixture
def somewhere_else(write_study):
    """A repository that nobody may write runs into."""
    study = write_study(factors={"threads": [1], "cpu_limit": [0.5]})
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        for folder in ("notebooks/studies", "data/runs"):
            (place / folder).mkdir(parents=True)
        shutil.copy(study, place / "notebooks" / "studies")
        (place / "data" / "runs").chmod(0o777)
        yield place


def as_nobody(place, *arguments):
    """The command, as a user who may read this Python environment and change nothing."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root, with setpriv, can try what another user may do")
    return subprocess.run(
        (*AS_NOBODY, sys.executable, "-m", "deadzone.cli.main", *arguments),
        env={**os.environ, "DEADZONE_HOME": str(place), "HOME": str(place)}, cwd=place,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_without_permission_for_a_limit_the_remedy_is_told(somewhere_else):
    study = somewhere_else / "notebooks" / "studies" / "probe.yaml"
    study.write_text(study.read_text() + "target: {memory_limit: 100000000}\n")
    said = as_nobody(somewhere_else, "sweep", "probe")
    assert said.returncode == 4, said.stderr
    assert "No mechanism can put this study's limits in force here:" in said.stderr
    assert "emulated: A memory limit of 100,000,000 bytes needs a control group" in said.stderr
    assert "`deadzone doctor` says what is missing" in said.stderr
    assert "Traceback" not in said.stderr
    assert list((somewhere_else / "data" / "runs").iterdir()) == []


@pytest.mark.night
def test_without_permission_for_any_quota_the_limit_is_emulated_and_that_is_said(somewhere_else):
    study = somewhere_else / "notebooks" / "studies" / "probe.yaml"
    busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
    study.write_text(
        yaml.safe_dump({"study": "probe",
                        "workload": {"kind": "command", "argv": ["sh", "-c", busy, "{threads}"]},
                        "factors": {"cpu_limit": [0.1, 0.2], "threads": [1]},
                        "design": {"replicates": 2, "warmup": 0},
                        "trust": yaml.safe_load(study.read_text())["trust"]}),
    )  # fmt: skip
    said = as_nobody(somewhere_else, "sweep", "probe")
    assert said.returncode == 0, said.stderr
    (run,) = list_runs(somewhere_else / "data" / "runs")
    assert run.provenance()["limits_mechanism"] == "emulated"
    assert {"cgroup-v2", "cgroup-v1", "systemd"} <= set(run.provenance()["mechanisms_refused"])
    trials = run.trials()
    assert (trials["status"] == "ok").all()
    assert (
        trials["user_s"] + trials["sys_s"] <= 1.1 * trials["cpu_limit"] * (trials["wall_s"] + 0.1)
    ).all()
    first, *held = load_source(str(run.folder)).doubts
    assert "were emulated" in first
    assert all("in which it was stopped in nearly all periods" in sentence for sentence in held)


def test_the_doctor_names_the_emulation(somewhere_else):
    assert re.search(r"ok +CPU limit +emulated", as_nobody(somewhere_else, "doctor").stdout)


def test_a_dry_run_of_what_is_resumed_tells_what_is_left(write_study, deadzone, runs):
    write_study(factors={"threads": [1, 2]}, design={"replicates": 2})
    assert deadzone("sweep", "probe").code == 0
    (run,) = runs()
    journal = run.folder / "trials.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-2]))
    said = deadzone("sweep", "probe", "--resume", "latest", "--dry-run")
    assert "\n2 of them are left\n" in said.out
    plan = json.loads(deadzone("sweep", "probe", "--resume", "latest", "--dry-run", "--json").out)
    assert plan["n_remaining"] == len(plan["order"]) == 2
    assert len(journal.read_text().splitlines()) == len(lines) - 2
