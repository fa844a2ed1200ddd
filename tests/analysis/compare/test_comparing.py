import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.compare.tables import samples, table, warns
from deadzone.analysis.compare.comparing import compare_tables
from deadzone.analysis.compare.ratio import BETTER, NO_CHANGE, UNDECIDED, WORSE
from deadzone.errors import CompareError
from deadzone.language.messages import speaking

OPPOSITE = {BETTER: WORSE, WORSE: BETTER, NO_CHANGE: NO_CHANGE, UNDECIDED: UNDECIDED}

times = st.lists(st.floats(0.5, 20).map(lambda x: round(x, 3)), min_size=1, max_size=12)


def verdicts(result):
    return list(result.treatments["verdict"])


RATE = "throughput_bytes_s"


@pytest.mark.parametrize(
    ("a", "b", "response", "word"),
    [(table(), table(1.12, seed=2), "wall_s", WORSE),
     (table(1.12), table(seed=2), "wall_s", BETTER),
     (table(response=RATE), table(1.2, seed=2, response=RATE), RATE, BETTER),
     (table(n=12), table(seed=2, n=12), "wall_s", NO_CHANGE),
     (table(noise=0.3), table(seed=2, noise=0.3), "wall_s", UNDECIDED)],
    ids=["slower", "faster", "more throughput", "the same program", "noise"],
)  # fmt: skip
def test_the_verdict_is_that_of_a_reader(a, b, response, word):
    result = compare_tables(a, b, response)
    assert verdicts(result) == [word] * 3
    assert result.is_worse == (word == WORSE)
    truth = {WORSE: 1.12, BETTER: 1.2 if response == RATE else 1 / 1.12}.get(word)
    assert truth is None or result.overall["ratio"].iloc[0] == pytest.approx(truth, rel=0.02)


def test_a_table_without_trusted_trials_is_compared_with_a_warning():
    result = compare_tables(table().assign(trusted=False), table(seed=2), "wall_s")
    assert result.treatments["n_a"].iloc[0] == 8
    assert warns(result, "quiet machine")


def test_a_shown_change_under_the_threshold_is_no_change_that_matters():
    a, b = table(noise=0.001), table(1.01, seed=2, noise=0.001)
    row = compare_tables(a, b, "wall_s").treatments.iloc[0]
    assert row["p_adjusted"] < 0.01
    assert row["verdict"] == NO_CHANGE
    assert compare_tables(a, b, "wall_s", threshold=0.005).treatments["verdict"].iloc[0] == WORSE


def test_three_trials_a_side_decide_nothing_and_say_how_many_would():
    result = compare_tables(table(n=3), table(1.5, seed=2, n=3), "wall_s")
    assert verdicts(result) == [UNDECIDED] * 3
    needed = int(result.treatments["trials_needed"].iloc[0])
    too_short = "Intervals from 4 trials per side or fewer are too short"
    assert warns(result, "comparisons: 3", f"{needed} trials per side would show", too_short)
    enough = compare_tables(table(n=needed), table(1.05, seed=2, n=needed), "wall_s")
    assert verdicts(enough) == [WORSE] * 3


def test_one_trial_a_side_has_a_ratio_but_no_interval():
    result = compare_tables(*samples([10], [20]), "wall_s")
    row = result.treatments.iloc[0]
    assert row["ratio"] == pytest.approx(2.0)
    assert np.isnan(row["ratio_low"]) and pd.isna(row["trials_needed"])
    assert row["verdict"] == UNDECIDED and warns(result, "fewer than 4 trials per side")


def test_numbers_by_hand():
    row = compare_tables(*samples([1, 2, 3, 4], [5, 6, 7, 8]), "wall_s").treatments.iloc[0]
    assert (row["median_a"], row["median_b"], row["ratio"]) == pytest.approx((2.5, 6.5, 2.6))
    assert row["verdict"] == WORSE
    assert row["p_value"] == pytest.approx(2 / 70)


def test_the_verdict_is_corrected_for_all_comparisons_made():
    """Alone four against four reach 2/70 < 0.05; among three treatments 6/70 does not."""
    a, b = table(n=4, levels=(1,)), table(1.5, seed=2, n=4, levels=(1,))
    assert verdicts(compare_tables(a, b, "wall_s")) == [WORSE]
    three = compare_tables(table(n=4), table(1.5, seed=2, n=4), "wall_s")
    assert verdicts(three) == [UNDECIDED] * 3
    assert list(three.treatments["p_adjusted"]) == pytest.approx([6 / 70] * 3)


def test_treatments_of_one_table_only_are_listed():
    a, b = table(levels=(1, 2, 4, 8)), table(seed=2, levels=(2, 4, 8, 16))
    result = compare_tables(a, b, "wall_s")
    assert list(result.treatments["threads"]) == ["2", "4", "8"]
    assert warns(result, "treatments not compared", "1 thread and 16 threads")


def test_levels_match_however_they_are_written():
    b = table(seed=2).assign(threads=lambda t: t["threads"].map(lambda level: f"{level}.0"))
    assert len(compare_tables(table(), b, "wall_s").treatments) == 3


def test_gains_and_losses_are_not_hidden_in_the_mean():
    b = table(seed=2)
    b.loc[b["threads"] == 1, "wall_s"] *= 0.8
    b.loc[b["threads"] == 4, "wall_s"] *= 1.25
    result = compare_tables(table(), b, "wall_s")
    assert verdicts(result) == [BETTER, NO_CHANGE, WORSE]
    assert "better at 1 of 3, worse at 1 of 3" in repr(result)


def test_blocks_of_one_run_are_compared_in_pairs():
    drift = np.repeat(np.linspace(1, 2, 10), 3)
    a = table(n=10, run_id="one").assign(wall_s=lambda t: t["wall_s"] * drift)
    b = table(1.06, n=10, seed=2, run_id="one").assign(wall_s=lambda t: t["wall_s"] * drift)
    assert verdicts(compare_tables(a, b, "wall_s")) == [WORSE] * 3
    assert compare_tables(a, b, "wall_s").paired
    few = compare_tables(table(n=4, run_id="one"), table(2, seed=2, n=4, run_id="one"), "wall_s")
    assert few.treatments["trials_needed"].min() == 7  # signed ranks of 7 pairs reach 3 * 2 / 2**7
    apart = compare_tables(a, b.assign(run_id="two"), "wall_s")
    assert not apart.paired and verdicts(apart) == [UNDECIDED] * 3


def test_repeats_inside_a_block_are_one_value():
    a = pd.concat([table(levels=(1,), n=4)] * 10)
    result = compare_tables(a, table(levels=(1,), n=4, seed=2), "wall_s")
    assert result.treatments["n_a"].iloc[0] == 4


def test_trials_that_failed_warmed_up_or_are_not_trusted_do_not_count():
    marks = {"status": ["failed"] + ["ok"] * 9, "trusted": [True] * 9 + [False]}
    marked = table(levels=(1,), n=10).assign(warmup=[False, True] + [False] * 8, **marks)
    result = compare_tables(marked, table(levels=(1,), n=10, seed=2), "wall_s")
    assert result.treatments["n_a"].iloc[0] == 7
    assert warns(result, "left out that did not end well: 1 of 9")
    assert warns(result, "left out that are not trusted: 1 of 8")


def test_errors_that_appear_are_worse_that_vanish_better_and_none_at_all_is_the_same():
    none, some = [0] * 6, [3, 4, 2, 5, 3, 4]
    appear, vanish, never = (
        compare_tables(*samples(a, b, "errors"), "errors")
        for a, b in ((none, some), (some, none), (none, none))
    )
    assert verdicts(appear) == [WORSE] and verdicts(vanish) == [BETTER]
    assert appear.to_dict()["treatments"][0]["ratio"] is None
    assert verdicts(never) == [NO_CHANGE]


def test_an_unknown_direction_is_assumed_and_said():
    result = compare_tables(*samples([1, 2], [1, 2], "score"), "score")
    assert warns(result, "No goal is given for score")
    stated = compare_tables(*samples([1, 2], [1, 2], "score"), "score", goal="max")
    assert not warns(stated, "No goal is given for score")


def test_a_treatment_without_values_is_said_to_be_left_out():
    b = table(seed=2)
    b.loc[b["threads"] == 2, "wall_s"] = np.nan
    result = compare_tables(table(), b, "wall_s")
    assert list(result.treatments["threads"]) == ["1", "4"]
    assert warns(result, "treatments not compared, because A or B has no value")


rows = st.fixed_dictionaries(
    {
        "wall_s": st.sampled_from([0.0, 1.0, 1.5, 2.0, 1e300, 1e-300, None]),
        "threads": st.sampled_from([1, 2, None, "none"]),
        "block": st.sampled_from([0, 1]),
        "run_id": st.sampled_from(["x", "y"]),
        "status": st.sampled_from(["ok", "ok", "failed"]),
        "trusted": st.sampled_from([True, False, None]),
    }
)


@given(st.lists(rows, min_size=1, max_size=8), st.lists(rows, min_size=1, max_size=8))
@pytest.mark.filterwarnings("error::RuntimeWarning", "error::FutureWarning", "error::UserWarning")
def test_any_table_is_compared_or_refused_with_a_sentence(a, b):
    try:
        result = compare_tables(pd.DataFrame(a), pd.DataFrame(b), "wall_s")
    except CompareError:
        return
    assert set(result.treatments["verdict"]) <= set(OPPOSITE)
    json.dumps(result.to_dict(), allow_nan=False)
    assert str(result) and result._repr_html_()


@given(times, times, st.sampled_from([2.0**-30, 0.25, 8.0, 2.0**40]))
def test_exchanging_a_and_b_inverts_ratio_and_verdict_and_another_unit_changes_nothing(a, b, unit):
    exchanged = np.array(b) * unit, np.array(a) * unit
    one, other = (
        compare_tables(*samples(*pair), "wall_s").treatments.iloc[0] for pair in ((a, b), exchanged)
    )
    assert one["ratio"] == pytest.approx(1 / other["ratio"])
    assert one["ratio_low"] == pytest.approx(1 / other["ratio_high"], nan_ok=True)
    for column in ("p_value", "p_equivalence"):
        assert one[column] == pytest.approx(other[column], nan_ok=True)
    assert one["verdict"] == OPPOSITE[other["verdict"]]


@pytest.mark.night
def test_a_wrong_verdict_is_as_rare_as_the_level_says():
    """No change at all: of 100 comparisons at most 5 % may be called better or worse."""
    rng = np.random.default_rng(9)
    found = [
        verdicts(compare_tables(*samples(*np.exp(0.05 * rng.standard_normal((2, 6)))), "wall_s"))[0]
        for _ in range(100)
    ]
    assert set(found) <= set(OPPOSITE)
    assert sum(word in (BETTER, WORSE) for word in found) <= 5


def test_the_result_is_json_text_and_html():
    result = compare_tables(table(), table(1.12, seed=2), "wall_s", names=("old <b>", "new"))
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["a"] == "old <b>" and document["treatments"][0]["verdict"] == "worse"
    text = str(result)
    assert max(map(len, text.splitlines())) <= 88
    assert "worse" in text and "+12 %" in text and "Mann-Whitney" in text
    assert "old &lt;b&gt;" in result._repr_html_() and "<b>" not in result._repr_html_()
    with speaking("ko"):
        assert "악화" in str(result) and "interleaved" not in str(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"responses": []}, "name a response"),
     ({"threshold": 0}, "The threshold is 0"),
     ({"threshold": math.nan}, "The threshold is nan"),
     ({"confidence": 1.0}, "The confidence is 1.0"),
     ({"goal": "maximum"}, "must be 'min' or 'max'"),
     ({"goal": ["min", "max"]}, "1 responses have 2 goals"),
     ({"factors": ["thread"]}, "Did you mean `threads`"),
     ({"b": table(levels=(8, 9))}, "no treatment in common"),
     ({"b": table().assign(wall_s=-1.0)}, "zero or more"),
     ({"b": table().assign(wall_s="fast")}, "no number"),
     ({"b": table().assign(status="failed")}, "no trial that ended well"),
     ({"b": table().drop(columns="threads"), "factors": ["threads"]},
      "several levels in the other")],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_with_a_sentence(change, message):
    call = {"a": table(), "b": table(seed=2), "responses": "wall_s", **change}
    with pytest.raises(CompareError, match=message):
        compare_tables(**call)


def test_tables_in_two_units_are_refused_and_words_for_failures_are_told():
    a = pd.DataFrame({"took": ["1.2 s", "1.1 s", "1.0 s", "1.15 s"]})
    b = pd.DataFrame({"took": ["900 ms", "880 ms", "870 ms", "890 ms"]})
    with pytest.raises(CompareError, match="is in s in A and in ms in B"):
        compare_tables(a, b, "took")
    more = [table.assign(rate=["5 MB/s"] * 4) for table in (a, b)]
    with pytest.raises(CompareError, match="'took' is in s in A and in ms in B"):
        compare_tables(*more, ["took", "rate"])
    lost = pd.DataFrame({"took": ["1.2 s", "timeout", "1.0 s", "timeout"]})
    warnings = compare_tables(a, lost, "took").warnings
    assert any("did not end well: 2 of 4" in said for said in warnings)
