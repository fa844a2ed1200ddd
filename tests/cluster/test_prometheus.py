"""The cAdvisor series of a trial's window, from a real Prometheus that scrapes this cluster's
kubelet."""

import pytest
from deploy.prometheus_server import prometheus
from kubelet_figures import cadvisor_scrape
from sweeping import BUSY

pytestmark = pytest.mark.cluster


def test_the_series_of_a_trial_stand_in_its_telemetry(
    own_cluster, namespace, worker_study, sweep, tmp_path
):
    with prometheus(tmp_path, cadvisor_scrape(own_cluster, interval_s=2)) as running:
        running.wait_for(
            f'container_cpu_usage_seconds_total{{namespace="{namespace}"}}', patience_s=60
        )
        factors, patient = {"work": [150000], "cpu_limit": [0.05]}, {"design": {"timeout_s": 120}}
        where = {"change": "resize", "prometheus_url": running.url}
        run = sweep(worker_study(BUSY, factors, study=patient, **where))
    telemetry = run.telemetry()
    throttled = telemetry["metric"] == "prometheus_container_cpu_cfs_throttled_periods_total"
    series = telemetry.loc[throttled, "t_s"]
    assert len(series)
    assert series.between(-31, run.trials()["wall_s"].iloc[0] + 1).all()
    metrics = set(telemetry["metric"])
    assert {"prometheus_container_cpu_usage_seconds_total", "nr_throttled"} <= metrics


def test_a_prometheus_that_does_not_answer_loses_no_trial(worker_study, deadzone):
    said = deadzone("sweep", worker_study(prometheus_url="http://127.0.0.1:9"), code=0)
    assert "http://127.0.0.1:9 does not tell the series of this trial" in said.err
