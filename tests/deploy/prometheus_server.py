"""A real Prometheus of a test's own, on the loopback interface."""

import contextlib
import json
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from needs import needs
from servers import free_port
from waiting import wait_for


@dataclass(frozen=True)
class Prometheus:
    url: str

    def ask(self, expression: str, at: float | None = None) -> list[dict[str, Any]]:
        """Series of an instant vector, each with `metric` (its labels) and `value` (time, text)."""
        when = {} if at is None else {"time": f"{at:.3f}"}
        return self._get("query", query=expression, **when)["result"]

    def range(
        self, expression: str, start: float, end: float, step_s: float
    ) -> list[dict[str, Any]]:
        """Series over time, each with `metric` and `values`."""
        window = {"start": f"{start:.3f}", "end": f"{end:.3f}", "step": str(step_s)}
        return self._get("query_range", query=expression, **window)["result"]

    def wait_for(self, expression: str, patience_s: float) -> list[dict[str, Any]]:
        """The series of an expression, once there are any."""
        nothing = f"nothing answers {expression}"
        return wait_for(lambda: self.ask(expression), nothing, patience_s, pause_s=0.5)

    def _get(self, path: str, **parameters: str) -> Any:
        with urllib.request.urlopen(
            f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=10
        ) as answer:
            return json.load(answer)["data"]


@contextlib.contextmanager
def prometheus(
    folder: Path, scrape: dict[str, Any] | None = None, trials: str = ""
) -> Iterator[Prometheus]:
    """Run Prometheus with one scrape configuration, and with the series of a run put into its
    store.

    scrape: as in scrape_configs, without a job name. trials: OpenMetrics text.
    """
    for program in ("prometheus", "promtool"):
        needs(program)
    jobs = [{"job_name": "cadvisor", **scrape}] if scrape else []
    often = {"scrape_interval": "1s", "scrape_timeout": "1s"}
    configuration = {"global": often, "scrape_configs": jobs}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    if trials:
        (folder / "trials.txt").write_text(trials)
        make = ("promtool", "tsdb", "create-blocks-from", "openmetrics")
        argv = (*make, str(folder / "trials.txt"), str(folder / "data"))
        subprocess.run(argv, check=True, capture_output=True)
    address = f"127.0.0.1:{free_port()}"
    argv = (
        "prometheus", f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/data", "--storage.tsdb.retention.time=10y",
        f"--web.listen-address={address}", "--log.level=warn",
    )  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(argv, stdout=log, stderr=log)
    try:
        ready = f"http://{address}/-/ready"
        not_yet = f"Prometheus is not ready, see {folder / 'log'}"
        wait_for(lambda: not urllib.request.urlopen(ready, timeout=2).close(), not_yet, 60)
        yield Prometheus(f"http://{address}")
    finally:
        process.terminate()
        process.wait(timeout=30)
