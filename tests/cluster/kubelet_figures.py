"""What the kubelet itself counted for a container: cAdvisor's series, by the API server."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from waiting import wait_for

PATIENCE_S = 90.0
"""cAdvisor looks at a container every 10 to 15 s; a busy machine takes longer [s]."""


@dataclass(frozen=True)
class Figures:
    """Counters of one container at one moment.

    at_s: when the kubelet read them [Unix time]. cpu_s, throttled_s in seconds, periods as counts.
    """

    at_s: float
    cpu_s: float
    periods: float
    throttled_periods: float
    throttled_s: float

    def since(self, before: Figures) -> Figures:
        """What was added between two moments; at_s is the time between them."""
        names = ("at_s", "cpu_s", "periods", "throttled_periods", "throttled_s")
        return Figures(*(getattr(self, name) - getattr(before, name) for name in names))


def figures(
    cluster: Any, namespace: str, pod: str, container: str, after_s: float = 0.0
) -> Figures:
    """The kubelet's counters, read by it later than a moment [Unix time].

    Idle at that moment, the container has the same counters until it works again, so two calls
    around a trial give what the trial added.
    """
    node = cluster.get("pod", pod, "--namespace", namespace)["spec"]["nodeName"]

    def look() -> Figures | None:
        text = cluster.raw(f"/api/v1/nodes/{node}/proxy/metrics/cadvisor")
        found = _read(text, f'container="{container}"', f'namespace="{namespace}"', f'pod="{pod}"')
        return found if found and found.at_s > after_s else None

    return wait_for(look, f"the kubelet did not look at {pod}", PATIENCE_S, pause_s=0.5)


def _read(text: str, *labels: str) -> Figures | None:
    values: dict[str, float] = {}
    at_ms = 0.0
    for line in text.splitlines():
        found = re.match(r"container_cpu_(\w+?)_total(\{.*\}) (\S+) (\d+)$", line)
        if found and all(label in found[2] for label in labels):
            values[found[1]], at_ms = float(found[3]), float(found[4])
    names = ("usage_seconds", "cfs_periods", "cfs_throttled_periods", "cfs_throttled_seconds")
    if not set(names) <= set(values):
        return None  # no limit, or not looked at yet
    return Figures(at_ms / 1000, *(values[name] for name in names))


def cadvisor_scrape(cluster: Any, interval_s: int) -> dict[str, Any]:
    """How a Prometheus outside the cluster scrapes the first node's kubelet, by the API server."""
    config = json.loads(cluster.kubeconfig.read_text())
    server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    node = cluster.get("nodes")["items"][0]["metadata"]["name"]
    return {
        "scheme": "https",
        "metrics_path": f"/api/v1/nodes/{node}/proxy/metrics/cadvisor",
        "authorization": {"credentials": user["token"]},
        "tls_config": {"ca_file": server["certificate-authority"]},
        "scrape_interval": f"{interval_s}s",
        "scrape_timeout": f"{interval_s}s",
        "static_configs": [{"targets": [server["server"].removeprefix("https://")]}],
    }
