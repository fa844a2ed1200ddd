"""What the published FFmpeg study shows: its phases, where the time goes, and which conclusions
stand."""

import pytest

from notebooks.executed import Executed


@pytest.fixture(scope="module")
def notebook():
    with Executed("published/ffmpeg_threads") as executed:
        yield executed


def test_every_conclusion_has_its_verdict(notebook):
    assert notebook.value("verdicts") == {
        "five phases": "supported",
        "linear from 1 to 10 cores": "contradicted",
        "setting threads removes the dead zone": "in part",
        "breakthrough by parallelism": "contradicted",
        "at most 11 cores used": "supported",
        "7 threads at 4 cores": "in part",
        "5 cores": "supported",
        "6 cores": "in part",
        "outliers by filter threads": "not shown",
        "10 to 11 threads from 11 cores on": "not shown",
    }


def test_the_authors_five_phases_are_found_again(notebook):
    assert notebook.value("model.phases[['start', 'stop', 'label']].to_numpy().tolist()") == [
        [1, 4, "linear"],
        [4, 6, "dead_zone"],
        [6, 10, "linear"],
        [10, 12, "breakthrough"],
        [12, 16, "plateau"],
    ]
    assert notebook.value("model.recommend().setting") == 12


def test_ten_cores_are_not_ten_times_faster(notebook):
    assert "3.8 times faster, with 1 dead zone" in notebook.sentences
    assert "from 52.2 s at 1 core to 154.9 s" in notebook.sentences


def test_setting_the_threads_does_not_remove_the_dead_zone(notebook):
    assert "1 dead zone still, from 4 to 6 cores" in notebook.sentences
    assert "faster than automatic at 6, 7, 8 cores" in notebook.sentences


def test_the_breakthrough_is_less_work_and_not_more_cores(notebook):
    jump = notebook.value("jump.to_dict()")
    assert (jump["start"], jump["stop"]) == (10, 12)
    assert 1 / jump["wall"] == pytest.approx(13.70 / 3.46)
    assert 1 / jump["cpu"] == pytest.approx((131.95 + 4.14) / (34.41 + 1.01))
    assert jump["wall"] == pytest.approx(jump["cpu"] / jump["cores"])
    assert notebook.value("share") > 0.95


def test_a_breakthrough_by_more_cores_would_be_told_as_such(notebook):
    more = "work = work.assign(wall=work['wall'], cpu=1.0, cores=1 / work['wall'])"
    assert "**Supported.**" in notebook.again('work[work["label"] == "breakthrough"]', more)


def test_seven_threads_help_at_four_cores_but_are_not_shown_to_be_best(notebook):
    assert notebook.value("gain_percent") > 4.3
    tied = notebook.value("four.recommend().tied")
    assert 7 in tied and len(tied) > 5


def test_more_threads_do_nothing_at_six_cores_and_the_harm_is_within_a_repeat(notebook):
    assert "at most 2.4 %, less than a repeat differs (4.3 %)" in notebook.sentences


def test_ten_to_eleven_threads_are_not_told_apart_from_the_rest(notebook):
    assert "5.08 s and as 3.72 s" in notebook.sentences
    assert not set(notebook.value("tied")) <= {10, 11}


def test_the_outliers_work_like_the_runs_beyond_the_breakthrough(notebook):
    assert "The 3 values took 28.0 to 38.2 s" in notebook.sentences
    assert "while all others at 4 and 8 cores took 78.8 to 159.7 s" in notebook.sentences


def test_the_authors_outliers_are_fitted_with_and_without(notebook):
    counts = notebook.value(
        "[(limit, values, m.n_trials) for (limit, values), m in models.items()]"
    )
    assert counts == [
        [4, "all values", 21],
        [4, "no outliers", 20],
        [8, "all values", 20],
        [8, "no outliers", 18],
        [11, "all values", 20],
        [11, "no outliers", 18],
        [5, "all values", 6],
        [6, "all values", 4],
    ]


def test_few_thread_counts_are_told_apart_from_the_best(notebook):
    told = "counts[['cpu_limit', 'values', 'phases', 'threads', 'not told apart']].values.tolist()"
    assert notebook.value(told) == [
        [4, "all values", "linear 1-5, plateau 5-21", 1, "18 of 21"],
        [4, "no outliers", "linear 2-5, plateau 5-21", 6, "17 of 20"],
        [8, "all values", "reversal 1-20", 1, "1 of 20"],
        [8, "no outliers", "reversal 3-20", 3, "1 of 18"],
        [11, "all values", "linear 1-3, plateau 3-20", 4, "14 of 20"],
        [11, "no outliers", "linear 1-3, plateau 3-20", 4, "14 of 18"],
        [5, "all values", "plateau 5-30", 15, "4 of 6"],
        [6, "all values", "plateau 4-12", 4, "4 of 4"],
    ]
    assert notebook.value("gains.query('cpu_limit == 11').round(2).values.tolist()") == [
        [11, 4, 3.62, -1.11]
    ]


def test_cells_measured_twice_differ_by_four_percent_and_one_by_a_quarter(notebook):
    pairs = notebook.value("pairs.round(1).to_numpy().tolist()")
    assert [(row[0], row[1], row[4]) for row in pairs] == [
        (4, 4, -1.6),
        (4, 5, 1.2),
        (4, 6, 2.9),
        (4, 7, 4.3),
        (4, 8, -2.0),
        (8, 8, 1.9),
        (11, 11, -26.8),
    ]
    assert "differ by up to 4.3 %, the largest difference is 27 %" in notebook.sentences


def test_scarce_takes_all_a_dead_zone_stays_below_and_plenty_stops_at_the_best(notebook):
    rules = notebook.value(
        "rules.groupby(rule).agg({'budget': ['min', 'max'], 'set': 'last'}).values.tolist()"
    )
    assert rules == [[1, 4, "all of it"], [5, 6, "4"], [7, 11, "all of it"], [12, 16, "12"]]


def test_only_figures_that_do_not_come_out_are_listed(notebook):
    assert notebook.value("arithmetic['reading'].value_counts().to_dict()") == {
        "agrees": 63,
        "a rounding away": 7,
        "means something else": 3,
        "wrong": 2,
    }
    assert notebook.value("others['recomputed'].round(2).tolist()") == [
        9.63,
        -25.88,
        -24.5,
        -18.12,
        5.67,
    ]
