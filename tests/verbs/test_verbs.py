import doctest
import importlib
import inspect
import subprocess
import sys

import pandas as pd
import pytest
from analysis.findings.made import sound_trials

import deadzone as dz
from deadzone.language.messages import speaking

WORDS = {
    "load_study", "sweep", "runs", "load_run", "read_table", "load_reference", "fit_phases",
    "compare", "doctor", "examine", "judge", "explain_phases", "propose", "attribute", "capacity",
    "search", "diff_profiles", "explore", "Verdict", "Table", "Figure", "publish",
    "check_parameters", "history",
}  # fmt: skip


def test_a_verb_of_an_earlier_release_says_what_to_do_instead():
    with pytest.raises(AttributeError, match=r"gone: dz.fit_phases\(.*by=OTHER\)"):
        getattr(dz, "fit_surface")  # noqa: B009


def test_dir_shows_the_verbs_alone():
    assert set(dir(dz)) == WORDS


@pytest.mark.parametrize("name", sorted(WORDS))
def test_a_verb_is_documented_with_what_it_takes(name):
    verb = getattr(dz, name)
    told = inspect.getdoc(verb)
    assert "Raises" in told or name in ("Table", "Verdict", "runs")
    for keyword, parameter in inspect.signature(verb).parameters.items():
        if parameter.kind is not parameter.VAR_KEYWORD:
            assert keyword in told


@pytest.mark.parametrize("module", sorted(set(dz.VERBS.values())))
def test_examples_hold(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_importing_the_package_loads_neither_pandas_nor_scipy():
    program = "import sys, deadzone; dir(deadzone); print({'pandas', 'scipy'} & {*sys.modules})"
    argv = [sys.executable, "-c", program]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "set()\n"


def test_a_table_is_read_from_a_file_or_a_published_study(tmp_path):
    frame = pd.DataFrame({"threads": [1, 2], "wall_s": [2.0, 1.0]})
    frame.to_csv(tmp_path / "own.csv", index=False)
    assert dz.read_table(tmp_path / "own.csv").equals(frame)
    published = dz.load_reference("ffmpeg-16-cores", "trials")
    assert dz.read_table("ffmpeg-16-cores/trials").equals(published)


def test_a_study_is_read_from_a_name_a_text_or_a_mapping():
    workload = {"kind": "command", "argv": ["true", "{n}"]}
    written = {"study": "own", "workload": workload, "factors": {"n": [1, 2]}}
    assert dz.load_study(written, replicates=2).design.replicates == 2
    text = f"study: own\nworkload: {workload}\nfactors: {{n: [1, 2]}}\n"
    assert dz.load_study(text).study == "own"
    assert dz.load_study("xz-threads", threads=[1, 2], design__timeout_s=9).design.timeout_s == 9


def test_a_verdict_withholds_the_setting_while_a_finding_stops_it():
    trials = sound_trials(4)
    assert dz.Verdict(dz.fit_phases(trials, "n", "wall_s")).style == "verdict"
    trials["left_running"] = 1
    model = dz.fit_phases(trials, "n", "wall_s")
    assert dz.examine(trials, "n", "wall_s")[0].severity == "stops"
    assert dz.Verdict(model).style == "warnings"
    assert model.recommend().setting is None
    assert dz.Verdict(model, anyway=True).verdict.startswith("Set ")


def test_a_factor_of_a_run_is_another_column_than_its_knob():
    run = dz.load_run("disk-block-size/reference")
    with pytest.raises(Exception, match="knob and by are the same column"):
        dz.examine(run, by=run.knob)
    with pytest.raises(Exception, match=r"`judge\(claims, run\)`"):
        dz.judge(run, ["block_size 4096 at least 2x faster than block_size 512"])


def test_what_is_worked_out_once_is_said_in_the_language_of_the_day():
    run = dz.load_run("disk-block-size/reference")
    english = str(run.recommend())
    with speaking("ko"):
        assert "operation" not in str(run.recommend())
    assert str(run.recommend()) == english


def test_a_verdict_says_a_doubt_once():
    curve = dz.load_reference("ffmpeg-threads", "limit-equals-threads")
    said = [str(one) for one in dz.Verdict(dz.fit_phases(curve, "cpu_limit", "wall_s")).paragraphs]
    assert sum("has one trial" in one for one in said) == 1
    end = "From 12 to 16 it is plateau (62 %) or reversal (35 %): nothing more to gain"
    assert any(end in one for one in said)


def test_by_is_one_name_or_several():
    trials = sound_trials(1, replicates=3)
    parts = [trials.assign(host=host, os=system) for host in "ab" for system in "xy"]
    trials = pd.concat(parts, ignore_index=True)
    knob, response = "n", "wall_s"
    assert list(dz.fit_phases(trials, knob, response, by=["host"])) == ["a", "b"]
    several = dz.fit_phases(trials, knob, response, by=["host", "os"])
    assert ("b", "x") in several and {"host", "os"} <= set(several.phases)
    assert len(dz.compare(trials, trials, response, by=["host"]).treatments) == 2
    assert dz.explore(trials, knob, response, by=["host"]).model


@pytest.mark.parametrize(
    ("file", "format", "column"),
    [("hyperfine.json", None, "wall_s"), ("jmh.json", None, "time_per_call_s"),
     ("wrk_latency.txt", None, "latency_p99_ms"), ("hey.csv", "hey", "latency_p99_ms"),
     ("hey.csv", None, "response-time")],
)  # fmt: skip
def test_a_file_of_another_tool_is_read_as_import_reads_it(file, format, column):
    assert column in dz.read_table(f"tests/data/imports/{file}", format)


def test_doctor_gives_what_the_command_shows():
    told = dz.doctor().set_index("what")
    assert list(told) == ["works", "why", "what_to_do"]
    assert told["works"]["machine"] and (told["why"] != "").all()


def test_types_of_results_are_there_for_annotations():
    assert {"Run", "Comparison", "Recommendation", "PhaseModel"} <= dz.TYPES
    assert all(isinstance(getattr(dz, name), type) for name in dz.TYPES)
