import numpy as np
import pandas as pd
import pytest

from deadzone import fit_phases


def phases(levels, response, goal="min"):
    table = pd.DataFrame({"knob": levels, "response": response})
    model = fit_phases(table, "knob", "response", goal)
    return [(row.start, row.stop, row.label) for row in model.phases.itertuples()]


def test_what_is_flat_behind_harm_is_as_bad_to_the_end():
    """osqzss/gps-sdr-sim, issue 11: seconds by threads; each takes longer than one."""
    assert phases([1, 2, 4, 8], [72.271, 114.911, 133.468, 146.593]) == [(1, 8, "reversal")]


def test_a_fall_from_one_thread_to_two_makes_no_dead_zone():
    """conc-map-bench, Exchange, evmap: millions of operations a second by threads."""
    threads = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192]
    rate = [
        *(1.873, 1.166, 0.8472, 0.6253, 0.6213, 0.5739, 0.5625),
        *(0.5245, 0.5432, 0.3753, 0.3708, 0.3517, 0.4104),
    ]
    assert [label for *_, label in phases(threads, rate, "max")] == ["reversal"]


def test_a_cliff_stays_a_reversal_on_its_flat_ground():
    levels = np.repeat(2.0 ** np.arange(10), 4)
    wall = np.where(levels <= 8, 64 / levels, np.where(levels <= 64, 8.0, 80.0))
    wall = wall * np.exp(0.01 * np.random.default_rng(2).standard_normal(len(levels)))
    assert phases(levels, wall) == [(1, 8, "linear"), (8, 64, "plateau"), (64, 512, "reversal")]


def test_a_slow_gain_is_linear_until_it_has_faded():
    """picoprog, pull request 8: seconds by buffer, in bytes; "flattens out at 2K"."""
    found = phases([256, 512, 1024, 2024, 4096, 8192], [43.85, 39.09, 36.92, 35.89, 35.35, 35.12])
    assert [label for *_, label in found] == ["linear", "plateau"]
    assert 1024 <= found[0][1] <= 2024


@pytest.mark.parametrize("loss", [0.002, 0.02])
def test_a_slow_loss_is_harm_only_where_it_adds_up(loss):
    levels = np.repeat(2.0 ** np.arange(8), 5)
    wall = np.where(levels <= 8, 64 / levels, 8 * (levels / 8) ** loss)
    wall = wall * np.exp(0.002 * np.random.default_rng(1).standard_normal(len(levels)))
    last = {0.002: "plateau", 0.02: "reversal"}[loss]
    assert phases(levels, wall) == [(1, 8, "linear"), (8, 128, last)]


def test_the_smaller_of_two_is_chosen_where_it_measured_no_worse():
    """README of uber-go/automaxprocs: requests a second by GOMAXPROCS; 2 measured best, 3 lies 1 %
    below it."""
    rps = [28893, 44715, 44213, 41071, 33112]
    sweep = pd.DataFrame({"gomaxprocs": [1, 2, 3, 4, 8], "rps": rps})
    advice = fit_phases(sweep, "gomaxprocs", "rps", "max").recommend()
    assert advice.setting == 2 and 3 in advice.tied and 8 not in advice.tied


def test_two_high_values_of_three_are_no_reversal_but_a_plateau():
    """devkitPro/wut, pull request 159: seconds to write a card by buffer, in KiB; one run each."""
    write_s = [60, 38, 23, 15, 9, 9, 12, 10]
    sweep = pd.DataFrame({"buffer_kib": [8 * 2**k for k in range(8)], "write_s": write_s})
    model = fit_phases(sweep, "buffer_kib", "write_s")
    assert model.phases["label"].tolist() == ["linear", "plateau"]
    assert model.recommend().setting == 128
