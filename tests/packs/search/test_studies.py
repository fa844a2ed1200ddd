import json
import os
import signal
import subprocess
import sys
from functools import partial

import pandas as pd
import pytest
import yaml
from disturbance import NO_DOUBTS
from waiting import wait_for

import deadzone as dz
from deadzone.analysis.adaptive.slices import proposer_of
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.progress import Progress
from deadzone.run.sweep.proposed import trials_of
from deadzone.run.sweep.running import run_sweep
from deadzone.store.run import RunFolder

PROGRAM = """
import os, sys
workers, codec, log = int(sys.argv[1]), sys.argv[2], sys.argv[3]
if os.environ.get("BROKEN", "-") in (codec, "all"):
    sys.exit("it does not work")
cost = 10 / workers**0.5 * {"gzip": 1.0, "zstd": 0.6, "raw": 1.3}[codec]
noise = int.from_bytes(os.urandom(4), "big") / 2**31 - 1
print("cost:", cost * (1 + 0.03 * noise))
"""
"""Workers and codecs matter, the log does not."""

FACTORS = {"workers": [1, 2, 4, 8], "codec": ["gzip", "zstd", "raw"], "log": ["long", "short"]}
BEST = {"workers": 8, "codec": "zstd"}


def written(home, env=None, factors=FACTORS, **design):
    """The file of a study that searches the knobs of the program. design: beside its kind."""
    folder = home / "notebooks" / "studies"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.py").write_text(PROGRAM)
    python = [sys.executable, "-I", "-S", str(folder / "program.py")]
    workload = {"kind": "command", "argv": [*python, *(f"{{{name}}}" for name in FACTORS)]}
    responses = {"cost": {"regex": r"cost: ([0-9.]+)"}}
    document = {
        "study": "probe", "workload": {**workload, "responses": responses, "env": env or {}},
        "factors": factors, "design": {"kind": "search", "trials": 36, "warmup": 1, **design},
        "response": {"name": "cost", "unit": None, "goal": "min"}, "trust": NO_DOUBTS,
    }  # fmt: skip
    path = folder / "probe.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


@pytest.fixture
def study(home):
    return partial(written, home)


def the_run(home):
    (folder,) = (home / "data" / "runs" / "probe").iterdir()
    return RunFolder(folder)


@pytest.fixture(scope="module")
def resumed(tmp_path_factory):
    """The repository of a search that was killed in its second block and then resumed, and what
    was recorded before."""
    home = tmp_path_factory.mktemp("resumed")
    path = written(home)
    with pytest.MonkeyPatch.context() as here:
        here.setenv("DEADZONE_HOME", str(home))
        argv = (sys.executable, "-m", "deadzone.cli.main", "sweep", str(path))
        with subprocess.Popen(argv, stderr=subprocess.DEVNULL, start_new_session=True) as sweep:
            wait_for(lambda: trials_in(home) >= 16, "no second block", patience_s=120)
            os.killpg(sweep.pid, signal.SIGKILL)
        before = the_run(home).records()
        opened, told = open_run(str(path), resume="latest"), Progress()
        chosen = trials_of(opened.plan, proposer_of(opened.plan), told)
        run_sweep(opened.plan, opened.run, told, chosen)
    return home, before


def trials_in(home):
    journals = home.glob("data/runs/probe/*/trials.jsonl")
    return sum(path.read_bytes().count(b"\n") for path in journals)


@pytest.fixture
def found(home, resumed, monkeypatch):
    """The run of that search, where the command finds it."""
    monkeypatch.setenv("DEADZONE_HOME", str(resumed[0]))
    return the_run(resumed[0])


def is_what_the_search_asked_for(run):
    """Whether each batch is what `dz.search` asks for after the trials before it."""
    trials = run.trials()
    trials = trials[~trials["warmup"]].rename(columns={"search_stage": "stage"})
    for batch in run.batches():
        numbers = [trial["trial"] for trial in batch.get("trials", ())]
        before = trials[trials["trial"] < (min(numbers) if numbers else len(trials) + 2)]
        asked = dz.search(before, FACTORS, "cost", "min", trials=36, seed=1).ask[[*FACTORS]]
        if asked.to_dict("records") != [trial["levels"] for trial in batch.get("trials", ())]:
            return False
    return True


@pytest.mark.programs
def test_a_search_that_was_killed_goes_on_where_it_was(found, resumed):
    _, before = resumed
    assert 16 <= len(before) < 37
    assert found.records()[: len(before)] == before
    numbers = [record["trial"] for record in found.records()]
    assert numbers == [*range(1, len(numbers) + 1)] and len(numbers) <= 61
    assert found.trials()["search_stage"].eq("confirm").sum() == 12
    assert is_what_the_search_asked_for(found)


@pytest.mark.programs
def test_a_sweep_ends_in_the_confirmed_setting_and_its_gain(found, deadzone):
    said = json.loads(deadzone("recommend", "probe/latest", "--json", code=0).out)
    assert BEST.items() <= said["levels"].items()
    assert said["state"] in ("set", "tied") and said["probability"] > 0.5
    assert "times better than the baseline" in said["reason"] and "Live: " in said["reason"]
    assert "doubtful" not in said["reason"]
    again = deadzone("sweep", "probe", "--resume", "latest", code=0).err  # nothing is left to do
    n = len(found.records())
    assert f"{n} of {n} trials measured" in again
    searched = dz.load_run("probe/latest").searched
    # An interval of 95 % misses one time in twenty, and not by much.
    assert 0.97 * searched.gain_low < 8**0.5 / 0.6 < 1.03 * searched.gain_high
    assert searched.effects.set_index("knob").loc["log", "verdict"] != "live"
    claims = {
        "workers 8 at least 2x faster than workers 1": "supported",
        "codec zstd at least 3x faster than codec gzip": "contradicted",
        "log long at least 2x faster than log short": "contradicted",
    }
    judged = dz.judge([*claims], dz.load_run("probe/latest"))
    assert {one.claim: one.verdict for one in judged} == claims


@pytest.mark.programs
def test_a_report_states_the_setting_the_knobs_and_the_best_so_far(found):
    run = dz.load_run("probe/latest")
    blocks = {getattr(block, "id", ""): block for block in run.report().face()}
    assert {"response", "effects", "best-so-far"} <= {*blocks}
    assert "slice" not in " ".join(blocks)
    assert {*blocks["effects"].frame.iloc[:, 0]} == {*FACTORS}
    last = run.searched.trials.iloc[-1]
    assert f"{last['best']:.2f}"[:3] in blocks["best-so-far"].caption
    assert last["best"] > run.trials["cost"].min()


def test_before_it_is_confirmed_there_is_no_setting_and_the_best_so_far_is_said(
    study, home, deadzone
):
    deadzone("sweep", study(), "-p", "design.budget_s", "0.6", code=0)
    run = the_run(home)
    assert len(run.records()) < 36 and "is spent" in run.ending()[0]
    said = deadzone("recommend", "probe/latest", "--json", code=7)
    assert json.loads(said.out)["state"] == "open"
    assert "The search is not confirmed yet" in said.err and "--resume" in said.err


def test_a_rehearsal_on_paper_says_the_trials_and_lists_no_cells(study, deadzone):
    said = deadzone("sweep", study(), "--dry-run", code=0).out
    assert "at most 60 trials" in said and "24 treatments" in said and len(said.splitlines()) < 6


@pytest.mark.parametrize(
    ("design", "words"),
    [({"baseline": {"workers": 3}}, "baseline.workers is 3"),
     ({"where": "workers < 0"}, "baseline does not meet `where: workers < 0`"),
     ({"when": {"log": {"codec": "xz"}}}, "when.log.codec is 'xz'"),
     ({"trials": 20}, "Set `trials` to 32"),
     ({"kind": "factorial", "trials": 36}, "trials is given for `kind: search`")],
)  # fmt: skip
def test_what_leaves_nothing_to_search_is_refused_with_its_key(
    study, deadzone, home, design, words
):
    said = deadzone("sweep", study(**design), code=2)
    assert words in said.err and not (home / "data").exists()


def test_without_the_extra_the_study_is_refused_with_its_name(study, deadzone, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert "[search]" in deadzone("sweep", study(), "--dry-run", code=4).err


def test_a_baseline_that_fails_ends_the_search_at_once(study, home, deadzone):
    said = deadzone("sweep", study({"BROKEN": "all"}), code=3)
    assert "it does not work" in said.err and len(the_run(home).records()) == 3


def test_a_baseline_that_fails_beside_cells_that_work_ends_it_too(study, home, deadzone):
    said = deadzone("sweep", study({"BROKEN": "gzip"}), code=3)
    assert "The baseline fails" in said.err and "start a new run" in said.err
    assert "--resume" not in said.err


def test_a_program_that_fails_in_some_cells_is_searched_among_the_others(study, home, deadzone):
    deadzone("sweep", study({"BROKEN": "raw"}, along=0), code=0)
    said = json.loads(deadzone("recommend", "probe/latest", "--json").out)
    assert said["levels"]["codec"] == "zstd"
    trials = pd.DataFrame(the_run(home).trials())
    assert trials.loc[trials["codec"].eq("raw"), "status"].eq("failed").all()


WORKERS, CODECS = ("-L", "workers", "1,2,4,8"), ("-L", "codec", "gzip,zstd")
LINE = (*WORKERS, *CODECS, "--", "true", "{workers}", "{codec}")


def test_a_line_is_a_search_too(deadzone, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    said = deadzone("try", "--search", 40, "--dry-run", "--save", "s.yaml", *LINE, code=0).out
    assert "At most 64 trials of 8 treatments" in said
    assert "at most 64 trials" in deadzone("sweep", "./s.yaml", "--dry-run", code=0).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("--search", 3, *LINE), "--search: trials is 3; a search of 2 knobs takes 29 or more"),
     (("--search", 3, *LINE), "Give `--search 29`"),
     (("--search", 30, *CODECS, "--", "true", "{codec}"), "leave out `--search`"),
     (("--search", 30, "--adaptive", *LINE), "leave out `--adaptive`"),
     (("--search", 30, "--resolution", 0.05, *LINE), "leave out `--resolution`")],
)  # fmt: skip
def test_a_line_that_is_no_search_is_told_what_to_type(deadzone, arguments, said):
    assert said in deadzone("try", "--dry-run", *arguments, code=2).err
