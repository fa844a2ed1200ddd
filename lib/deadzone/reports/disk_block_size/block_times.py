"""The study `disk-io`: five runs of dd, and what two block sizes allow to say."""

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

MEGA = 1e6


@dataclass(frozen=True)
class TwoPoints:
    """What a direction's two block sizes give.

    small, large: block sizes [bytes]. slow, fast: their throughput [bytes/s]. elasticity: of the throughput over
    the block size, between them. call_s, bandwidth: the fixed time of a call [s] and the rate of the bytes
    [bytes/s] that give both points exactly if a call takes call_s + size / bandwidth: an assumption that two
    points cannot test.
    """

    small: float
    large: float
    slow: float
    fast: float

    @property
    def elasticity(self) -> float:
        """ln(throughput) over ln(block size) between the two points, dimensionless."""
        return float(np.log(self.fast / self.slow) / np.log(self.large / self.small))

    @property
    def bandwidth(self) -> float:
        """Rate of the bytes under the assumption of a fixed time a call [bytes/s]."""
        return (self.large - self.small) / (self.large / self.fast - self.small / self.slow)

    @property
    def call_s(self) -> float:
        """Fixed time of a call under the same assumption [s]."""
        return self.small / self.slow - self.small / self.bandwidth

    @property
    def half(self) -> float:
        """Block size that would reach half the bandwidth under the same assumption [bytes]."""
        return self.call_s * self.bandwidth

    def named(self, name: str) -> dict[str, float]:
        """All of it by name, each beginning with the direction's."""
        more = {one: getattr(self, one) for one in ("elasticity", "bandwidth", "call_s", "half")}
        return {f"{name}_{one}": value for one, value in {**asdict(self), **more}.items()}


def two_points(rows: pd.DataFrame, operation: str) -> TwoPoints:
    """The two block sizes of "write" or "read", in the folder where both were tried."""
    there = rows[(rows["operation"] == operation) & (rows["location"] == "tmp")].sort_values("block_size")
    return TwoPoints(*(float(there[name].iloc[i]) for name in ("block_size", "throughput") for i in (0, -1)))
