"""Published sweeps of one trial a level: an order that the measurements deny is not given."""

import pandas as pd

from deadzone.analysis.phases.fit import fit_phases


def test_the_smaller_of_two_is_chosen_where_it_measured_no_worse():
    """README of uber-go/automaxprocs: requests a second by GOMAXPROCS; 2 measured best, 3 lies 1 %
    below it."""
    sweep = pd.DataFrame(
        {"gomaxprocs": [1, 2, 3, 4, 8], "rps": [28893, 44715, 44213, 41071, 33112]}
    )
    advice = fit_phases(sweep, "gomaxprocs", "rps", "max").recommend()
    assert advice.setting == 2 and 3 in advice.tied and 8 not in advice.tied


def test_two_high_values_of_three_are_no_reversal_but_a_plateau():
    """devkitPro/wut, pull request 159: seconds to write an SD card by buffer, in KiB; whole
    seconds, one run each."""
    sweep = pd.DataFrame(
        {
            "buffer_kib": [8, 16, 32, 64, 128, 256, 512, 1024],
            "write_s": [60, 38, 23, 15, 9, 9, 12, 10],
        }
    )
    model = fit_phases(sweep, "buffer_kib", "write_s")
    assert model.phases["label"].tolist() == ["linear", "plateau"]
    assert model.recommend().setting == 128
