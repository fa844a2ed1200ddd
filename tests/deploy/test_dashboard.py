import http.server
import itertools
import re
import subprocess
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from needs import needs

from .dashboard import annotation, dashboard, questions
from .prometheus_server import Prometheus, prometheus

ROOT = Path(__file__).resolve().parents[2]

SCRAPES = sorted((ROOT / "tests" / "data" / "cadvisor").glob("scrape-*.txt"))

LABELS = {"namespace": "media", "pod": "encoder", "container": "ffmpeg"}

PANELS = (
    ("Throttling ratio", ("ratio",)),
    ("CPU: request, limit, usage", ("usage", "limit", "request")),
    ("Memory: working set and limit", ("working_set", "limit")),
    ("Throttled seconds per second", ("throttled",)),
    ("Throttling events", ("events",)),
)


def recorded(name: str) -> list[float]:
    """The values of a container's series, a scrape each."""
    line = re.compile(rf'^{name}{{container="ffmpeg".* (\S+) \d+$', re.MULTILINE)
    return [float(found.group(1)) for path in SCRAPES if (found := line.search(path.read_text()))]


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> Iterator[Prometheus]:
    """A Prometheus that has scraped all recordings, one after the other."""
    left = itertools.chain(SCRAPES, itertools.repeat(SCRAPES[-1]))

    class Kubelet(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = next(left).read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Kubelet) as kubelet:
        threading.Thread(target=kubelet.serve_forever, daemon=True).start()
        address = f"127.0.0.1:{kubelet.server_port}"
        scrape = {"honor_timestamps": False, "static_configs": [{"targets": [address]}]}
        with prometheus(tmp_path_factory.mktemp("prometheus"), scrape) as server:
            last = recorded("container_cpu_cfs_periods_total")[-1]
            server.wait_for(f'container_cpu_cfs_periods_total{{container="ffmpeg"}} == {last}', 60)
            yield server
        kubelet.shutdown()


def test_it_has_the_five_panels_such_a_study_needs():
    panels = dashboard()["panels"]
    assert len(panels) == len(PANELS)
    for panel, (title, queries) in zip(panels, PANELS, strict=True):
        assert panel["title"].startswith(title)
        assert tuple(target["refId"] for target in panel["targets"]) == queries
        assert panel["description"]
    steps = panels[0]["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert [step["value"] for step in steps] == [None, 0.05, 0.10]


def test_every_variable_of_a_query_is_one_that_the_reader_can_choose():
    chosen = {variable["name"] for variable in dashboard()["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", str(dashboard()))) - {"__rate_interval"}
    assert used == chosen


@pytest.mark.parametrize("title", [title for title, _ in PANELS])
def test_every_query_answers_with_the_container_and_nothing_else(answers, title):
    asked = {
        name: expression
        for (panel, name), expression in questions("media", ".+", ".+", "2m").items()
        if panel.startswith(title)
    }
    for name, expression in asked.items():
        (series,) = answers.ask(
            expression
        )  # the pause container and the pod as a whole are not counted again
        assert series["metric"] == LABELS, name
        assert float(series["value"][1]) > 0, name


def test_the_queries_say_what_the_kubelet_recorded(answers):
    value = {
        name: float(answers.ask(expression)[0]["value"][1])
        for name, expression in questions("media", "encoder", "ffmpeg", "2m").items()
    }
    by_panel = {(title.split(":")[0], name): number for (title, name), number in value.items()}
    throttled = recorded("container_cpu_cfs_throttled_periods_total")
    periods = recorded("container_cpu_cfs_periods_total")
    share = (throttled[-1] - throttled[0]) / (periods[-1] - periods[0])
    assert by_panel["Throttling ratio", "ratio"] == pytest.approx(share, rel=0.02)
    assert by_panel["CPU", "limit"] == pytest.approx(0.3)
    assert by_panel["CPU", "request"] == pytest.approx(0.1, abs=0.001)
    assert by_panel["Memory", "limit"] == 128 * 1024**2
    assert by_panel["Memory", "working_set"] == recorded("container_memory_working_set_bytes")[-1]
    # Grafana's `increase` covers its whole window; the recordings are only the last seconds of
    # these two minutes.
    assert by_panel["Throttling events", "events"] >= 0.98 * (throttled[-1] - throttled[0])


def test_an_idle_namespace_has_no_series_rather_than_wrong_ones(answers):
    assert not any(answers.ask(asked) for asked in questions("other", ".+", ".+", "2m").values())


def series(run):
    """What the commands of deploy/README.md make of a run."""
    needs("jq")
    page = (ROOT / "deploy" / "README.md").read_text()
    (block,) = re.findall(r"```sh\n(study=.*?)```", page, re.DOTALL)
    commands = re.sub(r"^study=\S+ run=\S+", f"study=probe run={run.run_id}", block)
    commands = re.sub(r"^promtool.*$", "cat trials.txt", commands, flags=re.MULTILINE)
    repository = run.folder.parents[3]
    return subprocess.check_output(("sh", "-ec", commands), cwd=repository, text=True)


def test_the_trials_of_a_run_are_marked_while_they_ran_and_not_after(write_study, sweep, tmp_path):
    argv, once = ["sleep", "0.{threads}"], {"replicates": 1, "warmup": 0}
    run = sweep(write_study(argv=argv, factors={"threads": [3, 6]}, design=once))
    trials = run.trials()
    with prometheus(tmp_path, trials=series(run)) as server:
        for trial in trials.to_dict("records"):
            begin = datetime.fromisoformat(trial["started_at"]).timestamp()
            marked = server.ask(annotation("probe"), begin + trial["wall_s"] / 2)
            (during,) = [one["metric"] for one in marked]
            assert during["treatment"] == f"threads={trial['threads']}"
            assert (during["trial"], during["run_id"]) == (str(trial["trial"]), run.run_id)
        assert not server.ask(annotation("probe"), begin + 60)
