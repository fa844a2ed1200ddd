"""Load tests with a known truth: what the analysis is measured against, in tests and in the
benchmark.

Latencies are log-normal; each trial of a cell has a level of its own around the cell's. So the mean
and every percentile over all trials to come are known in closed form, and with them which cells
meet which objectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.objectives.bounds import Objective
from deadzone_load.capacity.cells import Cells, Counts, cells_of

POOLS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
RATES = (100.0, 200.0, 400.0)


@dataclass(frozen=True, eq=False)
class Truth:
    """A simulated service.

    typical_ms: median latency, one row a rate, one column a pool. within: standard deviation of
    ln(latency) in a trial, between: of the level of a trial around its cell's, one a cell.
    """

    typical_ms: pd.DataFrame
    within: float
    between: pd.DataFrame

    def value(self, objective: Objective, pool: float, rate: float) -> float:
        """The true statistic over all trials to come [ms]; of the mean and of percentiles."""
        from scipy.stats import norm

        middle = float(self.typical_ms[pool][rate])
        spread = float(np.hypot(self.within, self.between[pool][rate]))
        if objective.percentile is None:
            return middle * float(np.exp(spread**2 / 2))
        return middle * float(np.exp(spread * norm.ppf(objective.percentile / 100)))

    def meets(self, objectives: Sequence[Objective], pool: float, rate: float) -> bool:
        """Whether a cell truly meets all objectives."""
        return all(bool(one.met(np.array([self.value(one, pool, rate)]))[0]) for one in objectives)


def simulated_service(
    rng: np.random.Generator,
    scatter: float = 0.05,
    best: float | None = None,
    pools: Sequence[float] = POOLS,
    rates: Sequence[float] = RATES,
) -> Truth:
    """A service whose latency falls with the pool up to a best size and rises beyond it, and rises
    with the rate.

    scatter: typical standard deviation between trials, of ln(latency); cells differ by a factor of
    about 1.5.
    """
    best = best or float(rng.choice(pools[1:-1]))
    level, starve, hurt = (
        10 * np.exp(0.4 * rng.standard_normal()),
        rng.uniform(0.7, 1.6),
        rng.uniform(0.1, 0.6),
    )
    table = [
        [
            level * (rate / rates[0]) ** 0.4
            * (max(best / pool, 1.0) ** starve) * (max(pool / best, 1.0) ** hurt)
            for pool in pools
        ]
        for rate in rates
    ]  # fmt: skip
    index, columns = pd.Index(rates, name="rate"), pd.Index(pools, name="pool_size")
    spread = scatter * np.exp(0.4 * rng.standard_normal((len(rates), len(pools))))
    return Truth(
        pd.DataFrame(table, index=index, columns=columns),
        0.5,
        pd.DataFrame(spread, index=index, columns=columns),
    )


def simulated_cells(
    truth: Truth,
    objectives: Sequence[Objective],
    rng: np.random.Generator,
    replicates: int = 5,
    requests: int = 1000,
    has_histograms: bool = True,
) -> Cells:
    """The cells of a load test of a simulated service: every pool at every rate, some trials
    each."""
    rows: list[dict[str, Any]] = []
    kept: dict[int, dict[str, Counts]] = {}
    for rate in truth.typical_ms.index:
        for pool in truth.typical_ms.columns:
            for _ in range(replicates):
                number = len(rows) + 1
                shift = float(truth.between[pool][rate]) * rng.standard_normal()
                logs = shift + truth.within * rng.standard_normal(requests)
                counts = _counts(float(truth.typical_ms[pool][rate]) * np.exp(logs))
                rows.append(
                    {
                        "trial": number,
                        "pool_size": float(pool),
                        "rate": float(rate),
                        **_columns(counts),
                    }
                )
                kept[number] = {"latency_us": counts}
    return cells_of(
        pd.DataFrame(rows), "pool_size", "rate", objectives, kept if has_histograms else None
    )


def _counts(latencies: np.ndarray) -> Counts:
    """A histogram to three digits [ms]."""
    values, counts = np.unique([float(f"{value:.3g}") for value in latencies], return_counts=True)
    return Counts(values, counts.astype(float))


def _columns(counts: Counts) -> dict[str, float]:
    from deadzone_load.capacity.cells import statistic

    named = (
        "latency_mean_ms",
        "latency_p50_ms",
        "latency_p90_ms",
        "latency_p99_ms",
        "latency_max_ms",
    )
    found = {name: statistic(Objective(name, "at_most", 0.0), counts) for name in named}
    return {**found, "errors": 0.0, "requests": counts.total}
