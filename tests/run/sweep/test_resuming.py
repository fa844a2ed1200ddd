import json

import pytest

LEVELS = [1, 2, 4, 8, 16, 32]


@pytest.fixture
def begun(home, write_study, sweep, deadzone):
    """A run of a script, of which three quarters are measured; the script, and how it goes on."""
    script = home / "bench.sh"

    def write(program):
        script.write_text(f"sleep 0.0$1; {program}\n")

    write("echo 1.0")
    argv = ["sh", str(script), "{threads}"]
    study = write_study(argv=argv, factors={"threads": LEVELS}, replicates=4)
    run = sweep(study)
    lines = run.journal_file.read_text().splitlines(keepends=True)
    run.journal_file.write_text("".join(lines[:18]))

    def resume(*more, code):
        return deadzone("sweep", "probe", "--resume", "latest", *more, code=code)

    return run, write, resume


def test_a_run_of_another_program_is_refused_with_what_changed_and_two_ways_on(begun, home):
    run, write, resume = begun
    write("echo 2.0")
    said = resume(code=3)
    assert f"Run {run.run_id} began with another workload: file {home}/bench.sh was " in said.err
    assert f"Start a new run; or go on with `--resume {run.run_id} -p target.on_change" in said.err
    assert said.err.count("--resume") == 1
    assert len(run.records()) == 18
    write("echo 1.0")
    resume(code=0)
    assert run.trials()["trusted"].all()


def test_trials_of_another_program_are_named_wherever_the_run_is_judged(begun, deadzone):
    run, write, resume = begun
    write("echo 2.0")
    resume("-p", "target.on_change", "continue", code=0)
    trials = run.trials()
    assert trials["other_workload"].notna().tolist() == [False] * 18 + [True] * 6
    assert trials["trusted"].tolist() == [True] * 18 + [False] * 6
    write("echo 1.0")
    said = deadzone("recommend", run.folder, "--json", code=0)
    (finding,) = (one for one in json.loads(said.out)["findings"] if one["key"] == "other_workload")
    assert len(finding["trials"]) == 6
    assert "6 attempts at threads 1, 2" in said.err
    verdict = deadzone("recommend", run.folder, "--quiet", code=0).out
    assert "doubtful: 6 attempts" in verdict


def test_most_trials_of_another_program_are_not_taken_in_for_want_of_others(begun, deadzone):
    run, write, resume = begun
    lines = run.journal_file.read_text().splitlines(keepends=True)
    run.journal_file.write_text("".join(lines[:2]))
    write("echo 2.0")
    resume("-p", "target.on_change", "continue", code=0)
    said = deadzone("recommend", run.folder)
    assert "Other work on the machine" not in said.out + said.err
    assert "22 attempts" in said.out + said.err, said


def test_a_run_that_does_not_know_what_it_measured_goes_on(begun):
    run, write, resume = begun
    facts = run.provenance()
    del facts["identity"]
    (run.folder / "provenance.json").write_text(json.dumps(facts))
    write("echo 2.0")
    resume(code=0)
    assert len(run.records()) == 24
    assert run.trials()["trusted"].all()


def test_a_run_of_before_the_unit_was_taken_from_the_workload_goes_on_in_its_own(
    home, write_study, sweep, deadzone
):
    read = {"took": {"regex": r"(\S+) ms", "unit": "ms"}}
    argv = ["sh", "-c", "echo 1{n} ms"]
    keys = {"factors": {"n": [1, 2, 3]}, "response": {"name": "took"}}
    study = write_study(argv=argv, workload={"responses": read}, **keys)
    run = sweep(study)
    recorded = run.folder / "study.yaml"
    assert "unit: ms" in recorded.read_text()
    before, response = recorded.read_text().split("\nresponse:\n")
    recorded.write_text(before + "\nresponse:\n" + response.replace("unit: ms", "unit: s"))
    lines = run.journal_file.read_text().splitlines(keepends=True)
    run.journal_file.write_text("".join(lines[:-1]))
    deadzone("sweep", "probe", "--resume", "latest", code=0)
    assert run.study().response.unit == "s"
