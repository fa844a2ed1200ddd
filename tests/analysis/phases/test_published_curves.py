import pytest
from benchmarks import published_curves
from benchmarks.published_curves import Answer, best_value, scored

CASES = {case.name: case for case in published_curves.cases()}


@pytest.mark.parametrize(
    ("case", "setting", "tied", "result"),
    [("rsync_zstd_threads", 8, [4, 8], "right"),
     ("rsync_zstd_threads", 4, [4, 8, 16], "wrong: tied set"),
     ("rsync_zstd_threads", 16, [16], "wrong: setting"), ("rsync_zstd_threads", None, [], "none"),
     ("llama_5700g_7b", 8, [6, 8], "honestly tied"), ("llama_5700g_7b", 8, [8], "grey")],
)  # fmt: skip
def test_a_setting_is_scored_with_what_is_tied(case, setting, tied, result):
    assert scored(CASES[case], Answer(setting, tied)).result == result


def test_the_loss_of_what_is_wrong_is_told():
    score = scored(CASES["gorilla_mutex"], Answer(1, [1, 2]))
    assert score.tied_wrong == [2]
    assert score.worst == pytest.approx(16161809 / 9787629 - 1)


def test_a_label_is_that_of_the_phase_which_covers_most_of_the_stretch():
    answer = Answer(8, phases=[(1, 4, "linear"), (4, 32, "plateau")])
    score = scored(CASES["gorilla_rwmutex"], answer)
    assert [right for _, _, right in score.labels] == [True, True]


def test_a_level_off_is_named_by_what_is_said_of_it():
    score = scored(CASES["arrayfire_batch"], Answer(off=[128, 256, 512]))
    assert score.named == {"128": True, "256": True, "384": False}
    assert score.alarms == ["512"]


def test_the_best_measured_value_is_always_acceptable():
    results = {scored(case, best_value(case)).result for case in CASES.values()}
    assert results == {"right", "work size: recommends"}


def test_a_case_is_answered_by_the_command():
    score = scored(CASES["duos_sockets"], published_curves.deadzone_answer(CASES["duos_sockets"]))
    assert score.result == "right"
    assert score.answer.phases
    assert not score.answer.odd
