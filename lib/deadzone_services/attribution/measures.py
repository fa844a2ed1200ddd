"""One part of the response in the slow and in the fast environment: how much, how different, and
what the tests say.

How much is the mean of the middle half of the trials, with what each part of the response
contributes to it. Trials are ordered by their response and a quarter is left out at either end (the
midmean; Tukey 1977, Exploratory Data Analysis): a stalled trial does not decide, and since every
part is averaged over the same trials, the parts of a difference still add up to it exactly, as
those of medians would not.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from deadzone.analysis.compare.ratio import interval
from deadzone_services.attribution import parts
from deadzone_services.attribution.equivalence import EquivalenceTest, Margin, examine

DRAWS = 2_000
SEED = 1977
"""Of the bootstrap; fixed, so that the same trials always give the same interval."""


def midmean(values: np.ndarray, response: np.ndarray) -> np.ndarray:
    """Means over the middle half of the trials by their response.

    values: shape (trials, parts). response: shape (trials,). Returns shape (parts,).
    """
    return np.asarray(_middle(values[None], response[None])[0])


def drawn(values: np.ndarray, response: np.ndarray, stream: int) -> np.ndarray:
    """Midmeans of bootstrap resamples, shape (DRAWS, parts); nan where there is a single trial.

    values, response: as above. stream: number of the random stream, one for each independent
    sample.
    """
    n = len(response)
    if n < 2:
        return np.full((DRAWS, values.shape[1]), np.nan)
    rng = np.random.default_rng(np.random.SeedSequence(SEED).spawn(stream + 1)[stream])
    chosen = rng.integers(0, n, (DRAWS, n))
    return _middle(values[chosen], response[chosen])


def _middle(values: np.ndarray, response: np.ndarray) -> np.ndarray:
    """values: shape (draws, trials, parts); response: shape (draws, trials)."""
    n = response.shape[1]
    left_out = n // 4
    order = np.argsort(response, axis=1, kind="stable")[:, left_out : n - left_out]
    return np.asarray(np.take_along_axis(values, order[:, :, None], axis=1).mean(axis=1))


@dataclass(frozen=True, eq=False)
class EnvironmentSample:
    """The trials of one environment.

    seconds: shape (trials, parts), nan where not measured; names: of the parts, in the order of the
    columns.
    """

    seconds: np.ndarray
    names: tuple[str, ...]
    _draws: dict[int, np.ndarray] = field(default_factory=dict, repr=False)

    def part(self, name: str) -> np.ndarray:
        """One part of every trial [s], shape (trials,)."""
        return np.asarray(self.seconds[:, self.names.index(name)])

    @property
    def response(self) -> np.ndarray:
        """The response of every trial [s], shape (trials,)."""
        return self.part(parts.TOTAL)

    def draws(self, stream: int) -> np.ndarray:
        """Bootstrap means of every part, shape (DRAWS, parts). stream: number of the random
        stream."""
        if stream not in self._draws:
            self._draws[stream] = drawn(self.seconds, self.response, stream)
        return self._draws[stream]

    def __len__(self) -> int:
        return len(self.seconds)


@dataclass(frozen=True)
class Measure:
    """One part, side by side.

    slow, fast: means over the middle half of the trials [s]. difference: slow less fast [s], with
    its bootstrap interval low to high (nan with a single trial). p: of the tests, before any
    correction. All nan where not measured.
    """

    part: str
    slow: float
    fast: float
    difference: float
    low: float
    high: float
    p: EquivalenceTest

    @property
    def is_known(self) -> bool:
        """Whether it was measured in both environments."""
        return math.isfinite(self.difference)


def measure(
    name: str, slow: EnvironmentSample, fast: EnvironmentSample, margin: Margin, confidence: float
) -> Measure:
    """Set one part of two environments side by side."""
    means, draws = [], []
    for stream, sample in enumerate((slow, fast)):
        values, response = sample.part(name), sample.response
        kept = np.isfinite(values)
        if not kept.any():
            nan = math.nan
            return Measure(name, nan, nan, nan, nan, nan, EquivalenceTest(nan, nan, nan))
        means.append(float(midmean(values[kept, None], response[kept])[0]))
        whole = sample.draws(stream)[:, sample.names.index(name)]
        draws.append(
            whole if kept.all() else drawn(values[kept, None], response[kept], stream)[:, 0]
        )
    low, high = interval(draws[0] - draws[1], confidence)
    tested = examine(slow.part(name), slow.response, fast.part(name), fast.response, margin)
    return Measure(name, means[0], means[1], means[0] - means[1], low, high, tested)
