"""What the published load test shows: pools, reversals, and targets that were not measured."""

import pytest

from notebooks.executed import Executed


@pytest.fixture(scope="module")
def notebook():
    with Executed("published/thread_pools") as executed:
        yield executed


def test_every_conclusion_has_its_verdict(notebook):
    assert notebook.value("verdicts") == {
        "32 inbound threads are best": "in part",
        "64 inbound threads are slower": "in part",
        "32 inbound threads keep the target": "not shown",
        "16 outbound threads are best": "in part",
        "32 outbound threads are slower": "in part",
        "16 outbound threads keep the target": "in part",
        "16 outbound threads are stable": "in part",
        "threads hurt by CPU contention": "not shown",
        "the mean stays within 40 ms": "not shown",
        "connections are stable up to 200 a second": "supported",
        "three game threads are enough": "in part",
        "the slow first test is SecureRandom": "not shown",
    }


@pytest.mark.parametrize(
    ("pool", "size", "rates"), [("inbound", 32, ["373", "513"]), ("outbound", 16, ["2800", "4200"])]
)
def test_a_pool_is_best_as_the_author_chose_and_turns_back_beyond_it_under_load(
    notebook, pool, size, rates
):
    assert notebook.value("chosen")[pool] == size
    assert notebook.value(f"turning[{pool!r}].to_dict()") == dict.fromkeys(rates, size)
    for rate in rates:
        assert notebook.value(f"advice[{pool!r}, {rate}].tied") == [size]


def test_the_inbound_target_is_missed_at_the_rate_above_and_was_not_measured(notebook):
    assert (notebook.value("below['inbound']"), notebook.value("above['inbound']")) == (171, 373)
    assert notebook.value("('inbound', 373) in measured.index") is False
    assert "22 ms at 171, 113 ms at 373" in notebook.sentences
    assert "would give 85 ms" in notebook.sentences


def test_the_outbound_target_is_met_on_both_sides_and_missed_at_4200(notebook):
    assert notebook.value("measured['outbound', 2800]") == 16
    assert "the target of 100 ms is missed at 4,200" in notebook.sentences


def test_cells_within_the_target_are_counted(notebook):
    assert (
        "inbound: 4 of 18 cells stay within 100 ms, and none at more than 171" in notebook.sentences
    )
    assert (
        "outbound: 11 of 19 cells stay within 100 ms, and none at more than 2,800"
        in notebook.sentences
    )
    assert notebook.value("capacity['highest rate [requests/s]'].fillna(0).tolist()") == [
        *[0, 0, 171, 171, 171, 171],
        *[700, 700, 2800, 1400],
    ]


def test_the_knee_of_the_spike_test_is_at_200_a_second(notebook):
    assert notebook.value("[end['label'], end['start']]") == ["reversal", 200]
    assert "At 300 the server ran 156 threads; connections fail from 400 on" in notebook.sentences


def test_the_guideline_prefers_a_pool_that_keeps_the_target(notebook):
    rows = notebook.value(
        "guideline[['rates [requests/s]', 'threads', 'keeps the "
        "target']].astype(object).values.tolist()"
    )
    assert rows == [
        ["171", 8, True],
        ["373", 32, False],
        ["513", 32, False],
        ["290, 700, 1,400", 16, True],
        ["2,800", 16, True],
        ["4,200", 16, False],
    ]


def test_the_pool_to_set_is_told_rate_by_rate(notebook):
    columns = ["fastest", "not told apart", "probability"]
    assert notebook.value(f"by_rate[{columns}].round(3).values.tolist()") == [
        [8, "8, 16, 32", 0.999],
        [32, "32", 0.0],
        [32, "32", 0.0],
        [32, "16, 32", 0.997],
        [16, "16, 32", 0.984],
        [32, "32", 0.994],
        [16, "16", 0.676],
        [16, "16", 0.0],
    ]


def test_the_first_test_after_a_restart_takes_62_times_as_long(notebook):
    assert "took 6,812 ms where a later one took 109 ms, 62 times as long" in notebook.sentences


def test_two_printed_figures_mean_something_else(notebook):
    assert notebook.value("[len(arithmetic), int(arithmetic['agrees'].sum())]") == [14, 12]
    assert notebook.value("other.to_numpy().tolist()") == [[325, 373, False], [1600, 1400, False]]
