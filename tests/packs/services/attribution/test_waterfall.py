"""The waterfall figure."""

import matplotlib.pyplot as plt

import deadzone
from packs.services.attribution.made_trials import FAST, LIMITED, trials


def test_it_goes_from_the_fast_to_the_slow_environment_and_names_the_largest_part():
    figure = deadzone.attribute(trials({"pod": LIMITED, "container": FAST})).plot()
    (ax,) = figure.axes
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert (names[0], names[-1]) == ("container", "pod")
    assert "stopped by the CPU limit" in names
    assert figure.get_suptitle().startswith("Stopped by the CPU limit: 10")
    plt.close(figure)
