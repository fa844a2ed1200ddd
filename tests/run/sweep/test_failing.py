import pytest
from disturbance import NO_DOUBTS
from notes import Notes

from deadzone.errors import SweepError
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.running import run_sweep


@pytest.fixture
def sweep_of(write_study):
    """Sweeps a shell script over levels of a factor: its run, its notes and why it stopped."""

    def sweep_of(script, factor, levels, *arguments, resume=None, **design):
        argv = ["sh", "-c", script, "sh", *arguments]
        design = {"warmup": 0, **design}
        path = write_study(argv=argv, factors={factor: levels}, design=design, trust=NO_DOUBTS)
        opened, notes, problem = open_run(str(path), resume=resume), Notes(), ""
        try:
            run_sweep(opened.plan, opened.run, notes)
        except SweepError as error:
            problem = str(error)
        return opened.run, notes.told, problem

    return sweep_of


def counted(run):
    return run.trials()["mb"].value_counts().to_dict()


def test_a_sweep_of_which_no_level_ends_well_stops_after_all_of_them_once(sweep_of):
    needs_100 = 'test {mb} -ge 100 || (echo "out of memory" >&2; exit 1)'
    run, _, problem = sweep_of(needs_100, "mb", [8, 16, 32, 64], replicates=4)
    assert "The last 4 trials failed, the last one with: exit code 1." in problem
    assert "The program printed: out of memory" in problem
    assert "with time" not in problem
    assert counted(run) == {8: 1, 16: 1, 32: 1, 64: 1}


def test_levels_that_failed_twice_of_two_are_not_tried_again_and_the_others_are_answered(
    sweep_of, deadzone
):
    """Most levels fail, and the sweep goes on; a trace is told by its error."""
    trace = "echo java.lang.OutOfMemoryError: heap; echo '   at Main(1)'; exit 1"
    script = f"test {{mb}} -ge 100 || {{{{ {trace}; }}}}; sleep 0.$((900 / {{mb}}))"
    run, notes, problem = sweep_of(script, "mb", [8, 32, 64, 128, 256], replicates=3)
    assert problem == ""
    assert counted(run) == {8: 2, 32: 2, 64: 2, 128: 3, 256: 3}
    given_up = [note for note in notes if "failed 2 times of 2: exit code 1; " in note]
    assert [note[:5] for note in sorted(given_up)] == ["mb=32", "mb=64", "mb=8 "]
    assert all("OutOfMemoryError: heap'. It is not tried again" in note for note in given_up)
    assert notes[-1].startswith("12 of 15 trials measured, recorded in ")
    said = deadzone("recommend", run.run_id, "--anyway", code=0)
    assert "mb" in said.out, said.err


def test_the_first_line_and_the_last_ones_of_a_long_usage_are_shown(sweep_of):
    usage = "echo no such option; seq 1000; exit {n}"
    _, _, problem = sweep_of(usage, "n", [2, 3], replicates=4)
    first, *_, last, _ = problem.partition("The program printed: ")[2].splitlines()
    assert (first, last) == ("no such option", "1000")
    assert len(problem) < 1500 and "\n...\n" in problem


def test_a_level_that_failed_is_tried_again_when_the_run_is_resumed(sweep_of, tmp_path):
    mended = tmp_path / "mended"
    script = 'test {mb} -ge 100 || test -e "$1"'
    sweep_of(script, "mb", [64, 128], str(mended), replicates=4)
    mended.touch()
    run, *_ = sweep_of(script, "mb", [64, 128], str(mended), replicates=4, resume="latest")
    assert counted(run) == {64: 4, 128: 4}
    assert (run.trials()["status"] == "ok").sum() == 6


def test_a_program_that_ends_well_and_then_no_more_fails_with_time(sweep_of, tmp_path):
    used_up = 'echo >> "$1"; test $(wc -l < "$1") -le 20 # {n}'
    run, _, problem = sweep_of(
        used_up, "n", [1, 2, 4], str(tmp_path / "used"), replicates=30, rehearsal=False
    )
    assert "20 trials ended well and none after them: " in problem
    assert "it fails with time, not with n." in problem
    assert len(run.trials()) <= 24


def test_a_level_that_fails_now_and_then_is_tried_on(sweep_of, tmp_path):
    script = 'echo >> "$1{mb}"; test $(($(wc -l < "$1{mb}") % 2)) = 1'
    run, _, problem = sweep_of(script, "mb", [1, 2], str(tmp_path / "odd"), replicates=4)
    assert problem == ""
    assert counted(run) == {1: 4, 2: 4}
