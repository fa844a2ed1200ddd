"""The waterfall figure: every part with its name and time, and what it shows in words."""

import matplotlib.pyplot as plt
import pytest

import deadzone
from deadzone.language.messages import speaking
from deadzone_services.attribution.page import description
from packs.services.attribution.made_trials import FAST, LIMITED, trials


@pytest.fixture
def result():
    return deadzone.attribute(trials({"pod": LIMITED, "container": FAST}))


def test_it_goes_from_the_fast_to_the_slow_environment_and_names_the_largest_part(result):
    figure = result.plot()
    (ax,) = figure.axes
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert (names[0], names[-1]) == ("container", "pod")
    assert "stopped by the CPU limit" in names
    assert ax.get_title(loc="left").startswith("Stopped by the CPU limit: 10")
    plt.close(figure)


def test_it_is_described_for_those_who_do_not_see_it(result):
    assert "stopped by the CPU limit +1.39 s (100 %)" in description(result)
    with speaking("ko"):
        assert "CPU 제한으로 정지" in description(result)
