"""Mistakes of experimenters, planted in a real program and swept: each is named, and no wrong
setting recommended."""

import json
import sys
from pathlib import Path

import pytest

from deadzone.errors import SweepError

PROGRAM = Path(__file__).with_name("planted_program.py")

LEVELS = [1, 2, 3, 4, 6, 8]

FOR_EACH_CHANGE = ("cache", "drops_items")

NAMED = {
    "crash": ("failures_by_level", "doubts"), "hang": ("timeouts_by_level", "doubts"),
    "units": ("unit_changes", "stops"), "cache": ("carry_over", "stops"),
    "does_nothing": ("work_differs", "stops"), "left_running": ("left_running", "stops"),
    "not_used": ("knob_not_used", "doubts"), "error_printed": ("error_printed", "stops"),
    "after_large": ("carry_over", "stops"), "drops_items": ("less_work", "stops"),
    "says_less": ("less_work", "stops"),
}  # fmt: skip

SURE = ("left_running", "error_printed", "units", "drops_items", "says_less")
"""What every trial shows needs few of them."""

READ = {
    "units": {"took": {"regex": r"took ([\d.]+)"}},
    "drops_items": {"items": {"regex": r"items: (\d+)"}},
}


@pytest.fixture
def swept(write_study, sweep, tmp_path):
    def plant(mistake, **keys):
        state = tmp_path / "state"
        state.mkdir()
        design = {"replicates": 3 if mistake in SURE else 5, "warmup": 1}
        study = write_study(
            mistake.replace("_", "-"),
            argv=[sys.executable, "-I", "-S", str(PROGRAM), mistake, "{n}", str(state)],
            workload={"responses": READ.get(mistake, {})},
            factors={"n": [1, 2, 4, 6] if mistake in SURE else LEVELS},
            design=design | ({"timeout_s": 1.0} if mistake == "hang" else {}),
            response={"name": "took" if mistake == "units" else "wall_s"},
            **keys,
        )
        return sweep(study)

    return plant


ALONE = {
    "cache": pytest.mark.alone("only the time of a trial shows it"),
    "after_large": pytest.mark.alone("only the time of a trial shows it"),
    "not_used": pytest.mark.alone("a neighbour that comes and goes makes its levels differ"),
}


def marks_of(mistake):
    of_night = [] if mistake in FOR_EACH_CHANGE else [pytest.mark.night]
    return [*of_night, *([ALONE[mistake]] if mistake in ALONE else [])]


@pytest.mark.parametrize("mistake", [pytest.param(one, marks=marks_of(one)) for one in NAMED])
def test_each_planted_mistake_is_named_and_nothing_wrong_is_recommended(mistake, swept, deadzone):
    key, severity = NAMED[mistake]
    try:
        run = swept(mistake)
    except SweepError:
        return  # three trials in a row failed: that was said, and the sweep ended
    said = deadzone("recommend", run.folder, "--json")
    told = json.loads(said.out)
    keys = [finding["key"] for finding in told["findings"]]
    assert key in keys, (keys, said.err)
    finding = told["findings"][keys.index(key)]
    assert finding["severity"] == severity and finding["confidence"] > 0.98 and finding["sentence"]
    if severity == "stops":
        assert said.code == 7 and told["setting"] is None
        assert deadzone("recommend", run.folder, "--json", "--anyway").code == 0
    else:
        assert said.code == 0
        assert mistake == "not_used" or told["setting"] not in finding["levels"]


def test_a_finding_that_is_meant_is_accepted_with_its_reason(swept, deadzone):
    run = swept("left_running", accept={"left_running": "the daemon is what we want"})
    said = deadzone("recommend", run.folder, "--json")
    told = json.loads(said.out)["findings"]
    accepted = next(finding for finding in told if finding["key"] == "left_running")
    assert accepted["severity"] == "notes" and accepted["accepted"] == "the daemon is what we want"


def test_an_unknown_finding_cannot_be_accepted(write_study, deadzone):
    said = deadzone("sweep", write_study(accept={"les_work": "larger blocks"}))
    assert said.code == 2 and "less_work" in said.err
