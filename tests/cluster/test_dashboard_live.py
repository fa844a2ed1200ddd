"""The dashboard over a Prometheus that scrapes this cluster's kubelet, through the API server."""

import pytest
from deploy.dashboard import questions
from deploy.prometheus_server import prometheus
from kubelet_figures import cadvisor_scrape

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.alone("it waits for what the kubelet measures of a quiet node"),
]


def test_every_panel_shows_a_throttled_pod(own_cluster, namespace, deployment, tmp_path):
    busy = ["sh", "-c", "while :; do :; done"]
    limits = {"limits": {"cpu": "200m", "memory": "64Mi"}, "requests": {"cpu": "100m"}}
    deployment("busy", command=busy, resources=limits)
    scrape = cadvisor_scrape(own_cluster, interval_s=3)
    with prometheus(tmp_path, scrape) as server:
        asked = questions(namespace, "busy-.+", ".+", "1m")
        for (title, name), expression in asked.items():
            (series,) = server.wait_for(f"({expression}) > 0", patience_s=90)
            assert series["metric"]["container"] == "ffmpeg", (title, name)
        by_name = {name: expression for (_, name), expression in asked.items()}
        # Red, and at its limit: it wants a core and has a fifth of one.
        server.wait_for(f"({by_name['ratio']}) > 0.1", patience_s=90)
        server.wait_for(f"({by_name['usage']}) > 0.1 < 0.21", patience_s=90)
