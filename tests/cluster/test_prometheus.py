"""The cAdvisor series of a trial's window, from a real Prometheus that scrapes this cluster's
kubelet."""

import pytest
from deploy.prometheus_server import prometheus
from kubelet_figures import cadvisor_scrape
from sweeping import ALLOWED, BUSY, target

pytestmark = pytest.mark.cluster


def test_the_series_of_a_trial_stand_in_its_telemetry(
    own_cluster, namespace, deployment, write_study, sweep, tmp_path
):
    deployment(annotations=ALLOWED)
    scrape = cadvisor_scrape(own_cluster, interval_s=2)
    with prometheus(tmp_path, scrape) as running:
        running.wait_for(
            f'container_cpu_usage_seconds_total{{namespace="{namespace}"}}', patience_s=60
        )
        run = sweep(
            write_study(
                argv=BUSY,
                target=target(namespace, change="resize", prometheus_url=running.url),
                factors={"work": [150000], "cpu_limit": [0.05]},
                design={"replicates": 1, "timeout_s": 120},
            )
        )
    telemetry = run.telemetry()
    wall_s = run.trials()["wall_s"].iloc[0]
    series = telemetry[
        telemetry["metric"] == "prometheus_container_cpu_cfs_throttled_periods_total"
    ]
    assert len(series)
    assert series["t_s"].between(-31, wall_s + 1).all()
    assert {"prometheus_container_cpu_usage_seconds_total", "nr_throttled"} <= set(
        telemetry["metric"]
    )


def test_a_prometheus_that_does_not_answer_loses_no_trial(
    namespace, deployment, write_study, deadzone
):
    deployment(annotations=ALLOWED)
    study = write_study(
        argv=["true"],
        target=target(namespace, prometheus_url="http://127.0.0.1:9"),
        factors={"cpu_limit": [0.5]},
        replicates=1,
    )
    said = deadzone("sweep", study, code=0)
    assert "http://127.0.0.1:9 does not tell the series of this trial" in said.err
