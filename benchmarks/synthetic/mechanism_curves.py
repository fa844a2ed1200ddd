"""Response curves drawn from mechanisms rather than from pieces: laws of scaling, limits, queues,
caches.

No phase is planted: what is known of such a curve is its true response at every level, and so which
settings are good. Each trial has skewed noise, each level an effect of its own that replicates do
not average away, the run may drift, and some trials are spoiled. Half of the curves are times to
minimise, half are rates to maximise.

Laws: Amdahl 1967 (AFIPS Conf. Proc. 30); Gunther 1993 (USL); Erlang's C formula for M/M/c, as in
Kleinrock 1975, Queueing Systems I; Graham 1969 (list scheduling, SIAM J. Appl. Math. 17); Denning
1968 (thrashing, AFIPS Conf. Proc. 33).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .curves import Curve

Law = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]

NOISES = {1: (0.01, 0.02, 0.03), 3: (0.01, 0.02, 0.05), 5: (0.01, 0.02, 0.05)}
"""Standard deviations of ln(response) by trials a level: as in the other tiers, a single trial is
not that noisy."""

SPOILED = 0.02
OWN_EFFECT = 0.5
"""A level's own effect has a standard deviation of up to this much of the noise of a trial."""

DRIFT = 0.04
"""The response changes by up to this much over a run."""

POWERS = 2.0 ** np.arange(14)


def _cores(rng: np.random.Generator) -> np.ndarray:
    """Whole cores, or doublings."""
    return (
        np.arange(1.0, rng.integers(9, 33)) if rng.random() < 0.6 else POWERS[: rng.integers(6, 10)]
    )


def amdahl(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A share of the work cannot be divided."""
    n, serial = _cores(rng), 10 ** rng.uniform(-2.0, -0.5)
    return n, serial + (1 - serial) / n


def scalability(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Contention and crosstalk; the best number lies inside the range or beyond it."""
    n, contention = _cores(rng), 10 ** rng.uniform(-2.0, -0.7)
    best = n[-1] * rng.uniform(0.3, 1.5)
    return n, (1 + contention * (n - 1) + (1 - contention) / best**2 * n * (n - 1)) / n


def quota(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A CPU limit above what the program can use brings nothing more."""
    limit = np.arange(1.0, rng.integers(12, 33)) * rng.choice([0.25, 0.5, 1.0])
    used = limit[0] + np.ptp(limit) * rng.uniform(0.2, 0.9)
    serial = rng.uniform(0.0, 0.08)
    return limit, serial + (1 - serial) / np.minimum(limit, used)


def queue(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Response time of M/M/c: too few threads queue, and each further one makes all a little
    slower."""
    offered, cost = rng.uniform(2.0, 12.0), 10 ** rng.uniform(-4.0, -2.0)
    threads = np.arange(np.ceil(offered * 1.05), np.ceil(offered * 1.05) + rng.integers(10, 22))
    return threads, np.array([_mmc(int(c), offered, 1 + cost * (c - 1)) for c in threads])


def _mmc(servers: int, offered: float, service: float) -> float:
    """Mean time in the system in units of a service without cost; a system beyond its capacity is
    capped."""
    load = offered * service
    blocked = 1.0
    for k in range(1, servers + 1):
        blocked = load * blocked / (k + load * blocked)
    spare = max(servers - load, 0.02)
    waiting = min(servers * blocked / max(servers - load * (1 - blocked), 0.02), 1.0)
    return service * (1 + waiting / spare)


def batches(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A batch pays its set-up once; large ones outgrow a cache a little."""
    size = POWERS[: rng.integers(8, 13)]
    return size, 10 ** rng.uniform(0.3, 1.7) / size + 1 + rng.choice(
        [0.0, rng.uniform(0, 0.15)]
    ) * size / size[-1]


def scheduling(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Makespan of unequal jobs handed to the next free worker, the longest first."""
    workers = np.arange(1.0, rng.integers(9, 25))
    jobs = np.sort(rng.lognormal(0.0, rng.uniform(0.3, 1.0), int(rng.integers(20, 60))))[::-1]
    return workers, np.array([_makespan(jobs, int(n)) for n in workers])


def _makespan(jobs: np.ndarray, workers: int) -> float:
    free = np.zeros(workers)
    for job in jobs:
        free[int(free.argmin())] += job
    return float(free.max())


def bandwidth(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Time a byte: operations a second bound small blocks, bandwidth bounds large ones."""
    size = 4096 * POWERS[: rng.integers(8, 13)]
    turn = size[rng.integers(1, len(size) - 1)]
    sharp = rng.choice([1.0, 2.0, 6.0])
    return size, ((turn / size) ** sharp + 1) ** (1 / sharp)


def memory(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Below the size that suffices a share of the work spills to disk."""
    size = 64.0 * np.arange(1.0, rng.integers(10, 25))
    need = size[rng.integers(2, len(size) - 1)] * rng.uniform(0.9, 1.0)
    return size, 1 + rng.uniform(1.0, 15.0) * np.maximum(1 - size / need, 0) ** rng.uniform(
        0.7, 2.0
    )


def thrashing(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Workers help until their working sets no longer fit in memory together."""
    n, serial = np.arange(1.0, rng.integers(10, 25)), rng.uniform(0.0, 0.1)
    fit = n[-1] * rng.uniform(0.3, 0.9)
    return n, (serial + (1 - serial) / n) * (
        1 + rng.uniform(2.0, 20.0) * np.maximum(n / fit - 1, 0) ** 1.5
    )


def cache(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A larger block saves overhead until it falls out of a cache, within about a doubling."""
    size = POWERS[: rng.integers(9, 14)]
    cliff = size[rng.integers(3, len(size) - 1)]
    lost = rng.uniform(0.2, 2.0) / (1 + (cliff / size) ** rng.uniform(2.0, 6.0))
    return size, rng.uniform(1.0, 10.0) / size + 1 + lost


MECHANISMS: dict[str, Law] = {
    "amdahl": amdahl,
    "usl": scalability,
    "quota": quota,
    "mmc": queue,
    "batches": batches,
    "scheduling": scheduling,
    "iops_bandwidth": bandwidth,
    "memory": memory,
    "thrashing": thrashing,
    "cache": cache,
}


def draw_mechanism(name: str, count: int, seed: int) -> list[Curve]:
    """`count` curves of one mechanism; the same seed always gives the same curves."""
    rng = np.random.default_rng([seed, *name.encode()])
    return [_draw(rng, MECHANISMS[name], f"{name}-{i:03d}") for i in range(count)]


def _draw(rng: np.random.Generator, law: Law, name: str) -> Curve:
    levels, time = law(rng)
    n, replicates = len(levels), int(rng.choice(list(NOISES)))
    noise = float(rng.choice(NOISES[replicates]))
    log_truth = np.log(time * rng.uniform(0.5, 200.0))
    level = np.concatenate([rng.permutation(n) for _ in range(replicates)])
    skewed = (rng.exponential(1.0, len(level)) - 1 + rng.standard_normal(len(level))) / np.sqrt(2)
    own = rng.uniform(0, OWN_EFFECT) * noise * rng.standard_normal(n)
    drift = rng.choice([0.0, rng.uniform(-DRIFT, DRIFT)]) * np.linspace(-0.5, 0.5, len(level))
    spoiled = rng.random(len(level)) < SPOILED
    accident = np.where(spoiled, np.log(rng.uniform(1.5, 4.0, len(level))), 0.0)
    log_y = log_truth[level] + noise * skewed + own[level] + drift + accident
    goal = str(rng.choice(["min", "max"]))
    y = np.exp(log_y if goal == "min" else -log_y)
    block = np.repeat(np.arange(replicates), n)
    return Curve(name, levels, levels[level], y, log_truth, (), spoiled, goal, block)
