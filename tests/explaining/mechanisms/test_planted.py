"""Programs that stop scaling by exactly one mechanism, really run: it is named, and no other."""

import pytest
from benchmarks.planted_mechanisms import PLANTED, built, trials
from disturbance import MOST_UNTRUSTED, clock_wandered, mostly_untrusted, undisturbed

import deadzone

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    found = built(tmp_path_factory.mktemp("planted"))
    if found is None:
        pytest.skip("no C compiler; install gcc")
    return found


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_mechanism_is_named_and_no_other(program, name):
    of = PLANTED[name]
    frame = undisturbed(
        lambda: trials(program, of, replicates=6, most_untrusted=MOST_UNTRUSTED),
        lambda found: mostly_untrusted(found) or clock_wandered(found, of.knob),
        attempts=1,
    )
    found = deadzone.explain_phases(frame, deadzone.fit_phases(frame, of.knob, "wall_s"))
    named = {row["mechanism"] for row in found.table.to_dict("records") if row["verdict"] == "confirmed"}
    assert named == ({of.names} if of.names else set()), found.table.to_string()
