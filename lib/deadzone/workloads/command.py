"""The command workload: any program, with its factors in the arguments or the environment."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deadzone.errors import WorkloadError, did_you_mean
from deadzone.measurement import Command, Measurement
from deadzone.provenance import program_version
from deadzone.study.levels import Level
from deadzone.study.spec import CommandWorkload as CommandSpec
from deadzone.study.spec import ResponseExtraction
from deadzone.study.templates import fill, placeholders
from deadzone.workloads.base import Outcome

PREPARE_TIMEOUT_S = 600.0
"""Preparation that takes longer than this is taken for hung [s]."""

SCRATCH = "scratch"
"""Placeholder for the folder in which a trial may write; it is emptied before each trial."""


INPUTS = "inputs"
"""Placeholder for the folder that the setup fills; it is kept for the whole sweep, then removed."""


class CommandWorkload:
    """An argument vector with {factor} placeholders, and responses read from what it prints."""

    def __init__(self, spec: CommandSpec, folder: Path) -> None:
        """folder: where the study file lies; relative working folders start there."""
        self._spec = spec
        self.responses = tuple(spec.responses)
        self._cwd = (folder / spec.cwd).resolve() if spec.cwd else folder.resolve()

    def uses(self, factor: str) -> bool:
        """Whether the factor stands in the arguments, the environment or the preparation."""
        return any(factor in placeholders(template) for template in self._templates())

    def check(self, factors: Sequence[str]) -> None:
        """Raise StudyError for a placeholder that is neither a factor nor a folder."""
        for template in self._templates():
            fill(template, dict.fromkeys((*factors, INPUTS, SCRATCH), ""))
        for template in self._spec.setup or ():
            fill(template, {INPUTS: ""})

    def _templates(self) -> tuple[str, ...]:
        """Whatever is filled in for each trial."""
        return (*self._spec.argv, *self._spec.env.values(), *(self._spec.prepare or ()))

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Check that the program exists, and run the setup."""
        if not self._cwd.is_dir():
            raise WorkloadError(f"workload.cwd: {self._cwd} is no folder.")
        program = self._spec.argv[0]
        if not placeholders(program):
            self._require(program)
        if self._spec.setup:
            self._run_unmeasured("setup", self._spec.setup, {INPUTS: str(fresh_folder(scratch / INPUTS))})
        return {"program": Path(program).name, "program_version": _version(program)}

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Empty the scratch folder, run the preparation, and fill in the factors."""
        work = fresh_folder(scratch / SCRATCH)
        values = {**levels, SCRATCH: str(work), INPUTS: str(scratch / INPUTS)}
        if self._spec.prepare:
            self._run_unmeasured("prepare", self._spec.prepare, values)
        return Command(
            argv=tuple(fill(argument, values) for argument in self._spec.argv),
            env={name: fill(value, values) for name, value in self._spec.env.items()},
            cwd=self._cwd,
        )

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """Read the named responses; a missing one, or an exit code that is not expected, is a failure."""
        if measurement.exit_code not in self._spec.expected_exit_codes:
            return Outcome(failure=f"exit code {measurement.exit_code}")
        responses: dict[str, float] = {}
        for name, extraction in self._spec.responses.items():
            value = extract(extraction, measurement)
            if value is None:
                return Outcome(responses, f"the program printed no number for the response {name}")
            responses[name] = value
        return Outcome(responses)

    def _require(self, program: str) -> None:
        """Raise WorkloadError unless the program can be started from the working folder."""
        found = shutil.which(str(self._cwd / program)) if "/" in program else shutil.which(program)
        if not found:
            hint = "" if "/" in program else did_you_mean(program, _programs_like(program))
            raise WorkloadError(
                f"workload.argv: the program {program!r} is not installed here, or may not be run.{hint}"
            )

    def _run_unmeasured(self, key: str, argv: tuple[str, ...], values: Mapping[str, Level]) -> None:
        filled = tuple(fill(argument, values) for argument in argv)
        self._require(filled[0])
        try:
            answer = subprocess.run(
                filled,
                cwd=self._cwd,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PREPARE_TIMEOUT_S,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as error:
            raise WorkloadError(
                f"workload.{key} did not end within {PREPARE_TIMEOUT_S:g} s: {' '.join(filled)}."
            ) from error
        if answer.returncode:
            said = (answer.stderr or answer.stdout).strip()[-500:]
            raise WorkloadError(
                f"workload.{key} failed with exit code {answer.returncode}: {' '.join(filled)}\n{said}"
            )


def extract(extraction: ResponseExtraction, measurement: Measurement) -> float | None:
    """A response from what a program printed, or None if it is not there or no finite number."""
    text = measurement.stdout if extraction.stream == "stdout" else measurement.stderr
    found = (
        _by_regex(extraction.regex, text) if extraction.regex else _by_path(str(extraction.json_path), text)
    )
    try:
        value = math.nan if found is None or isinstance(found, bool) else float(found)
    except (TypeError, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _by_regex(pattern: str, text: str) -> Any:
    matches = list(re.finditer(pattern, text, re.MULTILINE))
    if not matches:
        return None
    last = matches[-1]
    return last.group(1) if last.groups() else last.group(0)


def _by_path(path: str, text: str) -> Any:
    import jmespath

    try:
        return jmespath.search(path, json.loads(text))
    except (ValueError, RecursionError):
        return None


def _version(program: str) -> str | None:
    """What an installed program says of itself. One given by its path is not asked: it may not know --version
    and start its work instead."""
    return None if "/" in program or placeholders(program) else program_version((program, "--version"))


def fresh_folder(folder: Path) -> Path:
    """An empty folder, whatever stood there before."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _programs_like(program: str) -> list[str]:
    import os

    folders = [Path(entry) for entry in os.get_exec_path() if Path(entry).is_dir()]
    return [path.name for folder in folders for path in folder.iterdir() if path.name[:1] == program[:1]]
