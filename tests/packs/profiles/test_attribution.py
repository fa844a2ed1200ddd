"""Causes add up to the change, exactly, whatever the stacks and the patterns."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.errors import DeadzoneError, ProfileError
from deadzone_profiles.attribution import (
    OTHER,
    RULES,
    ablate,
    attribute,
    causes_from,
    functions_of,
    read_causes,
    shares,
)
from deadzone_profiles.pairing import Basis, pair_up
from packs.profiles.making import counted, cpu, recorded

SERVER = causes_from({"NACK": "*nack*", "mDNS": "mediaserver/mdns", "syscalls": "*syscall6*"})

frames = st.sampled_from(["nack.send", "mdns.read", "syscall6", "main.main", "gc.scan"])
profiles = st.dictionaries(
    st.lists(frames, min_size=1, max_size=5).map(";".join),
    st.integers(1, 10**12),
    min_size=1,
    max_size=20,
)
loads = st.floats(0.001, 1e6)


@given(profiles, profiles, loads, loads, st.sampled_from(sorted(RULES)))
def test_causes_and_other_add_up_to_the_total_change_exactly(
    before, after, load_before, load_after, rule
):
    pair = pair_up(
        [counted(before)], [counted(after)], basis=Basis("stream", load_before, load_after)
    )
    causes = causes_from(
        {"NACK": "nack*", "mDNS": "mdns*", "calls": "syscall*", "collector": ["gc*", "nack*"]}
    )
    attribution = attribute(pair, causes, rule)
    total = Fraction(sum(after.values())) / Fraction(load_after) - Fraction(
        sum(before.values())
    ) / Fraction(load_before)
    assert sum(attribution.exact.values()) == attribution.total == total


@given(st.integers(0, 15), st.integers(-(10**15), 10**15), st.sampled_from(sorted(RULES)))
def test_a_sample_is_shared_out_whole(matched, value, rule):
    parts = shares(matched, value, rule, 4)
    assert sum(parts) == value
    assert bool(parts[-1]) == (matched == 0 and value != 0)
    if rule == "first":
        assert sum(map(bool, parts)) <= 1


def test_the_first_match_wins_and_shapley_shares():
    pair = pair_up(
        [cpu({"nack.send;syscall6": 30, "main;syscall6": 10, "main": 5})], [cpu({"main": 5})]
    )
    causes = causes_from({"NACK": "nack*", "calls": "syscall6"})
    first, equal = (attribute(pair, causes, rule) for rule in ("first", "shapley"))
    assert [int(change / 10**7) for change in first.exact.values()] == [-30, -10, 0]
    assert [int(change / 10**7) for change in equal.exact.values()] == [-15, -25, 0]
    assert first.naive_sum == -70 * 10**7 and first.counted_twice == -30 * 10**7
    assert first.overlaps.to_dict("records") == [
        {"first": "NACK", "second": "calls", "change": -30e7}
    ]


def test_on_the_recorded_server_overlapping_changes_add_up_to_more_than_the_total():
    pair = pair_up([recorded("cpu-before-1")], [recorded("cpu-after-1")])
    attribution = attribute(pair, SERVER)
    assert sum(attribution.exact.values()) == attribution.total == -1_750_000_000
    assert attribution.naive_sum < attribution.total
    assert {*attribution.overlaps["second"]} == {"syscalls"}
    assert (
        attribution.table["change"].sum()
        == attribution.table["after"].sum() - attribution.table["before"].sum()
    )


def test_patterns_match_names_and_packages_in_any_case():
    profile = counted({"github.com/pion/mdns.(*Conn).readLoop;Syscall6;pion/mdnsx.f": 1})
    for pattern, matched in {
        "PION/mdns": ["github.com/pion/mdns.(*Conn).readLoop"],
        "*readloop": ["github.com/pion/mdns.(*Conn).readLoop"],
        "syscall6": ["Syscall6"],
        "call6": [],
        "*": ["pion/mdnsx.f", "Syscall6", "github.com/pion/mdns.(*Conn).readLoop"],
    }.items():
        found = functions_of(profile, causes_from({"it": pattern})[0])
        assert [profile.functions[index] for index in found] == matched, pattern


def test_ablations_stand_beside_the_stacks_with_the_interaction():
    before, after = cpu({"nack.send": 40, "gc.scan": 20, "main": 40}), cpu({"main": 40})
    without_nack = cpu({"gc.scan": 5, "main": 40})
    causes = causes_from({"NACK": "nack*", "GC": "gc*"})
    made = ablate(pair_up([before], [after]), {"NACK": [without_nack]}, causes)
    row = made.table.iloc[0]
    assert (row.change, row.by_stacks, row.elsewhere) == (-55e7, -40e7, -15e7)
    assert made.by_cause.loc["NACK", "GC"] == -15e7
    assert made.interaction == -5e7
    assert "interaction is -50.00 ms" in made.statement()
    with pytest.raises(ProfileError, match="one option changed at a time"):
        ablate(pair_up([before], [after]), {}, causes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "write a name and a pattern a line"),
        ("- nack", "write a name and a pattern a line"),
        ("NACK:", "NACK needs a pattern"),
        ("NACK: [1]", "NACK needs a pattern"),
        ("Other: x", "is what no cause matches"),
        ("1: x", "is no text"),
        ("a: [", "is not YAML"),
    ],
)
def test_a_wrong_file_of_causes_is_refused(tmp_path, text, says):
    path = tmp_path / "causes.yaml"
    path.write_text(text)
    with pytest.raises(DeadzoneError, match=says):
        read_causes(path)


def test_an_unknown_rule_is_refused():
    with pytest.raises(ProfileError, match="no rule 'last'"):
        attribute(pair_up([cpu({"a": 1})], [cpu({"a": 2})]), SERVER, "last")


def test_other_is_last():
    attribution = attribute(pair_up([cpu({"a": 1})], [cpu({"a": 2})]), SERVER)
    assert list(attribution.table["cause"])[-1] == OTHER
