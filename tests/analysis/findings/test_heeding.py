"""One table gives the same findings and setting by command, API, notebook and its page."""

import json
import re
from html import unescape
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from analysis.findings.made import (
    after_large,
    asleep,
    plain_trials,
    some,
    sound_trials,
    thrown_out,
    times,
    where,
)
from deadzone import fit_phases
from deadzone.errors import EXIT_FINDING
from deadzone.language.formats import spaced
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.prose import verdict
from deadzone.report.sweep.source import load_source
from deadzone.report.sweep.terminal import in_terminal


class Planted(NamedTuple):
    """A table with a fault, and what the fault does to the setting: `stops`, `doubts`, or
    `withholds` where there is none."""

    table: pd.DataFrame
    does: str
    response: str = "wall_s"


def at_the_best(table):
    return table["n"] >= 6


def half_at_the_best(table):
    return at_the_best(table) & (table["trial"] % 2 == 0)


def small_in_ms():
    table = sound_trials(4).assign(took=lambda t: t["wall_s"])
    small = table["took"] < 0.5
    table.loc[small, "took"] *= 1000
    return table.assign(printed_units=np.where(small, "took=ms", "took=s"))


def set_time():
    table = sound_trials(2).drop(columns="items")
    wall = 2.03 + 0.004 * (table["wall_s"] - table["wall_s"].mean())
    return table.assign(wall_s=wall, user_s=0.4 * table["n"], sys_s=0.01)


def two_codecs():
    table = plain_trials()
    second = table.index % 2 == 0
    slower = table["wall_s"] * np.where(second, 2, 1)
    return table.assign(codec=np.where(second, "b", "a"), wall_s=slower)


def noise_alone():
    table = sound_trials(18)
    return table.assign(wall_s=np.exp(0.5 * np.random.default_rng(3).standard_normal(len(table))))


PLANTED = {
    "less_work": Planted(where(at_the_best, items=500.0)(sound_trials(1)), "stops"),
    "less_work as printed": Planted(
        sound_trials(1)
        .drop(columns="items")
        .assign(printed_work=lambda t: np.where(at_the_best(t), "rows=0", "rows=5000")),
        "stops",
    ),
    "left_running": Planted(sound_trials(4).assign(left_running=1), "stops"),
    "unit_changes": Planted(small_in_ms(), "stops", "took"),
    "error_printed": Planted(where(at_the_best, error_lines=1)(sound_trials(1)), "stops"),
    "carry_over": Planted(
        where(after_large, wall_s=times("wall_s", 1.6))(sound_trials(8)), "stops"
    ),
    "nothing_trusted": Planted(sound_trials(1).assign(trusted=False), "stops"),
    "selected_by_trust": Planted(
        where(thrown_out, trusted=False, wall_s=20.0)(sound_trials(14)), "stops"
    ),
    "work_differs": Planted(where(some, items=500.0)(sound_trials(16)), "stops"),
    "work_differs by a column": Planted(
        plain_trials().assign(iterations=lambda t: np.where(t["n"] >= 6, 1000, 100)), "stops"
    ),
    "not_the_program": Planted(asleep(sound_trials(6)), "doubts"),
    "failures_by_level": Planted(
        where(half_at_the_best, status="failed")(sound_trials(1)), "doubts"
    ),
    "timeouts_by_level": Planted(
        where(half_at_the_best, status="timeout")(sound_trials(1)), "doubts"
    ),
    "errors_by_level": Planted(
        plain_trials().assign(requests=1000, errors=lambda t: np.where(t["n"] >= 6, 300, 0)),
        "doubts",
    ),
    "impossible_numbers": Planted(where(at_the_best, wall_s=-1.0)(sound_trials(1)), "doubts"),
    "contradicting_numbers": Planted(
        plain_trials().rename(columns={"n": "threads"}).assign(iterations=lambda t: t["threads"]),
        "doubts",
    ),
    "fixed_duration": Planted(set_time(), "doubts"),
    "levels_confounded": Planted(
        plain_trials().assign(machine=lambda t: np.where(t["n"] >= 4, "new", "old")), "doubts"
    ),
    "other_factor": Planted(two_codecs(), "doubts"),
    "few_values": Planted(
        sound_trials(19).assign(wall_s=lambda t: t["wall_s"].round(0) + 1), "doubts"
    ),
    "too_short": Planted(sound_trials(19).assign(wall_s=lambda t: t["wall_s"] / 500), "doubts"),
    "noise_too_large": Planted(noise_alone(), "withholds"),
    "work_size": Planted(plain_trials().rename(columns={"n": "rows"}), "withholds"),
}


BY_DAY = ("", "failures_by_level", "less_work", "noise_too_large", "work_size")
"""One of each severity, and what decides otherwise."""


@pytest.mark.parametrize("key", ["failures_by_level", "timeouts_by_level", "errors_by_level"])
def test_no_larger_setting_is_advised_where_larger_ones_fail(key):
    """The levels below still improve to their end, n 4."""
    table = PLANTED[key].table
    fewer = table[table["n"] != 8].astype({"n": int})
    advice = fit_phases(fewer, "n", "wall_s").recommend()
    assert advice.setting == 4
    assert not any("larger setting" in text for text in advice.caveats)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in BY_DAY else pytest.mark.night)
     for name in ("", *PLANTED)],
)  # fmt: skip
def test_a_finding_reaches_the_setting_in_all_four(name, tmp_path, deadzone):
    table, does, response = PLANTED.get(name, Planted(sound_trials(1), ""))
    knob = next(name for name in ("n", "threads", "rows") if name in table)
    table.to_csv(path := tmp_path / "t.csv", index=False)
    asked = ("fit", path, "--knob", knob, "--response", response, "--json")
    said = deadzone(*asked)
    by_command = json.loads(said.out)
    model = fit_phases(table, knob, response)
    by_api = model.recommend()
    analysis = analyse(load_source(table=str(path), knob=knob, response=response, goal="min"))

    found = {one["key"]: one for one in by_command["findings"]}
    assert [*found] == [one.key for one in model.findings] == [one.key for one in analysis.findings]
    by_notebook = analysis.advice.setting if analysis.advice else None
    setting = by_command["recommendation"]["setting"]
    assert setting == by_api.setting == by_notebook
    page = unescape(re.sub("<[^>]+>", "", verdict(analysis).html()))
    told = [by_command["recommendation"]["reason"], str(by_api), in_terminal(analysis, None), page]
    key = name.split(" ")[0]
    if not name:
        assert said.code == 0 and by_api.probability > 0.9 and not found
        return
    first = next(one for one in model.findings if one.severity == found[key]["severity"])
    assert key in found
    seen = spaced(first.seen.rstrip("."))
    if key == "noise_too_large" and setting is None:
        seen = "No setting yet: noise hides which of the 6 is best"
    assert all(seen in spaced(re.sub(r"[ \n\xa0]+", " ", text)) for text in told), told
    assert by_command["recommendation"]["probability"] is None and by_api.probability is None
    assert "sure to be" not in in_terminal(analysis, None)
    if does == "stops":
        assert said.code == EXIT_FINDING and by_api.setting is None and analysis.is_spoilt
        assert by_api.tied == ()
        assert model.recommend(anyway=True).setting is not None
        if name == "less_work":  # the option knows no finding from another
            again = deadzone(*asked, "--anyway")
            by_force = json.loads(again.out)["recommendation"]["setting"]
            assert again.code == 0 and by_force is not None
    elif does == "doubts":
        assert said.code == 0 and by_api.setting is not None
        assert first.seen.rstrip(".") in by_api.reason
    else:
        assert by_api.setting is None and by_api.state in ("open", "no_setting")
        assert said.code == (EXIT_FINDING if by_api.state == "open" else 0)
        assert model.recommend(anyway=True).setting is not None
