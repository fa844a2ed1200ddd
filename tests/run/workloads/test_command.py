import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import needs

from deadzone.errors import StudyError, WorkloadError
from deadzone.run.workloads.command import find_number
from deadzone.study.workload_spec import ResponseExtraction

FAILS = "echo why >&2; exit 4"

NO_FACTOR = "{thread} in '{thread}' is no factor. Did you mean `threads`?"
ONCE = (
    "workload.setup runs once, before all levels, so {threads} cannot be used there; write prepare"
)


@pytest.fixture
def measure(write_study, sweep):
    """Sweep a command and give its table."""

    def run(argv, factors=None, replicates=1, **workload):
        keys = {"argv": argv, "workload": workload, "replicates": replicates}
        return sweep(write_study(factors=factors or {"threads": [1, 2]}, **keys)).trials()

    return run


@pytest.mark.parametrize(
    ("program", "arguments"),
    [("gzip", ["-{threads}", "--keep", "--stdout", "{inputs}/noise"]),
     pytest.param("xz", ["-T{threads}", "-0", "--keep", "--stdout", "{inputs}/noise"],
                  marks=pytest.mark.night),
     pytest.param("zstd", ["-T{threads}", "-1", "--stdout", "-q", "{inputs}/noise"],
                  marks=pytest.mark.night),
     pytest.param("pigz", ["-p", "{threads}", "-1", "--keep", "--stdout", "{inputs}/noise"],
                  marks=pytest.mark.night)],
)  # fmt: skip
def test_a_compressor_of_debian_is_swept_over_its_threads_or_levels(
    program, arguments, measure, traces
):
    needs(program)
    setup = ["dd", "if=/dev/urandom", "of={inputs}/noise", "bs=64K", "count=1", "status=none"]
    trials = measure([program, *arguments], replicates=2, setup=setup)
    assert trials["status"].tolist() == ["ok"] * 4
    assert sorted(trials["threads"]) == [1, 1, 2, 2]
    assert (trials["wall_s"] > 0).all()
    assert traces(os.getpid()) == [], "the input was left behind"


def test_levels_reach_arguments_environment_and_preparation(measure, tmp_path):
    log = tmp_path / "log"
    trials = measure(
        ["sh", "-c", 'test "$SIZE" = "$1" && cat "$2/made"', "sh", "{size}", "{scratch}"],
        factors={"size": [1_099_511_627_776, "4k"]},
        env={"SIZE": "{size}", "LOG": str(log)},
        prepare=["sh", "-c", "echo {size} > {scratch}/made; echo {size} >> " + str(log)],
        responses={"made": {"regex": r"^(\d+)"}},
    )
    assert trials["status"].tolist() == ["ok", "ok"]
    assert sorted(trials["made"]) == [4, 1_099_511_627_776]
    assert sorted(log.read_text().split()) == ["1099511627776", "4k"]


def test_the_scratch_folder_is_empty_for_each_trial_and_the_inputs_stay(measure, tmp_path):
    count = "ls {scratch} | wc -l; cat {inputs}/seed; touch {scratch}/frame"
    trials = measure(
        ["sh", "-c", count + " # {threads}"],
        replicates=3,
        setup=["sh", "-c", "echo 7 > {inputs}/seed"],
        cleanup=["cp", "{inputs}/seed", str(tmp_path)],
        responses={"found": {"regex": r"\A(\d+)"}, "seed": {"regex": r"(\d+)"}},
    )
    assert trials["found"].tolist() == [0] * 6
    assert trials["seed"].tolist() == [7] * 6 and (tmp_path / "seed").read_text() == "7\n"


def test_the_working_folder_is_the_studys_or_one_named_from_there(measure, home):
    (home / "notebooks" / "studies" / "here").mkdir()
    (home / "notebooks" / "studies" / "here" / "five").write_text("5\n")
    trials = measure(["cat", "five"], cwd="here", env={"T": "{threads}"})
    assert trials["status"].tolist() == ["ok", "ok"]
    trials = measure(["cat", "here/five"], env={"T": "{threads}"})
    assert trials["status"].tolist() == ["ok", "ok"]


@pytest.mark.parametrize(
    ("printed", "extraction", "value"),
    [("speed 3.5 MB/s", {"regex": r"speed ([\d.]+)"}, 3.5), ("1\n2\n3\n", {"regex": r"^\d$"}, 3),
     ("12e3", {"regex": r".+"}, 12000), ('{"a": {"b": [1, 2.5]}}', {"json_path": "a.b[1]"}, 2.5),
     ('{"a": "7"}', {"json_path": "a"}, 7), ('[{"t": 1}, {"t": 4}]', {"json_path": "max([].t)"}, 4),
     ("nothing here", {"regex": r"\d+"}, None), ("nan inf", {"regex": r"nan"}, None),
     ("nan inf", {"regex": r"inf"}, None), ("word", {"regex": r"word"}, None),
     ("a", {"regex": r"a(\d)?"}, None),
     *((text, {"json_path": "a"}, None) for text in ("not json", '{"a": true}', '{"a": null}')),
     ('{"a": [1]}', {"json_path": "a"}, None), ('{"a": "x"}', {"json_path": "max(a)"}, None),
     ('{"a": 1' + "0" * 400 + "}", {"json_path": "a"}, None)],
)  # fmt: skip
def test_a_response_is_read_from_what_the_program_prints(printed, extraction, value):
    assert find_number(ResponseExtraction(**extraction), printed) == value


def test_a_response_is_read_from_the_stream_that_is_named(measure):
    argv = ["sh", "-c", "echo 1 >&2; echo {threads}0"]
    regex = {"regex": r"(\d+)"}
    streams = {name: {**regex, "stream": name} for name in ("stdout", "stderr", "both")}
    found = measure(argv, factors={"threads": [1]}, responses=streams).iloc[0]
    assert (found["stdout"], found["stderr"], found["both"]) == (10, 1, 1)


@given(st.text(), st.sampled_from([r"(\S+)", r"\d+", r"(.)?x"]))
def test_any_output_gives_a_finite_number_or_nothing(printed, pattern):
    for extraction in (ResponseExtraction(regex=pattern), ResponseExtraction(json_path="a")):
        value = find_number(extraction, printed)
        assert value is None or math.isfinite(value)


def test_a_response_that_is_not_printed_fails_the_trial_with_its_name(measure):
    program = "echo level {threads}; test {threads} = 1 || echo speed 9"
    trials = measure(["sh", "-c", program], responses={"speed": {"regex": r"speed (\d+)"}})
    failed, fine = (trials[trials["threads"] == level].iloc[0] for level in (1, 2))
    assert failed["status"] == "failed"
    assert failed["error"] == "the program printed no number for the response speed"
    assert (fine["status"], fine["speed"]) == ("ok", 9)


def test_the_exit_codes_that_are_expected_are_fine_and_others_are_not(measure):
    argv = ["sh", "-c", "exit {threads}"]
    trials = measure(argv, factors={"threads": [1, 2]}, expected_exit_codes=[1])
    by_code = trials.set_index("exit_code")
    assert by_code.loc[1, "status"] == "ok"
    assert (by_code.loc[2, "status"], by_code.loc[2, "error"]) == ("failed", "exit code 2")


@pytest.mark.parametrize(
    ("workload", "error", "words"),
    [({"argv": ["./gone", "{threads}"]}, WorkloadError,
      "the program './gone' is not installed here, or may not be run"),
     ({"cwd": "gone"}, WorkloadError, "is no folder"),
     ({"setup": ["false"]}, WorkloadError, "workload.setup failed with exit code 1"),
     ({"setup": ["sh", "-c", FAILS]}, WorkloadError, f"exit code 4: sh -c {FAILS}\nwhy"),
     ({"prepare": ["gone"]}, WorkloadError, "the program 'gone' is not installed"),
     ({"argv": ["true", "{thread}"]}, StudyError, NO_FACTOR),
     ({"setup": ["echo", "{threads}"]}, StudyError, ONCE)],
)  # fmt: skip
def test_what_cannot_work_leaves_no_run_behind(workload, error, words, write_study, sweep, home):
    study = write_study(argv=["true", "{threads}"], workload=workload)
    with pytest.raises(error) as refused:
        sweep(study)
    assert words in str(refused.value)
    assert not list((home / "data" / "runs").glob("*"))


def test_a_program_that_is_a_level_is_looked_for_when_its_turn_comes(measure):
    trials = measure(["{tool}", "x"], factors={"tool": ["true", "no-such-tool"]})
    by_tool = trials.set_index("tool")
    assert by_tool.loc["true", "status"] == "ok"
    assert "did not start: No such file" in by_tool.loc["no-such-tool", "error"]


def test_the_program_is_recorded_with_its_version_but_a_script_is_not_asked(
    write_study, sweep, home, tmp_path
):
    run = sweep(write_study(argv=["bash", "-c", "exit 0", "{threads}"]))
    assert run.provenance()["program"] == "bash"
    assert "bash" in run.provenance()["program_version"]
    script = tmp_path / "bench.sh"
    script.write_text(f"#!/bin/sh\necho started >> {tmp_path}/log\n")
    script.chmod(0o755)
    run = sweep(write_study(argv=[str(script), "{threads}"]))
    assert run.provenance()["program_version"] is None
    started = (tmp_path / "log").read_text().splitlines()
    assert len(started) == 4, "the script ran for its trials only"


@pytest.mark.parametrize(
    ("printed", "pattern", "told"),
    [("1,902.3 req/s", r"([\d.]+) req/s", "'902.3' is part of '1,902.3'"),
     ("took 0,52 s", r"took (\d+)", "'0' is part of '0,52'"),
     ("took 12.5 ms", r"(\d+) ms", "'5' is part of '12.5'"),
     ("ops: 1.81234e+06", r"ops: ([\d.]+)", r"'1.81234' is part of '1.81234e\+06'"),
     ("rate: 12,345", r"rate: ([\d,]+)", "'12,345' is none: print it without marks")],
)  # fmt: skip
def test_a_part_of_a_longer_number_is_no_response(measure, printed, pattern, told):
    program = f"echo '{printed}' # {{threads}}"
    with pytest.raises(StudyError, match=told):
        measure(["sh", "-c", program], responses={"rate": {"regex": pattern}})


def test_a_number_beside_marks_is_read(measure):
    program = "echo '4,0.52'; echo '4,1234'; echo '4 128 ms'; echo 'at 1.5 GHz: 7' # {threads}"
    patterns = {
        "last": r",(0[\d.]+)$", "first": r"^(\d+),", "second": r",(\d{4})$", "took": r"(\d+) ms",
        "named": r": (\d+)",
    }  # fmt: skip
    responses = {name: {"regex": pattern} for name, pattern in patterns.items()}
    trial = measure(["sh", "-c", program], responses=responses).iloc[0]
    assert [trial[name] for name in patterns] == [0.52, 4, 1234, 128, 7]
