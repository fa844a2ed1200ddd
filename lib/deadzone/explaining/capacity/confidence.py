"""How sure it is that a cell meets its objectives: a bootstrap over its trials and over their histograms.

Trials of a cell are drawn with replacement, and the histogram of each is drawn again (Davison and Hinkley 1997,
Bootstrap Methods and their Application, section 3.8, for such nested data). All objectives are judged on the same
draws, so what belongs together stays together. Two corrections make a few trials honest:

- The width of the draws is that of a moderated variance: each cell's own variance between trials, drawn towards that
  of all cells as far as the cells agree (Smyth 2004, Linear models and empirical Bayes methods for assessing
  differential expression, Statistical Applications in Genetics and Molecular Biology 3), never below what the
  histograms alone scatter.
- The draws are divided by a chi variate of the variance's degrees of freedom, as Student's t has it.

A bound on the largest value is about the next trial: no bootstrap knows a largest value (Bickel and Freedman 1981,
Some asymptotic theory for the bootstrap, Annals of Statistics 9). It is missed as soon as one trial has missed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deadzone.explaining.capacity.cells import Cell, Cells, coarse, statistics
from deadzone.explaining.capacity.objectives import Objective
from deadzone.explaining.phases.level_estimates import inverse_trigamma

DRAWS = 1_000
"""Resamples a cell: a confidence near 0.95 is then known to 0.7 percent."""

DRAWS_ALONE = 250
"""Resamples of one trial's histogram alone: its scatter is then known to 5 percent."""

SEED = 1997
"""Fixed, so that the same trials always give the same confidence."""

SMALLEST_SCATTER = 1e-4
"""Trials never agree better than this in ln(value)."""

LEAST_WITHIN = 1e-3
"""What the histograms scatter where there are none to draw from: a tenth of a percent."""

JEFFREYS = 0.5
"""Added to errors and to requests without one, as the prior of that name has it: no error seen is not no error."""


@dataclass(frozen=True)
class Scatter:
    """How much a statistic scatters between trials, over all cells.

    variance: of ln(value) of one trial; nan where no cell has two trials. freedom: how many degrees of freedom the
    common variance is worth when joined to a cell's own, 0 where nothing is known, infinite where all cells agree.
    """

    variance: float
    freedom: float


@dataclass(frozen=True, eq=False)
class Judged:
    """A cell's chances. met: by the column of each objective, shape (DRAWS,), whether the draw meets it.

    scatter_known: False where the confidence rests on one trial and no other cell says how much trials differ.
    """

    met: Mapping[str, np.ndarray]
    scatter_known: bool

    @property
    def all_met(self) -> np.ndarray:
        """Whether a draw meets every objective, shape (DRAWS,)."""
        return np.logical_and.reduce(list(self.met.values()))

    @property
    def confidence(self) -> float:
        """Probability that every objective is met."""
        return float(self.all_met.mean())

    def confidence_in(self, column: str) -> float:
        """Probability that one objective is met."""
        return float(self.met[column].mean())


def judge_cells(cells: Cells, objectives: Sequence[Objective]) -> dict[tuple[float, float], Judged]:
    """The chances of every cell, by (pool, rate); cells without a trial that says something are left out."""
    scatter = {one.column: scatter_of(cells, one) for one in objectives}
    known = {place: cell for place, cell in cells.by_place.items() if cell.trials or cell.failed}
    seeds = np.random.SeedSequence(SEED).spawn(len(known))
    return {
        place: judge(cell, objectives, scatter, np.random.default_rng(seed))
        for (place, cell), seed in zip(sorted(known.items()), seeds, strict=True)
    }


def judge(
    cell: Cell, objectives: Sequence[Objective], scatter: Mapping[str, Scatter], rng: np.random.Generator
) -> Judged:
    """The chances of one cell; a trial that the server failed misses everything."""
    if cell.failed:
        return Judged({one.column: np.zeros(DRAWS, bool) for one in objectives}, True)
    n = len(cell.trials)
    weights = rng.multinomial(n, np.full(n, 1 / n), DRAWS).astype(float)
    metrics = dict.fromkeys(one.metric for one in objectives if one.metric and not one.is_extreme)
    drawn = {name: found for name in metrics if (found := _drawn(cell, name, weights, rng))}
    met = {}
    for one in objectives:
        if one.column == "error_share":
            met[one.column] = _errors_met(cell, one, weights, rng)
        elif one.is_extreme:
            met[one.column] = _extreme_met(cell, one, scatter[one.column], rng)
        else:
            met[one.column] = one.met(
                _draws(cell, one, scatter[one.column], weights, drawn.get(one.metric or ""), rng)
            )
    return Judged(met, n > 1 or all(scatter[one.column].freedom > 0 for one in objectives))


def scatter_of(cells: Cells, objective: Objective) -> Scatter:
    """The variance that all cells have in common, by Smyth's moments; see the module."""
    found = [
        (max(float(np.var(values, ddof=1)), SMALLEST_SCATTER**2), len(values) - 1)
        for cell in cells.by_place.values()
        if len(values := _logs(cell.values(objective.column))) > 1
    ]
    if not found:
        return Scatter(float("nan"), 0.0)
    return _moments(*np.array(found, dtype=float).T)


def _moments(variances: np.ndarray, freedom: np.ndarray) -> Scatter:
    from scipy.special import digamma, polygamma

    logs = np.log(variances) - digamma(freedom / 2) + np.log(freedom / 2)
    centre = float(logs.mean())
    own = float(np.mean(polygamma(1, freedom / 2)))
    extra = float(np.var(logs, ddof=1)) - own if len(logs) > 1 else 0.0
    if len(logs) == 1:
        return Scatter(float(variances[0]), float(freedom[0]))
    if extra <= 0:
        return Scatter(float(np.average(variances, weights=freedom)), float("inf"))
    prior = 2 * inverse_trigamma(extra)
    return Scatter(float(np.exp(centre + digamma(prior / 2) - np.log(prior / 2))), prior)


def _logs(values: np.ndarray) -> np.ndarray:
    values = values[np.isfinite(values)]
    smallest = values[values > 0].min() if (values > 0).any() else 1.0
    return np.log(np.maximum(values, smallest))


def _draws(
    cell: Cell,
    objective: Objective,
    scatter: Scatter,
    weights: np.ndarray,
    drawn_counts: Drawn | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """The statistic over all trials of the cell, drawn again, shape (DRAWS,)."""
    whole, drawn, within = _resampled(cell, objective, weights, drawn_counts)
    if not np.isfinite(whole):
        return np.full(DRAWS, np.nan)
    n = len(cell.trials)
    logs = _logs(cell.values(objective.column))
    own = float(np.var(logs, ddof=1)) if n > 1 else 0.0
    variance, freedom = _moderated(own, n - 1, scatter)
    variance = max(variance, within**2, SMALLEST_SCATTER**2)
    spread = float(drawn.std())
    shape = (drawn - drawn.mean()) / spread if spread > 0 else rng.standard_normal(DRAWS)
    tail = np.sqrt(freedom / rng.chisquare(freedom, DRAWS)) if np.isfinite(freedom) and freedom > 0 else 1.0
    return whole * np.exp(np.sqrt(variance / n) * shape * tail)


def _moderated(own: float, freedom: int, scatter: Scatter) -> tuple[float, float]:
    """A cell's variance joined to that of all cells, and its degrees of freedom."""
    if scatter.freedom == 0:
        return own, float(freedom)
    if np.isinf(scatter.freedom):
        return scatter.variance, float("inf")
    total = scatter.freedom + freedom
    return (scatter.freedom * scatter.variance + freedom * own) / total, total


@dataclass(frozen=True, eq=False)
class Drawn:
    """Histograms of a cell, drawn again; shared by all objectives on one metric.

    values: shape (k,), in steps; counts: shape (DRAWS, k), of all trials drawn; alone: shape (DRAWS_ALONE, k), of the
    first trial only. every, whole: values and counts of all trials as they were measured.
    """

    values: np.ndarray
    counts: np.ndarray
    alone: np.ndarray
    every: np.ndarray
    whole: np.ndarray


def _drawn(cell: Cell, metric: str, weights: np.ndarray, rng: np.random.Generator) -> Drawn | None:
    """The cell's histograms of a metric, drawn again; None unless every trial has one."""
    kept = [trial.histograms[metric] for trial in cell.trials if metric in trial.histograms]
    if len(kept) < len(cell.trials):
        return None
    every = np.unique(np.concatenate([one.values for one in kept]))
    table = np.zeros((len(kept), len(every)))
    for row, one in enumerate(kept):
        table[row, np.searchsorted(every, one.values)] = one.counts
    values, counts = coarse(every, table)
    drawn = rng.poisson(weights @ counts).astype(float)
    alone = rng.poisson(counts[0], (DRAWS_ALONE, len(values))).astype(float)
    return Drawn(values, drawn, alone, every, table.sum(axis=0))


def _resampled(
    cell: Cell, objective: Objective, weights: np.ndarray, drawn: Drawn | None
) -> tuple[float, np.ndarray, float]:
    """The statistic of the cell, ln of it drawn again, shape (DRAWS,), and what one histogram alone scatters."""
    if drawn is None:
        logs = _logs(cell.values(objective.column))
        if len(logs) < len(cell.trials):
            return float("nan"), np.zeros(DRAWS), 0.0
        return float(np.exp(logs.mean())), weights @ logs / len(logs), LEAST_WITHIN
    whole = float(statistics(objective, drawn.every, drawn.whole[None, :])[0])
    again, alone = (
        np.log(statistics(objective, drawn.values, table)) for table in (drawn.counts, drawn.alone)
    )
    return whole, _filled(again), float(np.nanstd(alone))


def _filled(drawn: np.ndarray) -> np.ndarray:
    """Draws with those of empty histograms at their mean."""
    return np.where(np.isfinite(drawn), drawn, np.nanmean(drawn))


def _extreme_met(cell: Cell, objective: Objective, scatter: Scatter, rng: np.random.Generator) -> np.ndarray:
    """Whether the next trial's largest value meets the bound, shape (DRAWS,)."""
    values = cell.values(objective.column)
    if not objective.met(values).all():
        return np.zeros(DRAWS, bool)
    n = len(values)
    logs = _logs(values)
    own = float(np.var(logs, ddof=1)) if n > 1 else 0.0
    variance, freedom = _moderated(own, n - 1, scatter)
    if freedom <= 0:
        return rng.random(DRAWS) < n / (n + 1)
    tail = np.sqrt(freedom / rng.chisquare(freedom, DRAWS)) if np.isfinite(freedom) else 1.0
    spread = np.sqrt(max(variance, SMALLEST_SCATTER**2) * (1 + 1 / n))
    return objective.met(np.exp(logs.mean() + spread * rng.standard_normal(DRAWS) * tail))


def _errors_met(
    cell: Cell, objective: Objective, weights: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Whether the share of errors meets the bound, shape (DRAWS,); a bound of 0 is about the next trial."""
    errors = np.array([trial.errors for trial in cell.trials])
    requests = np.array([trial.requests for trial in cell.trials])
    if objective.bound == 0 and errors.sum() > 0:
        return np.zeros(DRAWS, bool)
    share = rng.beta(weights @ errors + JEFFREYS, weights @ requests + JEFFREYS)
    if objective.bound == 0:
        return rng.random(DRAWS) < np.exp(-share * requests.mean())
    return objective.met(share)
