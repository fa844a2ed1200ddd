"""The scale on which a response is compared: its logarithm, itself, or as a count.

A time or a throughput differs by a share, so its logarithm is analysed. A response that may be zero
or negative (a difference, an error of measurement) differs by an amount; numbers of events do too,
and their noise grows with them.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deadzone.language.messages import Message, _

RATIO, INTERVAL, COUNT = "ratio", "interval", "count"


@dataclass(frozen=True)
class ResponseScale:
    """A scale and its way there and back.

    kind: ratio (logarithms), interval (the response itself) or count. size: the typical size of the
    response in its own unit, which makes values of the last two dimensionless; 1 for ratio. unit:
    of the response, in words.
    """

    kind: Literal["ratio", "interval", "count"] = "ratio"
    size: float = 1.0
    unit: str = ""

    @property
    def least(self) -> float:
        """The least value that the response can have."""
        return -np.inf if self.kind == INTERVAL else 0.0

    def forward(self, response: np.ndarray) -> np.ndarray:
        """From the response to the scale, dimensionless."""
        return np.log(response) if self.kind == RATIO else response / self.size

    def backward(self, value: np.ndarray) -> np.ndarray:
        """From the scale to the response in its own unit."""
        return np.exp(value) if self.kind == RATIO else value * self.size

    def amount(self, loss: np.ndarray) -> np.ndarray:
        """What a difference on the scale is: a share of the response (ratio), else an amount in its
        unit."""
        return np.expm1(loss) if self.kind == RATIO else loss * self.size

    def amount_text(self, amount: float) -> Message:
        """An amount in words: 12 %, or 3.2 frames."""
        if self.kind == RATIO:
            return _("{share:percent}", share=amount)
        return _("{amount:number} {unit}", amount=amount, unit=self.unit)

    def tolerance_text(self, share: float) -> Message:
        """A share that was asked for, exactly, or the amount that it makes on the scale."""
        if self.kind == RATIO:
            return _("{share:exact_percent}", share=share)
        return self.loss_text(float(np.log1p(share)))

    def loss_text(self, loss: float) -> Message:
        """A difference on the scale in words."""
        return self.amount_text(float(self.amount(np.asarray(loss))))


RATIO_SCALE = ResponseScale()


def response_scale(
    response: np.ndarray, wanted: str | None = None, unit: str = ""
) -> ResponseScale:
    """The scale of a response: ratio where all values are positive, count where they are whole and
    some are zero.

    response: shape (trials,), finite. wanted: the scale that is asked for.

    Raises ValueError where the values do not fit the scale that is wanted.
    """
    whole = bool(np.all(response >= 0) and np.all(response == np.round(response)))
    usual = RATIO if np.all(response > 0) else COUNT if whole else INTERVAL
    kind = wanted or usual
    if kind == RATIO and usual != RATIO:
        raise ValueError("is on a ratio scale, which has positive values only")
    if kind == COUNT and not whole:
        raise ValueError("is a count, which is whole and not negative")
    if kind == RATIO:
        return ResponseScale()
    size = float(np.max(np.abs(response), initial=0.0)) or 1.0
    return ResponseScale(kind, size, unit)  # type: ignore[arg-type]
