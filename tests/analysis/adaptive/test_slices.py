import pandas as pd

from deadzone.analysis.adaptive.slices import proposer_of
from deadzone.study.design import resolve
from deadzone.study.loading import parse_study
from deadzone.study.plan import plan_of


def plan(factors, design="{kind: adaptive}"):
    text = (
        f"study: s\nworkload: {{kind: command, argv: ['true']}}\nfactors: {factors}\ndesign: "
        f"{design}\n"
        "response: {name: wall_s}\n"
    )
    return plan_of(resolve(parse_study(text, "s.yaml"), 4))


def test_a_factor_that_follows_the_knob_is_set_with_it():
    choose = proposer_of(plan("{cpu_limit: [1, 2, 3, 4, 5], threads: {equals: cpu_limit}}"))
    levels = [one.levels for one in choose(pd.DataFrame()).treatments]
    assert {(one["cpu_limit"], one["threads"]) for one in levels} == {(1, 1), (3, 3), (5, 5)}


def test_a_level_between_the_listed_ones_is_that_of_all_that_are_equal():
    """Whichever of them is the knob: the one that is named first, or the one that equals it."""
    design = "{kind: adaptive, until: {resolution: 0.1}}"
    rows = [(n, 60 / min(n, 6) * wiggle) for n in (1, 2, 4, 8, 16) for wiggle in (1, 1.01, 0.99)]
    measured = pd.DataFrame(rows, columns=["threads", "wall_s"]).assign(status="ok")
    for factors in (
        "{cpu_limit: [1, 2, 4, 8, 16], threads: {equals: cpu_limit}}\nknob: threads",
        "{threads: {equals: cpu_limit}, cpu_limit: [1, 2, 4, 8, 16]}",
    ):
        chosen = proposer_of(plan(factors, design))(measured.assign(cpu_limit=measured["threads"]))
        levels = [one.levels for one in chosen.treatments]
        assert any(4 < one["threads"] < 8 for one in levels)
        assert all(one["threads"] == one["cpu_limit"] for one in levels)


def test_the_opening_of_every_slice_comes_before_anything_is_chosen():
    choose = proposer_of(plan("{threads: [1, 2, 3, 4, 5, 6, 7], mode: [fast, small]}"))
    rows = [
        {"threads": n, "mode": "fast", "wall_s": 8 / min(n, 4), "status": "ok"} for n in range(1, 8)
    ]
    found = choose(pd.DataFrame(rows))
    assert {one.levels["mode"] for one in found.treatments} == {"small"}
    assert "mode=small" in found.reason


def test_two_slices_go_on_where_a_trial_tells_most():
    """In one of them the curve is known; in the other the joint lies between levels far apart."""
    choose = proposer_of(plan("{threads: [1, 2, 3, 4, 5, 6, 7, 8, 9], mode: [known, open]}"))
    rows = [
        {"threads": n, "mode": mode, "wall_s": 8 / min(n, joint) * wiggle, "status": "ok"}
        for mode, joint, levels in (("known", 4, range(1, 10)), ("open", 6, (1, 3, 7, 9)))
        for n in levels
        for wiggle in (1.0, 1.01, 0.99, 1.005)
    ]
    found = choose(pd.DataFrame(rows))
    assert {one.levels["mode"] for one in found.treatments} == {"open"}
