from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from deadzone.errors import ProfileError
from deadzone_profiles.comparison import compare_profiles
from deadzone_profiles.estimates import no_change_p, sum_limits
from deadzone_profiles.model import ValueType
from deadzone_profiles.pairing import Basis, events
from deadzone_profiles.reading import parse_folded
from packs.profiles.making import counted, cpu, recorded

SECOND = 1e9
HEAPS = recorded("heap-before-1"), recorded("heap-after-1")


def row(table, name):
    return table.set_index("name").loc[name]


def test_the_published_garbage_collection_is_judged_from_its_counts():
    before = cpu({"server;runtime.scanobject": 72, "server;rest": 8129}, source="baseline")
    after = cpu({"server;runtime.scanobject": 105, "server;rest": 5492}, source="optimised")
    scan = row(compare_profiles(before, after).functions, "runtime.scanobject")
    assert scan.before == 0.72 * SECOND and scan.after == 1.05 * SECOND
    assert scan.p == pytest.approx(stats.binomtest(105, 177, 0.5).pvalue)
    assert 0 < scan.change_low < 0.33 * SECOND < scan.change_high < 0.7 * SECOND


def test_a_share_may_rise_while_the_amount_falls():
    compared = compare_profiles(cpu({"a.f": 60, "b.g": 40}), cpu({"a.f": 10, "b.g": 35}))
    g = row(compared.functions, "b.g")
    assert g.change < 0 and g.share_after > g.share_before
    assert list(compared.functions["name"]) == ["a.f", "b.g"]


def test_new_and_vanished_functions_are_named():
    compared = compare_profiles(cpu({"m;old.f": 5, "m;k.g": 5}), cpu({"m;new.f": 5, "m;k.g": 5}))
    assert row(compared.functions, "old.f").status == "vanished"
    assert row(compared.functions, "new.f").status == "new"
    assert row(compared.functions, "k.g").status == ""
    assert row(compared.packages, "new").cum_after == 5e7


def test_flat_amounts_of_functions_and_packages_add_up_to_the_total():
    compared = compare_profiles(recorded("cpu-before-1"), recorded("cpu-after-1"))
    total = compared.total.iloc[0]
    for table in (compared.functions, compared.packages):
        assert table["before"].sum() == total.before == 3.45 * SECOND
        assert table["change"].sum() == total.change == -1.75 * SECOND
        assert table["share_before"].sum() == pytest.approx(1)
        assert table["change"].abs().is_monotonic_decreasing


def test_replicates_give_welchs_interval():
    sides = [[recorded(f"cpu-{side}-{n}") for n in (1, 2, 3)] for side in ("before", "after")]
    compared = compare_profiles(*sides)
    totals = [[p.total("cpu") for p in side] for side in sides]
    expected = stats.ttest_ind(totals[1], totals[0], equal_var=False)
    found = compared.total.iloc[0]
    assert compared.method == "replicates"
    assert found.p == pytest.approx(expected.pvalue)
    assert found.change_low == pytest.approx(expected.confidence_interval().low)


def test_chance_is_not_called_a_change_more_often_than_stated():
    rng = np.random.default_rng(3)
    counts = rng.poisson(12.0, size=(4000, 2)).astype(float)
    ones = np.ones(len(counts))
    assert (no_change_p(counts[:, 0], counts[:, 1], ones, ones) < 0.05).mean() <= 0.05
    low, high = sum_limits(counts[:, 0], counts[:, 0], 1.0)
    assert ((low <= 12) & (high >= 12)).mean() >= 0.95


def test_heap_samples_are_found_again_behind_the_scaled_numbers():
    profile = recorded("heap-before-1")
    known = events(profile, "inuse_space")
    assert known.variance is not None
    space, objects = profile.numbers("inuse_space"), profile.numbers("inuse_objects")
    size = space[space > 0] / objects[space > 0]
    sampled = objects[space > 0] * (1 - np.exp(-size / profile.period))
    assert np.allclose(sampled, np.round(sampled), atol=0.02)
    behind = space[space > 0] ** 2 / known.variance[space > 0]
    assert behind.sum() == pytest.approx(sampled.sum())


def test_per_stream_the_same_cost_at_another_load_is_no_change():
    compared = compare_profiles(cpu({"a.f": 640}), cpu({"a.f": 320}), basis=Basis("stream", 64, 32))
    total = compared.total.iloc[0]
    assert total.before == total.after == 0.1 * SECOND
    assert total.p == 1 and total.change_low < 0 < total.change_high
    assert compared.pair.unit == "nanoseconds per stream"


@pytest.mark.parametrize("load", [0, -1, float("inf"), float("nan")])
def test_a_load_must_be_positive(load):
    with pytest.raises(ProfileError, match="must be a positive number"):
        compare_profiles(cpu({"a": 1}), cpu({"a": 1}), basis=Basis("stream", load, 1))


def test_identical_profiles_are_said_to_be_identical():
    compared = compare_profiles(recorded("cpu-before-1"), recorded("cpu-before-1"))
    assert compared.identical and compared.total.iloc[0].change == 0
    assert not compare_profiles(recorded("cpu-before-1"), recorded("cpu-before-2")).identical
    same = recorded("cpu-before-1")
    assert not compare_profiles(same, same, basis=Basis("stream", 10, 20)).identical


def test_profiles_of_different_units_or_periods_are_refused():
    types = (ValueType("samples", "count"), ValueType("cpu", "bytes"))
    other = replace(cpu({"a": 1}), value_types=types)
    with pytest.raises(ProfileError, match=r"holds cpu in nanoseconds and .* but .*cpu in bytes"):
        compare_profiles(cpu({"a": 1}), other)
    finer = cpu({"a": 10}, period_ms=1)
    assert compare_profiles(cpu({"a": 1}), finer, "cpu").total.iloc[0].change == 0
    with pytest.raises(ProfileError, match="at different periods"):
        compare_profiles(cpu({"a": 1}), finer, "samples")
    with pytest.raises(ProfileError, match="at different periods"):
        compare_profiles(cpu({"a": 1}), counted({"a": 1}), "samples")


def test_profiles_without_samples_are_said():
    with pytest.raises(ProfileError, match="no samples of cpu: was the program under load"):
        compare_profiles(cpu({}), cpu({}))
    compared = compare_profiles(cpu({"a": 5}), cpu({}, source="idle.pb"))
    assert compared.total.iloc[0].after == 0
    assert any("idle.pb holds no samples" in doubt for doubt in compared.doubts)


def test_unequal_durations_are_said_and_go_away_per_second():
    before, after = cpu({"a": 100}, seconds=10), cpu({"a": 300}, seconds=30)
    doubts = compare_profiles(before, after).doubts
    assert any("10.00 s before and 30.00 s after" in doubt for doubt in doubts)
    rate = compare_profiles(before, after, basis=Basis("second", 10, 30))
    assert rate.total.iloc[0].change == 0 and not rate.doubts


STRIPPED = cpu({"main;0x4a3b2c": 30, "main;[unknown]": 30, "main;main.f": 10})
NEGATIVE = replace(cpu({"a": 5, "b": 3}), values=cpu({"a": 5, "b": 3}).values * [[1], [-1]])


@pytest.mark.parametrize(
    ("before", "after", "value", "said"),
    [(STRIPPED, STRIPPED, None, "86 % of the samples are in code without function names"),
     (*HEAPS, "alloc_space", "from the start of the program"),
     (NEGATIVE, cpu({"a": 5}), None, "negative numbers"),
     ([cpu({"a": 5}), cpu({"a": 6})], cpu({"a": 5}), None, "one side only")],
)  # fmt: skip
def test_what_makes_a_comparison_doubtful_is_said(before, after, value, said):
    compared = compare_profiles(before, after, value)
    assert any(said in doubt for doubt in compared.doubts)
    assert compared.method == ("none" if before is NEGATIVE else "sampling")


def folded(*stacks):
    return parse_folded("".join(f"{stack}\n" for stack in stacks))


def test_numbers_with_a_common_divisor_are_weights_and_have_no_q():
    before = folded("main;work 426320", "main;idle 426320")
    after = folded("main;work 511584", "main;idle 341056")
    weighed = compare_profiles(before, after)
    assert weighed.pair.value.name == "weights" and weighed.functions["q"].isna().all()
    assert "All numbers are multiples of 85,264" in weighed.doubts[0]
    with pytest.raises(ProfileError, match="cpu"):
        compare_profiles(before, after, value="cpu")
    before, after = (folded(f"main;work {n}", f"main;idle {20 - n}") for n in (13, 11))
    counts = compare_profiles(before, after)
    assert counts.pair.before.totals == (20.0,) and counts.functions["q"].min() > 0.5
    assert not counts.doubts


def test_counts_that_have_a_divisor_by_chance_stay_counts():
    found = compare_profiles(folded("main;a 30", "main;b 20"), folded("main;a 10", "main;b 40"))
    assert found.pair.value.name == "samples" and found.functions["q"].min() < 0.05


def test_weights_have_a_q_from_replicates():
    before = [folded(f"main;work {n * 42632}", f"main;idle {100000 * 42632}") for n in (7, 8, 9)]
    after = [folded(f"main;work {n * 42632}", f"main;idle {100000 * 42632}") for n in (27, 28, 29)]
    found = compare_profiles(before, after).functions.set_index("name")
    assert found["q"]["work"] < 0.05


def test_two_profiles_without_a_function_in_common_say_so_first(deadzone, tmp_path):
    paths = [tmp_path / name for name in ("before.folded", "after.folded")]
    for path, stack in zip(paths, ("java;run 30", "node;start 30"), strict=True):
        path.write_text(f"{stack}\n")
    said = deadzone("profile", *paths).out
    assert said.startswith("Warning: The two have no function in common, so nothing can be")


def test_annotations_of_profilers_are_matched_without_them():
    before = folded("java;main;a;compute 30", "java;main;Foo$$Lambda$14/0x00000008.run 20")
    annotated = "java;main_[j];a_[i];compute+0x1f_[j] 30"
    after = folded(annotated, "java;main_[0];Foo$$Lambda$99/0x000000af.run 20")
    found = compare_profiles(before, after)
    assert set(found.functions["name"]) == {"java", "main", "a", "compute", "Foo$$Lambda.run"}
    assert not found.functions["change"].any() and not found.functions["cum_change"].any()


def test_samples_can_be_grouped_by_what_their_stacks_hold():
    compared = compare_profiles([cpu({"m;old": 3, "m": 1}), cpu({"m": 2})], cpu({"m;new": 4}))
    assert compared.stacks[["stack", "side", "profile", "amount"]].to_numpy().tolist() == [
        ["m;old", "before", 0, 3e7],
        ["m", "before", 0, 1e7],
        ["m", "before", 1, 2e7],
        ["m;new", "after", 0, 4e7],
    ]
    empty = compare_profiles(cpu({}), cpu({"m": 1})).stacks
    assert empty["side"].tolist() == ["after"]
