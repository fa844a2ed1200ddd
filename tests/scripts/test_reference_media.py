"""What the media-server document derives, and exactly the figures that do not follow."""

from __future__ import annotations

import pytest
from reference_checks import checks_of

OFF = {
    "cpu-savings/sum: claimed_saved_s": 23.32,
    "claims/share-freed-by-nack-and-mdns": -6.0,
    "claims/nack-cpu": 0.05,
}

METHOD = {
    "cpu-by-component/component=nack, profile=optimised: claimed_share_change_percent": 75.02,
    "cpu-by-component/component=mdns, profile=optimised: claimed_share_change_percent": 81.99,
}

CLOSE = {
    "totals/profile=optimised: claimed_cpu_s_change_percent": -0.052,
    "per-stream/profile=optimised: claimed_cpu_change_percent": -0.74,
    "techniques/technique=rtcp_interval, component=rtcp: claimed_traffic_change_percent": -0.67,
    "summary/quantity=cpu: claimed_change_percent": -0.052,
    "summary/quantity=cpu_per_stream: claimed_change_percent": -0.75,
    "claims/rtcp-traffic-change": -0.67,
    "claims/interleaved-frame-change-rounded": 0.69,
}


@pytest.mark.parametrize(("verdict", "expected"), [("off", OFF), ("method", METHOD), ("close", CLOSE)])
def test_exactly_these_figures_do_not_follow(verdict: str, expected: dict[str, float]):
    differing = {
        f"{check.table}/{check.cell}": check.row()["difference"]
        for check in checks_of("media-server")
        if check.verdict == verdict
    }
    assert differing == pytest.approx(expected)


def test_the_heap_saved_adds_up_and_the_cpu_time_saved_does_not():
    sums = {check.table: check for check in checks_of("media-server") if check.cell.startswith("sum:")}
    assert sums["heap-savings"].verdict == "agrees"
    assert sums["cpu-savings"].recomputed == pytest.approx(20.49 + 14.77 + 13.86 + 0.24)
    assert sums["cpu-savings"].claimed == pytest.approx(26.04)


def test_a_report_every_three_seconds_saves_two_thirds():
    claims = {check.cell: check.recomputed for check in checks_of("media-server")}
    assert claims["rtcp-traffic-change"] == pytest.approx(-200 / 3)
