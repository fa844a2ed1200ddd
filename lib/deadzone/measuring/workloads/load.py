"""The load workload: requests, messages or connections at a rate, sent by a process of its own."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from deadzone.errors import StudyError
from deadzone.measurement import Command, HistogramSlice, Measurement
from deadzone.measuring.load.addresses import resolve
from deadzone.measuring.load.plan import LoadPlan
from deadzone.measuring.load.recording import RESPONSES
from deadzone.measuring.workloads.base import Outcome
from deadzone.study.levels import Level, format_level, is_number
from deadzone.study.load_specs import FIELD_FACTORS, MESSAGE_PLACEHOLDERS
from deadzone.study.load_specs import LoadWorkload as LoadSpec
from deadzone.study.templates import fill, filled, placeholders

TEXTS = ("url", "headers", "body", "subscribe", "send_to", "on_open")
"""Parts of a load in which placeholders are filled in."""

KEPT = {name: f"{{{name}}}" for name in MESSAGE_PLACEHOLDERS}
"""Placeholders that stay as they are, for the generator to fill in."""


class LoadWorkload:
    """A load by Deadzone's own generator."""

    responses: tuple[str, ...] = RESPONSES

    def __init__(self, spec: LoadSpec, treatments: Sequence[Mapping[str, Level]] = ()) -> None:
        """treatments: the levels of each, checked before anything is sent."""
        self._spec = spec
        self._treatments = treatments

    def uses(self, factor: str) -> bool:
        """Whether the factor is a field of the load, or stands in its texts."""
        return factor in FIELD_FACTORS or any(factor in placeholders(text) for text in self._spec.templates())

    def check(self, factors: Sequence[str]) -> None:
        """Raise StudyError for an unknown placeholder, a level that is no number, or a load without a rate."""
        known = dict.fromkeys((*factors, *MESSAGE_PLACEHOLDERS), "")
        for text in self._spec.templates():
            fill(text, known)
        check_rates(self._spec, factors, self._treatments)

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Refuse an address that may not be loaded before the first trial, where it is known already."""
        if not {*placeholders(self._spec.url)} - {*MESSAGE_PLACEHOLDERS}:
            resolve(fill(self._spec.url, KEPT), self._spec.allow_remote)
        return {"program": "deadzone.measuring.load", "program_version": None}

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Write the plan of the trial.

        Raises WorkloadError if its address may not be loaded.
        """
        plan = self.plan(levels)
        resolve(plan.url, plan.allow_remote)
        plan.write(scratch / "load-plan.json")
        result = scratch / "load-result.json"
        result.unlink(missing_ok=True)
        client = (sys.executable, "-m", "deadzone.measuring.load.client")
        return Command((*client, str(scratch / "load-plan.json"), str(result)))

    def plan(self, levels: Mapping[str, Level]) -> LoadPlan:
        """What the generator is told for these levels."""
        spec, values = self._spec, {**levels, **KEPT}
        same = {one.name: getattr(spec, one.name) for one in fields(LoadPlan) if one.name != "seed"}
        numbers = {name: float(levels.get(name, same[name] or 0.0)) for name in FIELD_FACTORS}
        texts = {name: filled(same[name], values) for name in TEXTS}
        return LoadPlan(**{**same, **numbers, **texts, "connections": int(numbers["connections"])})

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """What the generator recorded, and why the trial failed, if it did."""
        ends_with_server = self._spec.mode != "constant"
        try:
            told = json.loads((scratch / "load-result.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            said = (measurement.stderr.strip() or f"exit code {measurement.exit_code}").splitlines()[-1]
            return Outcome(failure=f"the generator stopped: {said}", death_is_result=ends_with_server)
        return Outcome(
            told["responses"],
            told["failure"],
            wall_s=told["wall_s"],
            histograms=tuple(HistogramSlice(*one) for one in told["slices"]),
            death_is_result=ends_with_server,
        )

    def finish(self) -> None:
        """Nothing lies outside the scratch folder."""


def check_rates(spec: LoadSpec, factors: Sequence[str], treatments: Sequence[Mapping[str, Level]]) -> None:
    """Raise StudyError where a load has no rate, or a level of a field is no positive number."""
    if spec.mode == "constant" and spec.driver == "deadzone" and spec.rate is None and "rate" not in factors:
        raise StudyError("workload.rate is missing: give it, or make rate a factor.")
    for levels in treatments:
        for name in FIELD_FACTORS:
            level = levels.get(name, 1)
            least = 0 if name == "warmup_s" else 1e-9
            if not is_number(level) or float(level) < least:
                raise StudyError(
                    f"factors.{name} has the level {format_level(level)!r}; the {name} of a load is a number above zero."
                )
