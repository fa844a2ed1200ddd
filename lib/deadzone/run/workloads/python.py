"""The python workload: a function, called once a trial by a fresh interpreter."""

import json
import pickle
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadzone.errors import SaidAs, WorkloadError
from deadzone.measurement import Command, Measurement
from deadzone.run.targets.local import LocalTarget
from deadzone.run.workloads import call
from deadzone.run.workloads.base import Outcome, Workload
from deadzone.store.table import COLUMNS, NOT_COLUMNS
from deadzone.study.levels import Level
from deadzone.study.scales import level_name
from deadzone.study.workload_specs import PythonWorkloadSpec

RESULT, SETUP = "result", "setup_s"
"""The column of a number that is returned as it is; of the time before the call: interpreter,
imports, reading the function [s]."""

GIVEN, OUTCOME = "function", "outcome"
"""Files of a trial, in the scratch folder."""


class PythonWorkload(Workload):
    """A function of the kernel that sweeps; each trial reads it anew, so that none finds what
    another one left behind."""

    def __init__(self, spec: PythonWorkloadSpec, *_: Any) -> None:
        """_: the study's folder and its levels, which others need."""
        self._spec = spec
        self._factors: frozenset[str] = frozenset()
        self.responses = (*dict.fromkeys((RESULT, *spec.returns)), SETUP)

    def uses(self, factor: str) -> bool:
        """Whether it is an argument: all are that are not put in force."""
        return True

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Check that there is a function to call."""
        if not self._spec.given:
            raise WorkloadError(
                f"workload.function: {self._spec.function} is defined in a notebook or a "
                "script, and the study holds its source, not the function; sweep it there, "
                "with dz.sweep."
            )
        return {
            "program": self._spec.function,
            "program_version": f"Python {sys.version.split()[0]}",
        }

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Write down what the interpreter is to read."""
        arguments = {
            name: self._spec.value(name, level_name(level), level)
            for name, level in levels.items()
            if name not in LocalTarget.factors
        }
        self._factors = frozenset(levels)
        (scratch / OUTCOME).unlink(missing_ok=True)
        message = pickle.dumps({"path": sys.path, "arguments": arguments})
        with SaidAs(WorkloadError, "The function cannot be handed over", names_file=True):
            (scratch / GIVEN).write_bytes(message + self._spec.given)
        argv = (sys.executable, "-P", call.__file__, str(scratch / OUTCOME))
        return Command(argv, cwd=Path.cwd(), stdin=scratch / GIVEN, has_gate=True)

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """The columns that the function returned, or what it raised."""
        try:
            document = json.loads((scratch / OUTCOME).read_text())
        except (OSError, ValueError):
            return Outcome(
                failure=f"the interpreter ended with exit code {measurement.exit_code} in the call"
            )
        setup = {SETUP: document["setup_s"]} if SETUP in document else {}
        if "error" in document:
            return Outcome(setup, document["error"], traceback=document["traceback"])
        columns: dict[str, float] = document["columns"]
        taken = {*COLUMNS, *NOT_COLUMNS, *self._factors, SETUP}
        if clash := next((name for name in columns if name in taken), None):
            return Outcome(
                setup, f"the function returned {clash!r}, which is the name of another column"
            )
        if missing := next((name for name in self._spec.returns if name not in columns), None):
            return Outcome(setup, f"the function returned no {missing!r}")
        return Outcome({**columns, **setup})
