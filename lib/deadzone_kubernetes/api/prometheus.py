"""The cAdvisor series of a trial's container, asked of a Prometheus after the trial, beside the
telemetry.

They are what other people's dashboards show of the trial, at the resolution of their scrapes.
"""

import http.client
import json
import math
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from deadzone.plugins import Measurement, Sample
from deadzone_kubernetes.api.streams import Spot

SERIES = (
    "container_cpu_cfs_periods_total",
    "container_cpu_cfs_throttled_periods_total",
    "container_cpu_cfs_throttled_seconds_total",
    "container_cpu_usage_seconds_total",
    "container_memory_working_set_bytes",
)
"""As cAdvisor names them; the column `metric` has `prometheus_` before the name."""

QUERY_TIMEOUT_S = 10.0

SCRAPE_MARGIN_S = 30.0
"""A scrape up to so long before a trial still says what the counters were when it began [s]."""


def added(
    url: str | None, spot: Spot, measured: Measurement, note: Callable[[str], None]
) -> Measurement:
    """The measurement with the series of its window; as it was, and a note, where Prometheus does
    not tell them."""
    if url is None:
        return measured
    try:
        samples = window(url, spot, measured)
    except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
        note(f"{url} does not tell the series of this trial: {error}")
        return measured
    return replace(measured, telemetry=(*measured.telemetry, *samples))


def window(url: str, spot: Spot, measured: Measurement) -> list[Sample]:
    """The raw scrapes of each series from shortly before the trial to its end, with times since its
    start.

    Raises OSError or ValueError where Prometheus does not answer, or not as it should.
    """
    began = datetime.fromisoformat(measured.started_at).timestamp()
    span = math.ceil(measured.wall_s + SCRAPE_MARGIN_S)
    labels = f'namespace="{spot.namespace}",pod="{spot.pod}",container="{spot.container}"'
    names = "|".join(SERIES)
    query = f'{{__name__=~"{names}",{labels}}}[{span}s]'
    every = _ask(url, {"query": query, "time": f"{began + measured.wall_s:.3f}"})
    return sorted(
        (
            Sample(
                round(float(at) - began, 3),
                f"prometheus_{series['metric']['__name__']}",
                float(value),
            )
            for series in every
            for at, value in series["values"]
        ),
        key=lambda sample: (sample.metric, sample.t_s),
    )


def _ask(url: str, parameters: Mapping[str, str]) -> list[dict[str, Any]]:
    address = f"{url.rstrip('/')}/api/v1/query?{urllib.parse.urlencode(parameters)}"
    try:
        with urllib.request.urlopen(address, timeout=QUERY_TIMEOUT_S) as answer:
            document = json.load(answer)
    except urllib.error.HTTPError as error:
        raise ValueError(
            f"it answers {error.code}: {error.read()[:200].decode(errors='replace')}"
        ) from error
    if document.get("status") != "success":
        raise ValueError(str(document.get("error") or "no success"))
    result: list[dict[str, Any]] = document["data"]["result"]
    return result
