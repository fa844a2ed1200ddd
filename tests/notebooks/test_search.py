import pytest

from notebooks.executed import Executed


@pytest.fixture(scope="module")
def opened():
    with Executed("search") as executed:
        yield executed


def test_it_opens_on_a_search_that_was_confirmed(opened):
    assert opened.value("found.stage") == "done"
    assert opened.verdict.startswith("Verdict")
    assert "times better than the baseline" in opened.verdict
    assert opened.value("sorted(knobs)") == opened.value("sorted(source.study.factors)")


def test_the_history_ends_at_the_best_estimate_and_not_at_the_best_value(opened):
    low, best, high = opened.value("list(history[['best_low', 'best', 'best_high']].iloc[-1])")
    assert min(low, high) < best < max(low, high)
    assert best == opened.value("found.cells['estimate'].iloc[0]")
    assert opened.value("float(history[response].max())") != best


def test_good_cells_and_the_confirmation_are_those_of_the_run(opened):
    assert opened.value("shades.shape") == [12, len(opened.value("knobs"))]
    assert opened.value("shades.stack().between(0, 1).all().item()")
    confirmed = opened.value("int(source.trials['search_stage'].eq('confirm').sum())")
    assert opened.value("len(fresh)") <= confirmed and opened.value("wide.shape[1]") == 4
    for row in opened.value("rows"):
        assert row["low"] < row["times"] < row["high"]


def test_fewer_cells_are_drawn_where_fewer_are_asked_for(opened):
    opened.again("best = found.cells.head", "cells = 3")
    assert opened.value("len(best)") == 3
