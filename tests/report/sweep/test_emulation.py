import pandas as pd

from deadzone.language.messages import speaking
from deadzone.report.sweep.source import emulation_doubts


def trials(*rows):
    """cpu_limit, CPU used [s], throttled periods; each of 10 s, which are 100 periods."""
    columns = ["cpu_limit", "user_s", "nr_throttled"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(sys_s=0.0, wall_s=10.0, nr_periods=100, status="ok")


def test_a_limit_that_was_not_held_is_named_with_how_far_it_was_missed_that_of_a_study_too():
    # One quota more than the duration tells, 0.05 s, is allowed for the period that a trial begins
    # in.
    said = emulation_doubts(trials((0.5, 5.3, 100), (0.5, 7.5, 100), (1, 10.2, 100)), "none", 2)
    assert "not be held to 0.5 cores" in said[1]
    assert "up to 1.50 times its limit" in said[1]
    said = emulation_doubts(trials((0, 7.5, 100)).drop(columns="cpu_limit"), 0.5, 2)
    assert "not be held to 0.5 cores" in said[1]


def test_a_limit_above_the_machines_cores_held_nothing_back():
    said = emulation_doubts(trials((4, 20.0, 0), (2, 19.9, 0), ("none", 19.9, 0)), "none", 2)
    assert "emulated" in said[0]
    assert said[1:] == ["4 cores held nothing back, because this machine has 2."]


def test_it_is_said_in_korean_too():
    with speaking("ko"):
        said = emulation_doubts(trials((0.5, 5.0, 100), (4, 20.0, 0), (1, 15.0, 100)), "none", 2)
    assert len(said) == 3
    assert not any("program" in sentence for sentence in said)
