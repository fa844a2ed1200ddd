from collections.abc import Callable

import pytest

from deadzone.measurement import Interference, Measurement
from deadzone.run.sweep import running
from deadzone.run.sweep.measuring import Measuring
from deadzone.run.workloads.base import Outcome
from deadzone.study.design import Treatment


@pytest.fixture
def emulate(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have trials measured without a program. measure: of a treatment, how long it takes [s] and
    what disturbs it."""

    def emulate(measure: Callable[[Treatment], tuple[float, Interference]]) -> None:
        class Emulated(Measuring):
            def measure(self, treatment: Treatment) -> tuple[Measurement, Outcome]:
                wall_s, seen = measure(treatment)
                started = "2026-01-01T00:00:00.000+00:00"
                return Measurement(started, wall_s, 0, "ok", interference=seen), Outcome()

            def prepare(self) -> dict[str, object]:
                self.target.others_between_trials = lambda seconds: None
                return super().prepare()

        monkeypatch.setattr(running, "measuring_of", lambda plan, run, around: Emulated(plan))

    return emulate
