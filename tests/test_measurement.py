import pytest

from deadzone.measurement import Interference, Measurement


def test_cpu_efficiency_is_cores_really_used():
    quiet = Interference(0.0, 0.0, 0.0, None, None, 0.0)
    measured = Measurement(
        started_at="2026-01-01T00:00:00+00:00", wall_s=23.88, user_s=92.59, sys_s=2.73,
        max_rss_bytes=1, nr_periods=None, nr_throttled=None, throttled_s=None, exit_code=0,
        status="ok", error=None, stdout="", stderr="", interference=quiet,
    )  # fmt: skip
    assert measured.cpu_efficiency == pytest.approx(3.99, abs=0.005)
