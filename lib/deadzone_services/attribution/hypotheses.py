"""The five hypotheses: which parts of the response each is about, and what else must hold for a
verdict.

From p-values to one of three verdicts, corrected for all tests made. Which environments stand
against each other: the slow one, the fast one, and the one in which the limit was removed.

The parts of the response in the slow and in the fast environment: how much, how different, and
what the tests say.

How much is the mean of the middle half of the trials, with what each part of the response
contributes to it. Trials are ordered by their response and a quarter is left out at either end (the
midmean; Tukey 1977, Exploratory Data Analysis): a stalled trial does not decide, and since every
part is averaged over the same trials, the parts of a difference still add up to it exactly, as
those of medians would not.

The tests ask whether a part explains next to nothing of the slowdown, or at least a part that
matters. The margin between the two is a share of the slowdown to be explained, plus a share of the
faster response: a part matters in proportion to what it is to explain, and what is small beside the
response itself explains nothing. It is no number fixed beforehand, so it is not put into the test
as one: that a part c differs by less than m times the difference of the response t is tested as c -
m t differing by less than nothing, which needs no estimate of the slowdown (as for ratios of means:
Hauschke, Kieser, Diletti and Burke 1999, Statistics in Medicine 18, 93-105).

- p_same: two one-sided tests (TOST; Schuirmann 1987, Journal of Pharmacokinetics and
  Biopharmaceutics 15, 657-680), each a rank test (Wellek 2010, Testing Statistical Hypotheses of
  Equivalence and Noninferiority). Its p-value is the larger.
- p_no_more: the one of the two that asks whether the part is longer in the slower environment. It
  is enough where a part is shorter there because something else takes its time at once: a client
  that waits for a slow service sends no slower.
- p_more: one rank test beyond the same margin. Both cannot be shown at once.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.analysis.compare.ratio import interval
from deadzone.analysis.hypothesis_tests.holm import judged
from deadzone.analysis.hypothesis_tests.ranks import rank_sum, smallest_p
from deadzone.analysis.trial_columns import numbers
from deadzone.plugins import CompareError, check_known
from deadzone.study.scales import NO_LIMIT, level_name
from deadzone_services.attribution import parts

UNLIMITED = math.inf
"""The CPU limit of an environment that has none."""

IN_FORCE, COUNTED = "service_cpu_limit", "throttled_s"


@dataclass(frozen=True)
class Roles:
    """The environments by name.

    slow, fast: between which the slowdown is explained. restored: another one without a CPU limit,
    in which the response should be the fast one's if the limit is the cause; None where there is
    none. limits: CPU limit of each environment [cores], UNLIMITED for none; environments about
    which nothing is known are missing.
    """

    slow: str
    fast: str
    restored: str | None
    limits: Mapping[str, float]

    def is_unlimited(self, name: str) -> bool:
        """Whether an environment is known to have no CPU limit."""
        return self.limits.get(name) == UNLIMITED

    @property
    def doses(self) -> tuple[str, ...]:
        """Environments by their CPU limit, smallest first, where there are three limits or more;
        else none."""
        known = sorted(self.limits, key=lambda name: self.limits[name])
        finite = {limit for limit in self.limits.values() if limit < UNLIMITED}
        return tuple(known) if len(finite) > 1 and len(set(self.limits.values())) > 2 else ()


def roles_of(
    medians: Mapping[str, float],
    limits: Mapping[str, float],
    slow: str | None = None,
    fast: str | None = None,
    restored: str | None = None,
) -> Roles:
    """The roles as asked for, else by the medians: the slowest and the fastest, and another one
    without a limit.

    medians: of each environment's responses [s]. limits: as in Roles.

    Raises CompareError if there are fewer than two environments, one is unknown, or the two are the
    same.
    """
    if len(medians) < 2:
        have = ", ".join(medians) or "none"
        raise CompareError(
            f"Attribution needs two environments; the table has: {have}. Measure another one."
        )
    for name in (slow, fast, restored):
        if name is not None:
            sentence = f"There are no trials of an environment {name!r}"
            check_known(CompareError, sentence, name, medians, "There are:")
    free = [n for n in medians if n not in (slow, fast, restored)]
    if len(free) < [slow, fast].count(None) or (restored and restored in (slow, fast)):
        raise CompareError(
            "The restored environment is another one than the slow and the fast one; the table "
            f"has: {', '.join(medians)}."
        )
    slow = slow or max(free, key=lambda n: medians[n])
    fast = fast or min((n for n in free if n != slow), key=lambda n: medians[n])
    if slow == fast:
        raise CompareError(
            f"The slow and the fast environment are both {slow!r}; name two different ones."
        )
    if restored is None and limits.get(slow, UNLIMITED) < UNLIMITED:
        others = [n for n in medians if n not in (slow, fast) and limits.get(n) == UNLIMITED]
        restored = others[0] if others else None
    return Roles(slow, fast, restored, dict(limits))


def limits_of(trials: pd.DataFrame, by: str) -> dict[str, float]:
    """CPU limit of each environment where the table says it; an environment with several limits has
    none that is known.

    trials: one row a trial. by: column of the environment's name. A missing level of the factor
    cpu_limit is unknown; a missing limit in force is none where throttling was counted, else
    unknown.
    """
    if CPU_LIMIT in trials:
        limits = _cores(trials[CPU_LIMIT])
    elif IN_FORCE in trials and COUNTED in trials:
        counted = trials[IN_FORCE].notna() | trials[COUNTED].notna()
        limits = _cores(trials.loc[counted, IN_FORCE]).fillna(UNLIMITED)
    else:
        return {}
    return {
        str(name): float(levels.iloc[0])
        for name, levels in limits.groupby(trials[by], sort=False)
        if levels.notna().all() and levels.nunique() == 1
    }


def _cores(levels: pd.Series) -> pd.Series:
    """Limits as a table holds them [cores]: UNLIMITED where it says so, nan where it says
    nothing."""
    names = levels.map(level_name).astype(str)
    numbers_in = pd.to_numeric(names, errors="coerce").astype(float)
    return numbers_in.mask(names.isin(NO_LIMIT), UNLIMITED)


DRAWS = 2_000
SEED = 1977
"""Of the bootstrap; fixed, so that the same trials always give the same interval."""

MARGIN = 0.1
"""A part that explains less than a tenth of the slowdown is not what to look for."""

FLOOR = 0.05
"""Of the faster response: two runs of one program on one machine often differ by as much."""

LEAST_S = 0.005
"""Nor does anything below 5 ms count: that is about what starting to run again costs on a busy
machine."""

SECONDS = ("fast_s", "slow_s", "difference_s", "low_s", "high_s")
SHARES = ("share", "share_low", "share_high")


@dataclass(frozen=True)
class Margin:
    """What a part must stay under to explain next to nothing, and exceed to be named.

    share: of the slowdown; 0 where none is shown, of which a part could be a share. floor_s: added
    to it [s], for it does not depend on the slowdown.
    """

    share: float
    floor_s: float

    def seconds(self, slowdown: float) -> float:
        """The margin for a slowdown of so many seconds."""
        return self.share * max(slowdown, 0.0) + self.floor_s


def midmean(values: np.ndarray, response: np.ndarray) -> np.ndarray:
    """Means over the middle half of the trials by their response; of the trials that have a value.

    values: shape (..., trials, parts). response: shape (..., trials). Returns shape (..., parts),
    nan where none has a value.
    """
    n = response.shape[-1]
    order = np.argsort(response, axis=-1, kind="stable")[..., n // 4 : n - n // 4]
    middle = np.take_along_axis(values, order[..., None], axis=-2)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(middle, axis=-2) / np.isfinite(middle).sum(axis=-2))


def drawn(values: np.ndarray, response: np.ndarray, stream: int) -> np.ndarray:
    """Midmeans of bootstrap resamples, shape (DRAWS, parts); nan where there is a single trial.

    values: shape (trials, parts). response: shape (trials,). stream: number of the random stream,
    one for each independent sample.
    """
    n = len(response)
    if n < 2:
        return np.full((DRAWS, values.shape[1]), np.nan)
    rng = np.random.default_rng(np.random.SeedSequence(SEED).spawn(stream + 1)[stream])
    chosen = rng.integers(0, n, (DRAWS, n))
    return midmean(values[chosen], response[chosen])


def side_by_side(slow: pd.DataFrame, fast: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Every part of two environments, one row a part, with the columns SECONDS and SHARES.

    slow, fast: seconds as `parts.parts_of` gives them. The intervals are of the bootstrap; nan with
    a single trial. A share of the slowdown is nan where there is none, and its interval where none
    is shown.
    """
    sides = [(side.to_numpy(float), side[parts.TOTAL].to_numpy(float)) for side in (slow, fast)]
    means = [midmean(*side) for side in sides]
    draws = [drawn(*side, stream) for stream, side in enumerate(sides)]
    difference, spread = means[0] - means[1], draws[0] - draws[1]
    total = slow.columns.get_loc(parts.TOTAL)
    ends = _intervals(spread, confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = difference / (difference[total] if difference[total] > 0 else math.nan)
        of_total = spread / spread[:, [total]] if ends[total][0] > 0 else spread * math.nan
    columns = (means[1], means[0], difference, ends, shares, _intervals(of_total, confidence))
    return pd.DataFrame(
        np.column_stack(columns), index=slow.columns, columns=[*SECONDS, *SHARES]
    ).rename_axis("part")


def _intervals(draws: np.ndarray, confidence: float) -> np.ndarray:
    """Of each column, shape (parts, 2), from the draws in which it has a value."""
    return np.array([interval(column[np.isfinite(column)], confidence) for column in draws.T])


def p_values(slow: pd.DataFrame, fast: pd.DataFrame, part: str, margin: Margin) -> dict[str, float]:
    """p_same, p_no_more and p_more of a part of two environments; nan where it is in none of the
    trials of one. Trials without it are left out."""
    sides = [side[[part, parts.TOTAL]].dropna().to_numpy(float).T for side in (slow, fast)]
    if not all(side.size for side in sides):
        return dict.fromkeys(("p_same", "p_no_more", "p_more"), math.nan)
    (slow_s, slow_total), (fast_s, fast_total) = sides
    m, f = margin.share, margin.floor_s
    under = fast_s - m * fast_total, slow_s - m * slow_total - f
    above = fast_s + m * fast_total, slow_s + m * slow_total + f
    no_more, more = rank_sum(*under, "less"), rank_sum(*under, "greater")
    return {
        "p_same": max(no_more, rank_sum(*above, "greater")),
        "p_no_more": no_more,
        "p_more": more,
    }


CPU_LIMIT, NETWORK, DISK, MEMORY, CLIENT = HYPOTHESES = (
    "cpu_limit",
    "network",
    "disk",
    "memory",
    "client",
)

NEAR_LIMIT = 0.9
"""Memory used at its peak, as a share of the limit, from which reclaim may have begun."""

CONFIRMED, EXCLUDED, UNDECIDED = "confirmed", "excluded", "undecided"


@dataclass(frozen=True)
class About:
    """What a hypothesis is about.

    part: the time it would take. certain: the part that must exceed the margin for it to be
    confirmed. needed: parts one of which must have been measured to exclude it, and that must not
    be longer in the slow environment. also: parts that must be the same, where measured. shown:
    parts that the evidence names.
    """

    part: str
    certain: str
    needed: tuple[str, ...]
    also: tuple[str, ...]
    shown: tuple[str, ...]


READ, USED = (parts.DISK, parts.DISK_BYTES), (parts.MEMORY, parts.FAULTS)
REACHED, STOPPED, COMPUTED = (parts.DNS, parts.CONNECT), (parts.THROTTLED,), (parts.CLIENT,)
OUTSIDE = (*REACHED, parts.UPLOAD, parts.NETWORK)

ABOUT: Mapping[str, About] = {
    CPU_LIMIT: About(parts.THROTTLED, parts.THROTTLED, STOPPED, STOPPED, STOPPED),
    NETWORK: About(parts.NETWORK, parts.NETWORK_LEAST, (parts.NETWORK,), REACHED, OUTSIDE),
    DISK: About(parts.DISK, parts.DISK_LEAST, (parts.DISK,), READ, READ),
    MEMORY: About(parts.MEMORY, parts.MEMORY_LEAST, USED, USED, USED),
    CLIENT: About(parts.CLIENT, parts.CLIENT, COMPUTED, COMPUTED, COMPUTED),
}


@dataclass(frozen=True, eq=False)
class Known:
    """What the verdicts are made from.

    measures: of every part, as `side_by_side` and `p_values` give them. sides: seconds of the
    trials, by environment. slow: the trials of the slow one. margin_s: of the removal of a limit
    [s]. is_slower: whether there is a slowdown to explain at all.
    """

    roles: Roles
    measures: pd.DataFrame
    sides: Mapping[str, pd.DataFrame]
    slow: pd.DataFrame
    margin_s: float
    is_slower: bool

    def removal(self) -> float:
        """p-value that the response is not the fast one's where the limit was removed; nan where it
        was not."""
        if self.roles.restored is None:
            return math.nan
        pair = self.sides[self.roles.restored], self.sides[self.roles.fast]
        return p_values(*pair, parts.TOTAL, Margin(0.0, self.margin_s))["p_same"]

    def dose(self) -> float:
        """One-sided p-value of Kendall's rank correlation (1938, Biometrika 30, 81-93) of limit and
        response; nan without three limits."""
        from scipy.stats import kendalltau

        if not (names := self.roles.doses):
            return math.nan
        values = [self.sides[name][parts.TOTAL].to_numpy(float) for name in names]
        limits = np.repeat([self.roles.limits[name] for name in names], [*map(len, values)])
        ranks = np.unique(limits, return_inverse=True)[1]
        return float(kendalltau(ranks, np.concatenate(values), alternative="less").pvalue)

    def is_bounded(self, name: str) -> bool:
        """Whether the time is known to be under the margin without any test: the client's CPU time
        is counted whole, and delayed no request by more than it was."""
        used = numbers(self.slow, parts.CLIENT)
        return name == CLIENT and bool(used.notna().all() and used.max() <= self.margin_s)

    def hindrances(self) -> dict[str, tuple[str, str]]:
        """The verdict that a hypothesis cannot get, however small the p-value, with the reason as a
        key of `result.UNDECIDED_FOR`."""
        found = {}
        if self.measures["fast_s"][parts.THROTTLED] > self.margin_s:
            found[CPU_LIMIT] = CONFIRMED, "throttled_without"
        # It may be a wait within a service that does not say how long it had the request.
        more = self.measures["p_more"]
        if more[parts.NETWORK] < more[parts.NETWORK_LEAST]:
            found[NETWORK] = CONFIRMED, "outside"
        names = ("service_oom_kills", "service_memory_peak_bytes", "service_memory_limit_bytes")
        events, peak, limit = (numbers(self.slow, name) for name in names)
        if (events > 0).any():
            found[MEMORY] = EXCLUDED, "events"
        elif (peak > NEAR_LIMIT * limit).any():
            found[MEMORY] = EXCLUDED, "near_limit"
        return found


def _tested(about: About, measures: pd.DataFrame) -> tuple[float, float]:
    """p-values of the exclusion and of the confirmation of a hypothesis; nan where nothing was
    measured."""
    known = measures[measures["difference_s"].notna()]
    needed, also = (known.index.intersection([*names]) for names in (about.needed, about.also))
    if needed.empty:
        return math.nan, math.nan
    excluded = max(known["p_no_more"][needed].max(), known["p_same"][also].max(), 0.0)
    return excluded, float(measures["p_more"][about.certain])


def verdicts(known: Known, confidence: float) -> pd.DataFrame:
    """The verdict on every hypothesis, in the columns of `Attribution.hypotheses`.

    Returns p_excluded, p_confirmed, and both `_adjusted` for all that was tested, nan untested;
    verdict; why: of an undecided one, a key of `wording.UNDECIDED_FOR`: unmeasured, few,
    throttled_without, not_restored, no_dose, events, near_limit, outside, machine, no_slowdown or
    open.
    """
    level = 1 - confidence
    raw = np.array([_tested(about, known.measures) for about in ABOUT.values()])
    removal, dose = known.removal(), known.dose()
    if not math.isnan(raw[0, 1]):
        raw[0, 1] = np.nanmax([raw[0, 1], removal, dose])
    n, m = (len(known.sides[name]) for name in (known.roles.slow, known.roles.fast))
    few = smallest_p(n, m, sides=1) * np.isfinite(raw).sum() > level
    hindrances = known.hindrances()
    rows = []
    for name, own, (excluded, confirmed) in zip(ABOUT, raw, judged(raw), strict=True):
        hindered, hindrance = hindrances.get(name, ("", ""))
        verdict, why = UNDECIDED, ""
        if (excluded <= level and hindered != EXCLUDED) or known.is_bounded(name):
            verdict = EXCLUDED
        elif confirmed <= level and hindered != CONFIRMED and known.is_slower:
            verdict = CONFIRMED
        else:
            reasons = (
                ("unmeasured", np.isnan(own).all()),
                ("few", few),
                (hindrance, hindered),
                ("machine", math.isnan(confirmed)),
                ("no_slowdown", confirmed <= level and not known.is_slower),
                ("not_restored", name == CPU_LIMIT and removal > level),
                ("no_dose", name == CPU_LIMIT and dose > level),
                ("open", True),
            )
            why = next(why for why, is_so in reasons if is_so)
        rows.append((name, own[0], excluded, own[1], confirmed, verdict, why))
    ps = ("p_excluded", "p_excluded_adjusted", "p_confirmed", "p_confirmed_adjusted")
    table = pd.DataFrame(rows, columns=["hypothesis", *ps, "verdict", "why"])
    seconds = known.measures.loc[[about.part for about in ABOUT.values()]].reset_index(drop=True)
    times = ("slow_s", "fast_s", *SECONDS[2:], *SHARES)
    return seconds.join(table)[["hypothesis", *times, *ps, "verdict", "why"]]
