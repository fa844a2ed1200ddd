"""The command workload: any program, with its factors in the arguments or the environment."""

import json
import math
import re
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from deadzone.errors import DeadzoneError, FormatError, WorkloadError
from deadzone.measurement import Command, Measurement
from deadzone.run.workloads.base import (
    Outcome,
    Place,
    Workload,
    program_files,
    run_unmeasured,
)
from deadzone.run.workloads.left import listed
from deadzone.store.imports.registry import RESPONSES, printed_by, reader_of
from deadzone.store.programs import program_version
from deadzone.study.levels import Level, check_once, check_placeholders, fill, placed, placeholders
from deadzone.study.service_specs import PYTHON
from deadzone.study.workload_spec import BodyResponseSpec
from deadzone.study.workload_specs import CommandWorkloadSpec

SCRATCH = "scratch"
"""Placeholder for the folder in which a trial may write; it is emptied before each trial."""


UNIT_BEHIND = re.compile(r"[ \t]*([^\W\d_%][\w/]{0,11}|%)")
"""A word behind a number, as a unit stands: letters, or letters per something, on the same line."""

LONGER = re.compile(r"\d{1,3}(?:[,']\d{3})+(?:\.\d+)?(?!\d)|\d+(?:[.,]\d+)?[eE][-+]?\d+|\d+[.,]\d+")
"""A number with marks in it, of which an expression may read a part."""

IN_PARENTHESES = "put its number in parentheses"

INPUTS = "inputs"
"""Placeholder for the folder that the setup fills; it is kept for the whole sweep, then removed."""


class CommandWorkload(Workload):
    """An argument vector with {factor} placeholders, and responses read from what it prints."""

    def __init__(
        self,
        spec: CommandWorkloadSpec,
        folder: Path,
        treatments: Sequence[Mapping[str, Level]] = (),
    ) -> None:
        """folder: where the study file lies; relative working folders start there. treatments: the
        levels of each that it will be asked for."""
        self._spec = spec
        self._treatments = treatments
        self.responses = (*spec.responses, *(RESPONSES if spec.output else ()))
        self._cwd: Path | None = (folder / (spec.cwd or "")).resolve()
        self._place = Place()
        self._set_up_at: str | None = None
        self._inputs: Path | None = None
        self._prepared = ""

    def move_to(self, place: Place) -> bool:
        """Run at another place, where only an absolute working folder means anything."""
        self._place = place
        own = self._spec.cwd or ""
        if not place.is_here:
            self._cwd = Path(own) if own.startswith("/") else None
        return True

    def uses(self, factor: str) -> bool:
        """Whether the factor stands in the arguments, the environment or the preparation."""
        return factor in placed(self._templates())

    def check(self, factors: Sequence[str]) -> None:
        """Raise StudyError for a placeholder that is neither a factor nor a folder."""
        check_placeholders(self._templates(), (*factors, INPUTS, SCRATCH, PYTHON))
        check_once("workload.setup", self._spec.setup or (), factors, (INPUTS, PYTHON))
        check_once("workload.cleanup", self._spec.cleanup or (), factors, (INPUTS, PYTHON))
        if self._spec.output:
            reader_of(self._spec.output)

    @property
    def _python(self) -> dict[str, str]:
        """The interpreter that runs Deadzone, with the packages beside it; elsewhere the one that
        is there."""
        return {PYTHON: sys.executable if self._place.is_here else "python3"}

    def _templates(self) -> tuple[str, ...]:
        """Whatever is filled in for each trial."""
        return (*self._spec.argv, *self._spec.env.values(), *(self._spec.prepare or ()))

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Check that the program exists, and run the setup."""
        program = self._spec.argv[0]
        if self._place.is_here:
            if self._cwd and not self._cwd.is_dir():
                raise WorkloadError(f"workload.cwd: {self._cwd} is no folder.")
            may_be_built = "/" in program and (self._spec.setup or self._spec.prepare)
            if not (placeholders(program) or may_be_built):
                self._require("argv", program)
        self._inputs = scratch / INPUTS
        if self._place.identity:
            self._set_up(scratch)
        # One given by its path is not asked: it may not know --version and start its work instead.
        is_asked = self._place.is_here and "/" not in program and not placeholders(program)
        version = program_version((program, "--version")) if is_asked else None
        return {"program": Path(program).name, "program_version": version}

    def _set_up(self, scratch: Path) -> None:
        """Run the setup, once at each place: a new pod has none of the files of the one before."""
        if self._spec.setup and self._set_up_at != self._place.identity:
            folder = self._place.fresh_folder(scratch / INPUTS)
            self._run_unmeasured("setup", self._spec.setup, {INPUTS: str(folder), **self._python})
        self._set_up_at = self._place.identity

    def identity(self) -> dict[str, str]:
        """Its programs and scripts that are here, but for those that the preparation of a trial may
        make."""
        spec = self._spec
        made = placed(spec.prepare or ()) & {*chain.from_iterable(self._treatments)}
        if made or not self._place.is_here:
            return {}
        values = [{**levels, **self._python} for levels in self._treatments]
        return program_files((spec.argv, spec.setup, spec.prepare), self._cwd, values)

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Empty the scratch folder, run the preparation, and fill in the factors."""
        self._set_up(scratch)
        work = self._place.fresh_folder(scratch / SCRATCH)
        values = {**levels, SCRATCH: str(work), INPUTS: str(scratch / INPUTS), **self._python}
        if self._spec.prepare:
            self._run_unmeasured("prepare", self._spec.prepare, values)
            if self._place.is_here and placed(self._spec.prepare) & {*levels}:
                self._prepared = listed(self._place.left.processes())
        return Command(
            argv=tuple(fill(argument, values) for argument in self._spec.argv),
            env={name: fill(value, values) for name, value in self._spec.env.items()},
            cwd=self._cwd,
        )

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """Read the named responses; a missing one, or an exit code that is not expected, is a
        failure."""
        return replace(self._read(measurement), prepared=self._prepared)

    def _read(self, measurement: Measurement) -> Outcome:
        expected = self._spec.expected_exit_codes
        if expected != "any" and measurement.exit_code not in expected:
            return Outcome(failure=f"exit code {measurement.exit_code}")
        responses: dict[str, float] = {}
        if self._spec.output:
            try:
                responses |= printed_by(self._spec.output, _printed(measurement, "both"))
            except FormatError as error:
                return Outcome(failure=str(error).rstrip("."), unread=True)
        units: dict[str, str] = {}
        for name, extraction in self._spec.responses.items():
            text = _printed(measurement, extraction.stream)
            value, why = find_number(extraction, text), ""
            match = _last_match(extraction.regex, text) if extraction.regex else None
            if match and (matched := match[_group_of(match)]):
                units[name] = _unit_behind(match)
                if longer := _cut_from(match):
                    value = None
                    why = (
                        f", for {matched!r} is part of {longer!r}: let it print whole numbers "
                        "without marks (`LC_ALL=C`), or match what stands beside the number too"
                    )
                elif value is None:
                    is_marked = LONGER.fullmatch(matched) and re.search("[,']", matched)
                    way = "print it without marks (`LC_ALL=C`)" if is_marked else IN_PARENTHESES
                    why = f", for {matched[:60]!r} is none: {way}"
            if value is None:
                failure = f"the program printed no number for the response {name}{why}"
                return Outcome(responses, failure, unread=True)
            responses[name] = value
        return Outcome(responses, units=units)

    def finish(self) -> str:
        """Run the cleanup, if the sweep was set up, and end what the preparations left running. A
        failure, and what was ended, is said; all else it made lies in the scratch folder."""
        said = []
        if self._spec.cleanup and self._inputs:
            values = {INPUTS: str(self._inputs), **self._python}
            try:
                argv = tuple(fill(part, values) for part in self._spec.cleanup)
                run_unmeasured(self._place, "workload.cleanup", argv, self._cwd)
            except DeadzoneError as error:
                said.append(str(error))
        said.append(self._place.left.end() if self._place.is_here else "")
        return " ".join(filter(None, said))

    def _require(self, key: str, program: str) -> None:
        """Raise WorkloadError unless the program can be started from the working folder. key:
        that names it."""
        if not self._place.has_program(program, self._cwd):
            where = "here" if self._place.is_here else "in the container"
            raise WorkloadError(
                f"workload.{key}: the program {program!r} is not installed {where}, or may not be "
                f"run. Install it, or write its path in `workload.{key}`."
            )

    def _run_unmeasured(self, key: str, argv: tuple[str, ...], values: Mapping[str, Level]) -> None:
        filled = tuple(fill(argument, values) for argument in argv)
        self._require(key, filled[0])
        run_unmeasured(self._place, f"workload.{key}", filled, self._cwd)


def _printed(measurement: Measurement, stream: str) -> str:
    printed = {"stdout": measurement.stdout, "stderr": measurement.stderr}
    return printed[stream] if stream in printed else "\n".join(filter(None, printed.values()))


def _group_of(match: re.Match[str]) -> int:
    """The group that holds what is read: the first, or all where the expression has none."""
    return 1 if match.groups() else 0


def _unit_behind(match: re.Match[str]) -> str:
    """The word that stood behind the number read by a regular expression, such as ms; without one,
    empty."""
    behind = UNIT_BEHIND.match(match.string, match.end(_group_of(match)))
    return behind[1] if behind else ""


def _cut_from(match: re.Match[str]) -> str:
    """The longer number that an expression reads a part of, 1,902.3 where it reads 902.3; empty
    where it reads a whole one, or names what stands beside it."""
    start, stop = match.span(_group_of(match))
    near = LONGER.finditer(match.string, max(start - 32, 0), stop + 32)
    longer = next((one for one in near if one.start() <= start and stop <= one.end()), None)
    if longer and (longer.start() < start == match.start() or longer.end() > stop == match.end()):
        return longer[0]
    return ""


def find_number(extraction: BodyResponseSpec, text: str) -> float | None:
    """A number in a text, by the one that is given: the last match of a regular expression, or a
    path into JSON.

    None if it is not there, or no finite number.
    """
    regex = extraction.regex
    answer = found_by(regex, text) if regex else found_at(str(extraction.json_path), text)
    try:
        value = math.nan if answer is None or isinstance(answer, bool) else float(answer)
    except (TypeError, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def found_by(pattern: str, text: str) -> Any:
    """The first group of the last match of an expression, or all of it where it has none; None
    without a match."""
    last = _last_match(pattern, text)
    return last and last[_group_of(last)]


def _last_match(pattern: str, text: str) -> re.Match[str] | None:
    return next(iter(deque(re.finditer(pattern, text, re.MULTILINE), maxlen=1)), None)


def found_at(path: str, text: str) -> Any:
    """What stands at a path into JSON; None where nothing does, or the text is no JSON."""
    import jmespath

    try:
        return jmespath.search(path, json.loads(text))
    except (ValueError, RecursionError):
        return None
