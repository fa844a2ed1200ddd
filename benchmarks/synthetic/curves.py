"""Synthetic response curves whose phases are known, to measure how well a model finds them.

A curve is a continuous broken power law. The tiers differ in noise, replicates, spoiled trials and
roughness; the "other" tiers are drawn from other laws than the model was developed on (smooth laws
of scaling, other elasticities, heavy tails, noise that grows with the knob, short and long ranges).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadzone.errors import PhaseError, did_you_mean

ELASTICITIES: dict[str, tuple[float, float]] = {
    "linear": (0.45, 1.15),
    "dead_zone": (-0.60, 0.05),
    "breakthrough": (3.0, 11.0),
    "plateau": (-0.03, 0.05),
    "reversal": (-1.20, -0.35),
}
"""Elasticities drawn for each label, uniformly."""

OTHER_ELASTICITIES: dict[str, tuple[float, float]] = {
    "linear": (0.35, 1.40),
    "dead_zone": (-1.00, 0.12),
    "breakthrough": (2.4, 16.0),
    "plateau": (-0.06, 0.10),
    "reversal": (-2.00, -0.30),
}
"""A wider choice, to see how a model fares outside the ranges it was developed on."""

FOLLOWING: dict[str, tuple[str, ...]] = {
    "linear": ("dead_zone", "breakthrough", "plateau", "reversal"),
    "dead_zone": ("linear", "breakthrough"),
    "breakthrough": ("linear", "dead_zone", "plateau", "reversal"),
}
LAST = ("plateau", "reversal")
MOST_PHASES = 6
APART = 0.40
"""Neighbouring phases differ in elasticity by at least this much."""


@dataclass(frozen=True)
class Tier:
    """How the curves of one tier are drawn.

    noise: standard deviation of ln(response) of a trial. outliers: share of spoiled trials. rough:
    bent linear pieces, a noise of its own and a shared effect for each level. elasticities: ranges
    drawn from. levels: "mixed", "short", "long" or "far". tails: "gauss", "heavy" (Student's t with
    3 degrees of freedom) or "skewed" (delays only). growing: noise at the last level relative to
    the first. law: "pieces" or "smooth" (a scaling law without any joint).
    """

    noise: float
    replicates: int
    outliers: float
    rough: bool = False
    elasticities: str = "usual"
    levels: str = "mixed"
    tails: str = "gauss"
    growing: float = 1.0
    law: str = "pieces"


TIERS: dict[str, Tier] = {
    "quiet": Tier(0.005, 5, 0.00),
    "typical": Tier(0.02, 5, 0.02),
    "noisy": Tier(0.05, 10, 0.05),
    "single": Tier(0.01, 1, 0.00),
    "single_rough": Tier(0.03, 1, 0.05),
    "real": Tier(0.02, 5, 0.02, rough=True),
    "real_noisy": Tier(0.05, 5, 0.02, rough=True),
    "real_single": Tier(0.02, 1, 0.02, rough=True),
}

OTHER_TIERS: dict[str, Tier] = {
    "other_slopes": Tier(0.02, 5, 0.02, elasticities="other"),
    "other_slopes_single": Tier(0.02, 1, 0.02, elasticities="other", rough=True),
    "other_heavy": Tier(0.02, 5, 0.00, tails="heavy"),
    "other_heavy_single": Tier(0.015, 1, 0.00, tails="heavy"),
    "other_skewed": Tier(0.03, 3, 0.02, tails="skewed"),
    "other_growing": Tier(0.01, 5, 0.02, growing=6.0),
    "other_short": Tier(0.02, 3, 0.02, levels="short"),
    "other_long": Tier(0.03, 3, 0.02, levels="long", rough=True),
    "other_far": Tier(0.03, 2, 0.03, levels="far"),
    "other_smooth": Tier(0.02, 5, 0.02, levels="far", law="smooth"),
    "other_smooth_single": Tier(0.02, 1, 0.02, law="smooth"),
}


@dataclass(frozen=True)
class Curve:
    """One synthetic sweep and its truth.

    levels: shape (n,), increasing. x, y: shape (trials,), in run order. log_truth: shape (n,), ln
    of the true response as a time: of a rate to maximise (goal "max"), that of its reciprocal.
    step_labels: n - 1 labels, none where no phases were planted. spoiled: shape (trials,), True
    where a trial was spoiled on purpose. block: shape (trials,). log_own: shape (n,), what a level
    is worth beyond the law of its phase, and keeps however often it is measured.
    """

    name: str
    levels: np.ndarray
    x: np.ndarray
    y: np.ndarray
    log_truth: np.ndarray
    step_labels: tuple[str, ...]
    spoiled: np.ndarray
    goal: str = "min"
    block: np.ndarray | None = None
    log_own: np.ndarray | None = None

    @property
    def log_settings(self) -> np.ndarray:
        """ln of what each setting really gives: the law of the phases and the level's own effect;
        shape (n,)."""
        return self.log_truth if self.log_own is None else self.log_truth + self.log_own

    @property
    def step_elasticities(self) -> np.ndarray:
        """True elasticity of each step, dimensionless; shape (n - 1,)."""
        return -np.diff(self.log_truth) / np.diff(np.log(self.levels))

    @property
    def knots(self) -> list[int]:
        """Positions of the levels at which the label changes."""
        return [
            i
            for i in range(1, len(self.step_labels))
            if self.step_labels[i] != self.step_labels[i - 1]
        ]


def draw_tier(name: str, count: int, seed: int) -> list[Curve]:
    """`count` curves of one tier; the same seed always gives the same curves."""
    known = TIERS | OTHER_TIERS
    if name not in known:
        raise PhaseError(f"There is no tier {name!r}.{did_you_mean(name, known)}")
    rng = np.random.default_rng([seed, *name.encode()])
    return [draw_curve(rng, known[name], f"{name}-{i:03d}") for i in range(count)]


def draw_curve(rng: np.random.Generator, tier: Tier, name: str) -> Curve:
    """One curve of a tier: levels, true response, then trials with noise and accidents."""
    levels = LEVELS[tier.levels](rng)
    draw = _draw_smooth if tier.law == "smooth" else draw_pieces
    log_truth, labels = draw(rng, np.log(levels), tier)
    x = np.tile(levels, tier.replicates)
    log_y = np.tile(log_truth, tier.replicates) + _noise(rng, len(levels), tier)
    spoiled = rng.random(x.size) < tier.outliers
    size = rng.uniform(1.5, 4.0, x.size)
    log_y += np.where(spoiled, np.where(rng.random(x.size) < 0.75, 1, -1) * np.log(size), 0.0)
    order = rng.permutation(x.size)
    return Curve(name, levels, x[order], np.exp(log_y[order]), log_truth, labels, spoiled[order])


def _mixed(rng: np.random.Generator) -> np.ndarray:
    kind = rng.integers(3)
    if kind == 0:
        return np.arange(1.0, rng.integers(12, 25))
    if kind == 1:
        return np.arange(1.0, rng.integers(12, 33)) * 0.25
    return np.unique(np.round(np.geomspace(1, rng.choice([64, 128, 256]), rng.integers(10, 20))))


def _short(rng: np.random.Generator) -> np.ndarray:
    return 2.0 ** np.arange(rng.integers(6, 10))


def _long(rng: np.random.Generator) -> np.ndarray:
    return np.arange(1.0, rng.integers(34, 64)) * 0.5


def _far(rng: np.random.Generator) -> np.ndarray:
    return 64.0 * np.cumprod(np.append(1.0, rng.uniform(1.1, 1.5, rng.integers(10, 22))))


LEVELS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "mixed": _mixed,
    "short": _short,
    "long": _long,
    "far": _far,
}


def _draw_phases(rng: np.random.Generator, steps: int) -> list[tuple[str, int]]:
    """A sequence of (label, number of steps) that fills `steps`; two steps at least, a breakthrough
    one."""
    while True:
        labels = [str(rng.choice(["linear", "linear", "dead_zone"]))]
        while labels[-1] not in LAST and len(labels) < MOST_PHASES:
            labels.append(str(rng.choice(FOLLOWING[labels[-1]])))
        if labels[-1] not in LAST and (labels[-1] != "linear" or rng.random() < 0.7):
            continue
        lengths = [1 if label == "breakthrough" else 2 for label in labels]
        if sum(lengths) > steps:
            continue
        for _ in range(steps - sum(lengths)):
            growing = [
                i for i, label in enumerate(labels) if label != "breakthrough" or lengths[i] < 2
            ]
            lengths[int(rng.choice(growing))] += 1
        return list(zip(labels, lengths, strict=True))


def draw_pieces(
    rng: np.random.Generator, x: np.ndarray, tier: Tier
) -> tuple[np.ndarray, tuple[str, ...]]:
    """A chain of pieces; with `rough`, the elasticity of a linear piece falls by up to half along
    it."""
    ranges = ELASTICITIES if tier.elasticities == "usual" else OTHER_ELASTICITIES
    log_y, previous = [np.log(rng.uniform(0.5, 200.0))], np.inf
    labels: list[str] = []
    for label, count in _draw_phases(rng, len(x) - 1):
        e = rng.uniform(*ranges[label])
        while abs(e - previous) < APART:
            e = rng.uniform(*ranges[label])
        previous = e
        bend = rng.uniform(0.0, 0.5) if tier.rough and label == "linear" else 0.0
        for j in range(count):
            i = len(labels)
            log_y.append(log_y[-1] - e * (1 - bend * j / max(count, 4)) * (x[i + 1] - x[i]))
            labels.append(label)
    return np.array(log_y), tuple(labels)


def _draw_smooth(
    rng: np.random.Generator, x: np.ndarray, tier: Tier
) -> tuple[np.ndarray, tuple[str, ...]]:
    """A smooth law of scaling (Gunther 2007): work that divides, work that does not, and crosstalk.

    Its labels follow from its own elasticity at the thresholds: paying above 0.25, harmful below
    -0.2, flat between.
    """
    cores = np.exp(x - x[0])
    serial, crosstalk = 10 ** rng.uniform(-2.0, -0.5), 0.0
    if rng.random() < 0.5:
        crosstalk = (1 - serial) / cores[-1] ** rng.uniform(0.8, 1.6) / rng.uniform(1.0, 3.0)
    log_y = np.log(rng.uniform(0.5, 200)) + np.log(
        (1 - serial) / cores + serial + crosstalk * (cores - 1)
    )
    e = -np.diff(log_y) / np.diff(x)
    labels = np.where(e > 0.25, "linear", np.where(e < -0.2, "reversal", "plateau"))
    return log_y, tuple(labels.tolist())


def _noise(rng: np.random.Generator, n: int, tier: Tier) -> np.ndarray:
    """Deviations of all trials in ln(response), replicate after replicate; shape (n *
    replicates,)."""
    size = n * tier.replicates
    sigma = np.full(n, tier.noise) * np.linspace(1.0, tier.growing, n)
    shared = np.zeros(n)
    if tier.rough:
        sigma = sigma * np.exp(0.5 * rng.standard_normal(n))
        shared = rng.standard_normal(n)
        for i in range(1, n):
            shared[i] = 0.5 * shared[i - 1] + np.sqrt(0.75) * shared[i]
        shared *= 0.5 * tier.noise
    if tier.tails == "heavy":
        deviation = rng.standard_t(3, size)
    elif tier.tails == "skewed":
        deviation = rng.exponential(1.0, size) - np.log(2.0)
    else:
        deviation = rng.standard_normal(size)
    return np.tile(shared, tier.replicates) + np.tile(sigma, tier.replicates) * deviation
