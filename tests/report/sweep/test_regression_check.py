from dataclasses import replace

import pytest

from deadzone.language.messages import speak
from deadzone.report.document.display import Prose
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.regression_check import earlier_runs, regression_check
from deadzone.report.sweep.source import load_source
from deadzone.store.reference import reference_folder
from deadzone.store.run import RunFolder
from report.made_runs import PROVENANCE, curve


def scales_further(line):
    """A release that can use all of three cores."""
    level = line["levels"]["cpu_limit"]
    wall = line["wall_s"] * (4 / min(3.0, 9.0 if level == "none" else float(level))) / curve(level)
    return {**line, "wall_s": wall}


def since(run):
    return regression_check(analyse(load_source(str(run.folder))))


def test_the_first_run_of_a_study_and_a_plain_table_say_nothing_of_an_earlier_one(sound):
    of_table = replace(sound.analysis, source=replace(sound.analysis.source, folder=None))
    for analysis in (sound.analysis, of_table):
        found = regression_check(analysis)
        assert found.blocks() == [] and found.sentence == "" and not found.moved


def test_the_first_run_of_a_study_is_examined_too(make_run):
    found = since(make_run(lambda line: {**line, "left_running": 1}))
    assert found.now.stopped and found.now.findings[0].key == "left_running"


def test_a_second_run_alike_says_that_nothing_moved(make_run):
    make_run(run_id="run-1")
    found = since(make_run(run_id="run-2"))
    assert not found.moved
    assert "No phase moved since run run-1 of 5 March 2026" in found.sentence
    assert "of 7 steps" in found.sentence
    (prose,) = found.blocks()
    assert isinstance(prose, Prose)


def test_a_run_with_other_phases_names_the_steps(make_run):
    make_run(run_id="run-1")
    found = since(run := make_run(scales_further, run_id="run-2"))
    assert found.moved
    assert "Phases moved since run run-1" in found.sentence
    moved = " and ".join(f"{step} (plateau, now linear)" for step in ("2 to 2.5", "2.5 to 3"))
    assert moved in found.sentence
    prose = found.blocks()[0]
    assert prose.style == "warnings"
    speak("ko")
    found = since(run)
    assert "구간이 바뀌었습니다" in found.sentence


def test_the_latest_earlier_run_counts_and_later_ones_do_not(make_run):
    make_run(scales_further, run_id="run-1")
    middle = make_run(run_id="run-2")
    make_run(scales_further, run_id="run-3")
    found = since(middle)
    assert "since run run-1" in found.sentence and found.moved


def test_runs_of_two_machines_are_not_compared(make_run):
    make_run(run_id="run-1")
    run = make_run(scales_further, run_id="run-2")
    run.write_provenance({**PROVENANCE, "cpu_model": "Another CPU"})
    found = since(run)
    assert not found.moved
    assert "measured on another machine (Some CPU, now Another CPU)" in found.sentence
    assert len(found.blocks()) == 1


def test_a_run_that_was_cut_short_hides_no_move(make_run):
    make_run(run_id="run-1")
    make_run(lambda line: {**line, "warmup": True}, run_id="run-2")
    found = since(make_run(scales_further, run_id="run-3"))
    assert found.moved and "since run run-1" in found.sentence


def test_published_runs_beside_each_other_are_of_other_studies():
    runs = reference_folder() / "runs"
    assert len([*runs.iterdir()]) >= 3
    assert not any(earlier_runs(RunFolder(folder)) for folder in runs.iterdir())


@pytest.mark.night
def test_without_a_curve_it_is_the_best_setting_that_may_have_moved(write_study, sweep):
    def measured(fast):
        script = f'if [ "$1" = {fast} ]; then sleep 0.05; else sleep 0.3; fi'
        argv = ["sh", "-c", script, "sh", "{way}"]
        return sweep(write_study(workload={"kind": "command", "argv": argv}, factors={"way": ["left", "right"]},  # noqa: E501
                                 design={"replicates": 4, "warmup": 0}, trust={"max_foreign_cpu": 64}))  # fmt: skip  # noqa: E501

    measured("left")
    alike, swapped = since(measured("left")), since(measured("right"))
    said = "no move of the best setting is shown: way left then, way left now"
    assert not alike.moved and said in alike.sentence
    assert swapped.moved and "way left then, way right now" in swapped.sentence
