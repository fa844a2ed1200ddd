import pytest
from benchmarks.planted_mechanisms import PLANTED, built, cannot_show, trials
from disturbance import MOST_UNTRUSTED, clock_wandered, mostly_untrusted, undisturbed

import deadzone

pytestmark = pytest.mark.alone("time per level is what shows the mechanism")

REPLICATES = 5


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    found = built(tmp_path_factory.mktemp("planted"))
    if found is None:
        pytest.skip("no C compiler; install gcc")
    return found


FOR_EACH_CHANGE = ("one thread",)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in FOR_EACH_CHANGE else pytest.mark.night)
        for name in PLANTED
    ],
)
def test_the_planted_mechanism_is_named_and_none_that_is_wrong(program, name):
    of = PLANTED[name]
    if reason := cannot_show(program, of):
        pytest.skip(f"this machine cannot show it: {reason}")
    frame = undisturbed(
        lambda: trials(program, of, REPLICATES, most_untrusted=MOST_UNTRUSTED),
        lambda found: mostly_untrusted(found) or clock_wandered(found, of.knob),
        attempts=1,
    )
    found = deadzone.explain_phases(frame, deadzone.fit_phases(frame, of.knob, "wall_s"))
    rows = found.table.to_dict("records")
    named = {row["mechanism"] for row in rows if row["verdict"] == "confirmed"}
    assert named <= of.right, found.table.to_string()
    assert of.names is None or of.names in named, found.table.to_string()
