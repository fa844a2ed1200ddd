"""One table gives the same findings and the same setting through the command, the API, the notebook and its page."""

from __future__ import annotations

import json

import pytest

from deadzone import fit_phases
from deadzone.errors import EXIT_FINDING
from deadzone.explaining.phases.verdict import decision
from deadzone.reports.sweep.analysis import analyse
from deadzone.reports.sweep.prose import verdict
from deadzone.reports.sweep.source import load_source
from deadzone.reports.sweep.terminal import in_terminal
from explaining.findings.made import sound_trials


def sound():
    return sound_trials(1)


def left_running():
    return sound_trials(4).assign(left_running=1)


def less_work():
    table = sound_trials(5)
    table.loc[table["n"] >= 4, "items"] = 500.0
    return table


def asleep():
    table = sound_trials(6)
    quiet = {"wall_s": 2 + table["user_s"] * 1e-3, "user_s": 0.004, "sys_s": 0.002}
    return table.assign(**quiet)


def failing_at_the_best():
    table = sound_trials(1)
    table.loc[table["n"] >= 6, "status"] = "failed"
    return table


PLANTED = {
    sound: None,
    less_work: "stops",
    left_running: "stops",
    asleep: "doubts",
    failing_at_the_best: "doubts",
}


@pytest.mark.parametrize("plant", PLANTED)
def test_a_finding_reaches_the_setting_in_all_four(plant, tmp_path, deadzone):
    table = plant()
    table.to_csv(path := tmp_path / "t.csv", index=False)
    said = deadzone("fit", path, "--knob", "n", "--response", "wall_s", "--json")
    by_command = json.loads(said.out)
    model = fit_phases(table, "n", "wall_s")
    by_api = model.recommend()
    analysis = analyse(load_source(table=str(path), knob="n", response="wall_s", goal="min"))

    keys = [one["key"] for one in by_command["findings"]]
    assert keys == [one.key for one in model.findings] == [one.key for one in analysis.findings]
    by_notebook = analysis.advice.setting if analysis.advice else None
    assert by_command["recommendation"]["setting"] == by_api.setting == by_notebook
    page = "\n".join(map(repr, verdict(analysis)))
    told = [by_command["recommendation"]["reason"], str(by_api), in_terminal(analysis, None), page]
    first = next((one for one in model.findings if one.severity == PLANTED[plant]), None)
    assert (first is None) == (PLANTED[plant] is None)
    if first is None:
        assert said.code == 0 and by_api.probability > 0.9
        return
    assert all(first.seen.rstrip(".") in text for text in told), told
    assert by_command["recommendation"]["probability"] is None and by_api.probability is None
    assert "sure to be" not in in_terminal(analysis, None)
    if PLANTED[plant] == "stops":
        assert said.code == EXIT_FINDING and by_api.setting is None and analysis.is_spoilt
        assert fit_phases(table, "n", "wall_s").recommend(anyway=True).setting is not None
        again = deadzone("fit", path, "--knob", "n", "--response", "wall_s", "--json", "--anyway")
        assert again.code == 0 and json.loads(again.out)["recommendation"]["setting"] is not None
    else:
        assert said.code == 0 and by_api.setting is not None
        assert first.seen.rstrip(".") in decision(by_api)
