"""The axis over which pieces are straight: the logarithm of a knob on a ratio scale, the level
itself on an interval one.

The thresholds between phases are elasticities, which an interval scale has not: a temperature
cannot be doubled. There the whole range measured counts as RANGE_DOUBLINGS doublings, so that the
same thresholds say how much a share of the range must gain, and a phase is stated by the
improvement a unit.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deadzone.study.scales import INTERVAL

RANGE_DOUBLINGS = 2
"""Half of an interval knob's range must gain 16 %, as a doubling of a ratio knob must, to be called
paying."""


@dataclass(frozen=True)
class KnobAxis:
    """kind: of the knob's scale. start, length: of the range measured, in the knob's unit. unit: of
    the levels where they were written with one."""

    kind: Literal["ratio", "interval"] = "ratio"
    start: float = 1.0
    length: float = 1.0
    unit: str = ""

    @property
    def is_interval(self) -> bool:
        """Whether pieces are straight over the level itself."""
        return self.kind == INTERVAL

    @property
    def _stretch(self) -> float:
        return RANGE_DOUBLINGS * float(np.log(2)) / self.length

    def forward(self, level: np.ndarray) -> np.ndarray:
        """From levels to the axis; shape as given."""
        return (level - self.start) * self._stretch if self.is_interval else np.log(level)

    def backward(self, x: np.ndarray) -> np.ndarray:
        """From the axis to levels; shape as given."""
        return x / self._stretch + self.start if self.is_interval else np.exp(x)

    def gain_a_unit(self, elasticity: float, goal: str = "min") -> float:
        """Improvement of the response for one unit of an interval knob, a share: 0.01 is 1 % better
        a unit."""
        change = float(elasticity) * self._stretch
        return float(-np.expm1(-change) if goal == "min" else np.expm1(change))
