"""What a measurement says by itself."""

from __future__ import annotations

import dataclasses

import pytest


def test_efficiency_is_cpu_time_over_wall_time(execute):
    measured = execute("sleep", "0.05")
    busy = dataclasses.replace(measured, wall_s=2.0, user_s=2.5, sys_s=0.5)
    assert busy.cpu_efficiency == 1.5


def test_a_measurement_cannot_be_changed(execute):
    with pytest.raises(dataclasses.FrozenInstanceError):
        execute("true").wall_s = 0
