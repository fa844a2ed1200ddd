import os
import sys

import pytest

import deadzone as dz
from deadzone.errors import StudyError, SweepError, WorkloadError
from verbs import clocks, functions


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    """Sweep into a folder of the test; one trial of each level."""
    monkeypatch.setenv("DEADZONE_HOME", str(tmp_path))
    usual = {"replicates": 1, "warmup": 0, "quiet": True, "trust__max_foreign_cpu": 99}
    return lambda function, levels, **design: dz.sweep(function, levels, **{**usual, **design})


def test_a_number_is_the_result_and_a_global_of_the_function_goes_with_it(sweep):
    run = sweep(functions.weighted, {"n": [1, 2]})
    assert run.trials.groupby("n")["result"].unique().map(list).to_dict() == {1: [2.0], 2: [3.0]}
    assert (run.trials["setup_s"] > 0).all()
    assert run.study.workload.source == "def weighted(n):\n    return WEIGHTS[n]\n"


def test_a_function_of_the_notebook_is_handed_over_by_value(sweep):
    base = 10

    def shifted(n, is_on=None, mode="slow"):
        return {
            "total": base + n,
            "known": os.getpid() != parent,
            "text": 1.0 * (is_on is True) + len(mode),
        }

    parent = os.getpid()
    levels = {"n": [1, 2], "is_on": [True, None], "mode": ["slow", "quick"]}
    trials = sweep(shifted, levels, response="total").trials
    assert set(trials["status"]) == {"ok"} and set(trials["known"]) == {1.0}
    assert (trials["total"] == base + trials["n"]).all()
    assert set(trials["is_on"]) == {"true", "none"}
    assert trials.groupby(["is_on", "mode"])["text"].first().to_dict() == {
        ("none", "quick"): 5.0, ("none", "slow"): 4.0, ("true", "quick"): 6.0,
        ("true", "slow"): 5.0,
    }  # fmt: skip


def test_globals_of_the_function_may_have_the_names_of_ours(sweep):
    trials = sweep(clocks.timed, {"n": [1, 2]}).trials
    assert set(trials["status"]) == {"ok"} and (trials["result"] > 0).all()


def test_every_trial_is_an_interpreter_of_its_own(sweep):
    seen = []

    def remembers(n):
        seen.append(n)
        return {"calls": len(seen), "pid": os.getpid()}

    trials = sweep(remembers, {"n": [1, 2]}).trials
    assert set(trials["calls"]) == {1.0} and trials["pid"].nunique() == len(trials)
    assert seen == []


@pytest.mark.alone("the CPU time of the call is compared with what it was told to use")
def test_the_call_alone_is_counted(sweep):
    def slow_to_import():
        class Heavy:
            def __reduce__(self):
                return functions.busy, (1, 0.4)

        return Heavy()

    heavy = slow_to_import()

    def light(n):
        assert heavy is None  # what was busy as it was read
        functions.busy(n)

    trials = sweep(light, {"n": [1, 4]}).trials
    cpu_s = trials["user_s"] + trials["sys_s"]
    assert (trials["setup_s"] > 0.4).all()
    assert cpu_s[trials["n"] == 1].between(0.045, 0.15).all()
    assert cpu_s[trials["n"] == 4].between(0.19, 0.35).all()
    assert (trials["running_s"] < 0.35).all()


def test_a_limit_is_put_in_force_and_is_no_argument(sweep):
    trials = sweep(functions.busy, {"cpu_limit": [0.1, "none"], "seconds": [0.1], "n": [1]}).trials
    limited = trials[trials["cpu_limit"] == "0.1"]
    assert (limited["cpu_efficiency"] < 0.2).all() and (limited["nr_throttled"] > 0).all()
    most = limited["wall_s"] / 0.1 + 2
    assert (limited["nr_periods"] <= most).all(), "those of the imports are not among them"
    assert (trials.loc[trials["cpu_limit"] == "none", "nr_throttled"].fillna(0) == 0).all()


def test_a_function_that_raises_is_a_failed_trial_with_its_traceback(sweep):
    trials = sweep(functions.fails, {"n": [1, 2, 4]}, response="loss").trials
    failed = trials[trials["n"] == 2]
    assert set(failed["status"]) == {"failed"}
    assert set(failed["error"]) == {"ValueError: two is too many"}
    assert 'raise ValueError("two is too many")' in failed["traceback"].iloc[0]
    assert "call.py" not in failed["traceback"].iloc[0]
    assert trials.loc[trials["n"] == 4, "loss"].tolist() == [0.25]


def test_a_pool_of_processes_finds_the_functions_of_the_notebook(sweep):
    assert set(sweep(functions.squares, {"n": [1, 2]}).trials["result"]) == {8.0, 12.0}


def test_what_a_started_program_uses_is_counted(sweep):
    trials = sweep(functions.starts_a_program, {"n": [1, 20]}).trials.set_index("n")
    used = trials["user_s"] + trials["sys_s"]
    assert used[20] > used[1]


def test_an_interpreter_that_ends_in_the_call_is_a_failed_trial(sweep):
    with pytest.raises(SweepError, match="ended with exit code"):
        sweep(functions.leaves, {"n": [3, 4, 5]})


def test_a_call_that_takes_too_long_is_a_time_out(sweep):
    trials = sweep(functions.hangs, {"n": [0.01, 30]}, timeout_s=1).trials
    assert trials.set_index("n")["status"].to_dict() == {0.01: "ok", 30: "timeout"}


@pytest.mark.parametrize(
    ("returned", "said"),
    [("'abc'", "which is no number"), ("{'wall_s': 1.0}", "the name of another column"),
     ("{'n': 1.0}", "the name of another column"), ("{'other': 1.0}", "returned no 'loss'")],
)  # fmt: skip
def test_what_is_no_column_fails_the_trial(sweep, returned, said):
    function = eval(f"lambda n: {returned}")
    with pytest.raises(SweepError, match=said):
        sweep(function, {"n": [1, 2, 3]}, response="loss", name="columns")


def test_levels_that_the_function_does_not_take_are_refused_before_anything_runs(sweep, tmp_path):
    with pytest.raises(StudyError, match="unexpected keyword argument 'm'"):
        sweep(functions.busy, {"n": [1], "m": [1, 2]})
    with pytest.raises(StudyError, match="missing a required argument: 'n'"):
        sweep(functions.busy, {"seconds": [0.1, 0.2]})
    with pytest.raises(StudyError, match="a level is a number"):
        sweep(functions.busy, {"n": [object(), 2]})
    with pytest.raises(StudyError, match="cannot be handed to another interpreter"):
        file = sys.stdout
        sweep(lambda n: file.fileno(), {"n": [1, 2]}, name="open-file")
    assert dz.runs().empty


def test_no_pickle_is_stored_and_the_text_alone_is_not_executed(sweep, deadzone):
    run = sweep(functions.weighted, {"n": [1, 2]})
    kept = {path.name for path in run.folder.rglob("*") if path.is_file()}
    assert kept <= {"study.yaml", "trials.jsonl", "trials.parquet", "telemetry.jsonl", "telemetry.parquet",  # noqa: E501
                    "provenance.json", "lock"}  # fmt: skip
    kept = [path.read_bytes() for path in run.folder.rglob("*") if path.is_file()]
    assert not any(b"cloudpickle" in content for content in kept)
    with pytest.raises(WorkloadError, match=r"sweep it there, with dz\.sweep"):
        dz.sweep(run.study, quiet=True)


def test_a_run_goes_on_with_the_same_function_and_no_other(sweep):
    run = sweep(functions.weighted, {"n": [1, 2]})
    assert len(sweep(functions.weighted, {"n": [1, 2]}, resume=run.name).trials) == len(run.trials)
    with pytest.raises(Exception, match="The study was changed"):
        sweep(lambda n: 2.0 * n, {"n": [1, 2]}, name="weighted", resume=run.name)
