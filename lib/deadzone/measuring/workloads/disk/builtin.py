"""The built-in engine, seen from the harness: its plan, and its result read back."""

import json
import platform
import sys
from typing import Any

from deadzone.measurement import Command, Measurement
from deadzone.measuring.workloads.disk import builtin_engine
from deadzone.measuring.workloads.disk.engine import Account, EngineFailure, Latency, Trial, in_words

PLAN = "plan.json"


class BuiltinEngine:
    """Python with os.preadv and os.pwritev; needs nothing installed."""

    name = "builtin"

    def version(self) -> str:
        """Deadzone's own, on this Python."""
        return f"built-in engine, Python {platform.python_version()}"

    def command(self, trial: Trial) -> Command:
        """The script with the plan of the trial."""
        plan = {**vars(trial), **trial.settings.model_dump()}
        del plan["settings"]
        path = trial.scratch / PLAN
        path.write_text(json.dumps(plan, default=str), encoding="utf-8")
        return Command((sys.executable, "-I", "-S", builtin_engine.__file__, str(path)))

    def account(self, trial: Trial, measurement: Measurement) -> Account:
        """From the one line of JSON that the script prints."""
        try:
            told: dict[str, Any] = json.loads(measurement.stdout.splitlines()[-1])
        except (ValueError, IndexError) as error:
            said = measurement.stderr.strip().splitlines()
            why = said[-1] if said else f"exit code {measurement.exit_code}"
            raise EngineFailure(f"the built-in engine ended without a result: {why}") from error
        if failure := told.get("failure"):
            raise EngineFailure(in_words(failure[0], failure[1]))
        size, step = trial.settings.block_size, float(told["series_step_s"])
        return Account(
            elapsed_s=told["elapsed_s"],
            read_bytes=told["reads"]["number"] * size,
            written_bytes=told["writes"]["number"] * size,
            calls=_latency(told["calls"]),
            flushes=_latency(told["flushes"]),
            series=[((i + 1) * step, moved / step) for i, moved in enumerate(told["series_bytes"])],
        )


def _latency(told: dict[str, Any]) -> Latency:
    if not told["number"]:
        return Latency(0)
    return Latency.of(told["number"], told["mean_ns"], told["max_ns"], told["percentiles_ns"])
