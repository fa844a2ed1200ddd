"""`propose`: which levels to measure next.

A sweep begins with every other level once. From then on each trial goes where it is expected to
tell most a second (see `gains` and `information`), a myopic design that is paid by the second
(Chaloner and Verdinelli 1995). The trials of a batch are chosen one after the other, each as if
those before it had told their share, and run in random order, so that drift can be told from the
knob and a batch may run on several machines at once.

`adaptive` 1.5 (Learner1D), which places points by the curvature of an interpolated curve, has
neither replicates nor a model of noise; docs/benchmarks/adaptive.md compares both where that
package is installed.

Whether enough is known: what is still open of phases and setting, in sentences.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from deadzone.analysis.adaptive.gains import Coverage, gains_of
from deadzone.analysis.phases.drift import estimate_drift
from deadzone.analysis.phases.inference import Posterior, infer
from deadzone.analysis.phases.labels import decode, runs, step_probabilities
from deadzone.analysis.phases.prepare import prepare
from deadzone.analysis.phases.result import CurveTrials
from deadzone.analysis.phases.roles import check_frame, check_roles
from deadzone.analysis.phases.segmentation import curve_values, joint_interval
from deadzone.analysis.phases.thresholds import CERTAINTY, PRACTICAL_TOLERANCE, Thresholds
from deadzone.analysis.trial_columns import is_well, numbers, well
from deadzone.errors import PhaseError
from deadzone.language.messages import Message
from deadzone.study.levels import Level, is_number
from deadzone.study.reasons import reason
from deadzone.study.response_cells import with_numbers
from deadzone.study.scales import (
    KnobScale,
    Place,
    level_name,
    levels_in,
    nothing_to_choose,
    scale_of,
)
from deadzone.study.until_specs import UntilSpec

OPEN_SETTING = 0.05
"""Whether a level is as good as the best counts as open while one more trial tells so much about it
[nats]."""

OPENING_STRIDE = 2
"""A sweep begins with every other level: a dead zone of two steps then still shows as a step of
another slope."""

FEWEST_REPEATS = 3
"""Trials beyond the first of their level that noise is estimated from before anything is decided;
the cheapest levels are repeated for it."""

LEAST_GAIN = 0.02
"""A trial that is expected to tell less than this [nats] is not worth its time: fifty of them would
tell a bit or two."""

TOLD_AGAIN, TOLD_BESIDE = 0.5, 0.7
"""What is left of the gain of a level, and of its neighbours, that is in the batch already."""

SHORT = 2
"""A phase of so few steps [listed levels] may be one odd trial: each of its levels is measured
twice before it is believed."""

MOST_TRIALS = 30
"""Of one level; beyond them the mean of a level gets more precise than any two runs of a program
agree."""

MOST_UNSOUND = 3
"""A level that was tried so often without a sound trial is left alone."""

MOST_DIGITS = 4
"""No user sets a level with more significant digits."""


def open_questions(
    posterior: Posterior,
    coverage: Coverage,
    gains: np.ndarray,
    names: list[str],
    knob: str,
    until: UntilSpec,
) -> tuple[Message, ...]:
    """What is not known yet as well as is asked for; empty where a sweep may stop.

    gains: of `gains_of`. names: of the listed levels, as they are written.
    """
    questions: list[Message] = []
    if until.decide != "setting":
        questions += _open_phases(posterior, coverage, names, knob, until)
        odd = [names[i] for i in odd_levels(posterior, coverage)]
        questions += [reason("open_odd", knob=knob, level=level) for level in odd]
    if until.decide != "phases":
        chosen, loss = expected_loss(posterior)
        if loss > until.loss:
            questions.append(reason("open_setting", loss=loss, wanted=until.loss))
        cheaper = gains[1][: coverage.measured[chosen] + 1]
        if (cheaper > OPEN_SETTING).any():
            questions.append(
                reason("open_cheaper", knob=knob, level=names[int(np.argmax(cheaper))])
            )
    return tuple(questions)


def _open_phases(
    posterior: Posterior, coverage: Coverage, names: list[str], knob: str, until: UntilSpec
) -> Iterator[Message]:
    measured = coverage.measured
    probability = step_probabilities(posterior.pieces, len(measured) - 1)
    for first, stop, label in runs(decode(probability)):
        low, high = names[measured[first]], names[measured[stop]]
        sure = float(probability[first:stop, label].min())
        if sure < until.certainty:
            yield reason("open_label", knob=knob, low=low, high=high, probability=sure)
        if first:
            low_at, high_at = joint_interval(posterior.pieces, first, stop, label, until.certainty)
            below = measured[max(low_at - 1, 0)] + (low_at > 0)
            above = measured[min(high_at + 1, len(measured) - 1)] - (high_at < len(measured) - 1)
            if above - below > 2 * until.joint_levels:
                yield reason("open_joint", knob=knob, low=names[below], high=names[above])


def odd_levels(posterior: Posterior, coverage: Coverage) -> np.ndarray:
    """Listed levels (positions) measured once that belong to a short phase, of several: it may be
    one odd trial."""
    measured = coverage.measured
    phases = runs(decode(step_probabilities(posterior.pieces, len(measured) - 1)))
    short = [
        measured[first : stop + 1]
        for first, stop, _ in phases
        if measured[stop] - measured[first] <= SHORT and len(phases) > 1
    ]
    levels = np.unique(np.concatenate([*short, []])).astype(int)
    return levels[coverage.counts[levels] == 1]


def expected_loss(posterior: Posterior) -> tuple[int, float]:
    """The setting (position among the measured levels), and what it is expected to lose to the best
    one beyond what does not matter in practice, a share.

    The setting is the cheapest whose curve is no more than that tolerance above the best. The loss
    is that to the one other level for which it is largest, for levels that share a phase are better
    or worse together.
    """
    from scipy.special import ndtr

    tolerance = np.log1p(PRACTICAL_TOLERANCE)
    spots = [curve_values(posterior.pieces, posterior.x, m) for m in range(len(posterior.x))]
    mean = np.array([np.average(value, weights=weight) for value, weight in spots])
    variance = np.array(
        [
            np.average((value - centre) ** 2, weights=weight)
            for (value, weight), centre in zip(spots, mean, strict=True)
        ]
    )
    chosen = int(np.flatnonzero(mean <= mean.min() + tolerance)[0])
    over = mean[chosen] - mean - tolerance
    spread = np.sqrt(np.maximum(variance[chosen] + variance, 1e-18))
    density = np.exp(-0.5 * (over / spread) ** 2) / np.sqrt(2 * np.pi)
    loss = over * ndtr(over / spread) + spread * density
    loss[chosen] = 0.0
    return chosen, float(np.expm1(loss.max()))


@dataclass(frozen=True, repr=False)
class Proposal:
    """The trials to run next.

    levels: in the order to run them, as they were listed; empty when there is nothing worth its
    time. reason: why these, or why none, in a sentence. gain:
    what each trial is expected to tell a second [nats/s; a unit of the response where the table has
    no wall_s]; of the opening 0. open: what is not known yet, in sentences. cost: expected time of
    the trials [s, or as gain]; nan where nothing was measured.
    """

    levels: tuple[Level, ...]
    reason: Message
    gain: tuple[float, ...] = ()
    open: tuple[Message, ...] = ()
    cost: float = float("nan")

    @property
    def done(self) -> bool:
        """Whether the sweep may stop."""
        return not self.levels

    def __repr__(self) -> str:
        asked = [f"Measure {', '.join(map(level_name, self.levels))}."] if self.levels else []
        return " ".join([*asked, self.reason, *self.open])


@dataclass(frozen=True)
class _Listed:
    """The listed levels by their place on the axis, increasing. tried, failed: trials of each, and
    failed ones."""

    levels: tuple[Level, ...]
    positions: np.ndarray
    scale: KnobScale
    tried: np.ndarray
    failed: np.ndarray
    cost: np.ndarray
    """Mean time of the trials of each, nan without any."""


def propose(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    levels: Sequence[Level],
    goal: str = "min",
    *,
    batch: int = 3,
    seed: int = 0,
    until: UntilSpec | None = None,
    scale: str | None = None,
    at: Mapping[str, Place] | None = None,
) -> Proposal:
    """Choose the next trials of a sweep over the levels of a knob.

    frame: the trials so far, one a row, as for `fit_phases`; may be empty. Trials that failed or
    are not trusted count as tried. knob, response: columns. levels: to choose from, at least
    FEWEST_TO_CHOOSE numbers ("none" lies beyond the largest), and with a resolution in until
    whatever lies between them. goal: "min" or "max". batch: trials to propose. seed: of the order;
    the same arguments always give the same proposal. until: when enough is known. scale, at: of the
    knob, as its study says; see `scale_of`.

    Raises PhaseError where the levels are no numbers or too few, or the table cannot be read.
    """
    check_frame(frame)
    if len(frame):
        check_roles(frame, (knob,), response, goal)
        frame = with_numbers(frame, response)
    try:
        problem = nothing_to_choose(knob, scale_of(levels, scale, at))
        on_axis = scale_of([*levels, *frame.get(knob, ())], scale, at)
    except ValueError as error:
        raise PhaseError(f"{knob!r} {error}.") from error
    if problem:
        raise PhaseError(problem)
    listed = _listed(frame, knob, response, levels, on_axis)
    rng = np.random.default_rng([seed, len(frame)])
    if begin := _opening(listed, seed):
        chosen = tuple(listed.levels[i] for i in begin)
        return Proposal(chosen, reason("opening", n=len(begin), knob=knob), (0.0,) * len(begin))
    if listed.failed.sum() == listed.tried.sum():
        return Proposal((), reason("all_failed", n=int(listed.failed.sum())))
    try:
        sample = prepare(well(frame), knob, response, goal, scale=listed.scale)
    except PhaseError as error:
        if edge := _at_the_edge(listed, rng):
            chosen = tuple(listed.levels[i] for i in edge)
            return Proposal(chosen, reason("edge", knob=knob), (float(np.log(2)),) * len(edge))
        return Proposal((), reason("unfitted", problem=str(error)))
    until = until or UntilSpec()
    x = sample.axis.forward(sample.levels)
    value = sample.value - estimate_drift(sample, CERTAINTY)[1]
    posterior = infer(x, value, sample.level, Thresholds(), sample.axis.is_interval)
    # a column with a word such as none holds its numbers as texts
    places = listed.scale.positions
    known = (*levels_in(frame[knob]), *levels)
    written = {places.get(level_name(level)): level for level in known}
    measured = [written[place] for place in sample.levels]
    between = levels_between(posterior, measured, levels, until)
    added = [level for level in (*measured, *between) if level not in levels]
    if added:
        # A level without a limit stays where the fit has it, however many lie below it now.
        longer = {**places, **{level_name(level): float(level) for level in between}}
        listed = _listed(
            frame, knob, response, [*levels, *added], replace(listed.scale, positions=longer)
        )
    return _informed(sample, posterior, listed, knob, batch, rng, until, between)


def _listed(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    levels: Sequence[Level],
    scale: KnobScale,
) -> _Listed:
    places = ((scale.positions.get(level_name(level)), level) for level in levels)
    by_place = {place: level for place, level in places if place is not None}
    positions = np.array(sorted(by_place))
    names = map(level_name, frame.get(knob, ()))
    place = np.array([scale.positions.get(name, np.nan) for name in names])
    rows = frame[np.isin(place, positions)]
    at = np.searchsorted(positions, place[np.isin(place, positions)])
    bad = ~is_well(rows).to_numpy(bool)
    cost = numbers(rows, "wall_s" if "wall_s" in rows else response).reset_index(drop=True)
    return _Listed(
        tuple(by_place[position] for position in positions),
        positions,
        scale,
        np.bincount(at, minlength=len(positions)),
        np.bincount(at[bad], minlength=len(positions)),
        cost.groupby(at).mean().reindex(range(len(positions))).to_numpy(),
    )


def _opening(listed: _Listed, seed: int) -> list[int]:
    """Levels of the opening that were not tried yet: every other one and the last, in random
    order."""
    n = len(listed.levels)
    opening = np.unique(np.append(np.arange(0, n, OPENING_STRIDE), n - 1))
    return [int(i) for i in np.random.default_rng(seed).permutation(opening) if not listed.tried[i]]


def _at_the_edge(listed: _Listed, rng: np.random.Generator) -> list[int]:
    """Levels at the edge of where trials fail: a first failure beside a level that works, and the
    middle between the two.

    Levels further inside are left alone.
    """
    works = listed.tried > listed.failed
    tried = np.flatnonzero(listed.tried)
    indices = []
    for a, b in pairwise(tried):
        if works[a] != works[b]:
            bad = b if works[a] else a
            if listed.failed[bad] == 1:
                indices.append(int(bad))
            elif b - a > 1:
                indices.append(int(a + b) // 2)
    return [int(i) for i in rng.permutation(sorted(set(indices)))]


def _informed(
    sample: CurveTrials,
    posterior: Posterior,
    listed: _Listed,
    knob: str,
    batch: int,
    rng: np.random.Generator,
    until: UntilSpec,
    between: Sequence[Level],
) -> Proposal:
    measured = np.searchsorted(listed.positions, sample.levels)
    counts = np.zeros(len(listed.levels), dtype=int)
    counts[measured] = np.bincount(sample.level)
    coverage = Coverage(sample.axis.forward(listed.positions), measured, counts)
    gains = gains_of(posterior, coverage)
    asked = {"both": gains.sum(axis=0), "phases": gains[0], "setting": gains[1]}
    gain = asked[until.decide].copy()
    cost = _expected_cost(listed, coverage.x)
    edge = _at_the_edge(listed, rng)
    barred = (listed.tried >= MOST_TRIALS) | ((counts == 0) & (listed.tried >= MOST_UNSOUND))
    barred |= (counts == 0) & (listed.failed > 0)
    barred[: measured[0]] = barred[measured[-1] + 1 :] = True
    gain[barred] = 0.0
    gain[edge] = np.log(2)
    if until.decide != "setting":
        odd = odd_levels(posterior, coverage)
        gain[odd] = np.where(barred[odd] | (listed.tried[odd] > MOST_UNSOUND), gain[odd], np.log(2))
    names = [level_name(level) for level in listed.levels]
    questions = open_questions(posterior, coverage, gains, names, knob, until)
    if between:
        written = ", ".join(map(level_name, sorted(between)))
        questions += (
            reason("open_between", knob=knob, levels=written, resolution=until.resolution),
        )
    missing = FEWEST_REPEATS - int(np.maximum(counts - 1, 0).sum())
    if missing > 0:
        chosen = np.argsort(np.where(counts > 0, cost, np.inf), kind="stable")[:missing].tolist()
        why = reason("noise", knob=knob)
    elif not questions and not edge:
        return Proposal((), reason("known", certainty=until.certainty), open=questions)
    elif chosen := _batch(gain, cost, batch, edge):
        named = ", ".join(dict.fromkeys(names[i] for i in sorted(chosen)))
        why = reason("most", knob=knob, levels=named)
    else:
        return Proposal((), reason("not_worth", least=LEAST_GAIN), open=questions)
    order = rng.permutation(chosen)
    return Proposal(
        tuple(listed.levels[i] for i in order),
        why,
        tuple((gain[order] / cost[order]).tolist()),
        questions,
        float(cost[order].sum()),
    )


def _batch(gain: np.ndarray, cost: np.ndarray, batch: int, once: list[int]) -> list[int]:
    """Levels that tell most a second, one after the other. once: those that are never in it
    twice."""
    left = gain.copy()
    chosen: list[int] = []
    while len(chosen) < batch and (left >= LEAST_GAIN).any():
        best = int(np.argmax(np.where(left >= LEAST_GAIN, left / cost, -1.0)))
        chosen.append(best)
        beside = [i for i in (best - 1, best + 1) if 0 <= i < len(left)]
        left[best] *= 0.0 if best in once else TOLD_AGAIN
        left[beside] *= TOLD_BESIDE
    return chosen


def _expected_cost(listed: _Listed, x: np.ndarray) -> np.ndarray:
    """Expected time of a trial at each listed level: its mean, or on the line between its
    neighbours' logarithms."""
    known = np.isfinite(listed.cost) & (listed.cost > 0)
    if not known.any():
        return np.ones(len(x))
    return np.exp(np.interp(x, x[known], np.log(listed.cost[known])))


def levels_between(
    posterior: Posterior, measured: Sequence[Level], listed: Sequence[Level], until: UntilSpec
) -> list[Level]:
    """The levels to add to those that were listed or measured: none without a resolution in until.

    The stretch in which a joint lies is halved, at a number that people would write (golden section
    and bisection tell no more of a joint than its two sides: Kiefer 1953, Proceedings of the
    American Mathematical Society 4, 502-506). A knob that was listed in whole numbers stays one.

    measured: levels of the posterior, increasing. listed: as in the study.
    """
    if until.resolution is None:
        return []
    whole = all(float(level).is_integer() for level in (*listed, *measured) if is_number(level))
    levels: list[Level] = []
    for first, stop, label in runs(
        decode(step_probabilities(posterior.pieces, len(posterior.x) - 1))
    )[1:]:
        low, high = joint_interval(posterior.pieces, first, stop, label, until.certainty)
        stretch = [
            float(level) for level in measured[max(low - 1, 0) : high + 2] if is_number(level)
        ]
        levels += _halved(stretch, until.resolution, whole)
    return list(dict.fromkeys(levels))


def _halved(stretch: Sequence[float], resolution: float, whole: bool) -> Iterator[Level]:
    for low, high in pairwise(stretch):
        if low > 0 and high - low > resolution * low:
            if whole and high - low > 1:
                yield round((low + high) / 2)
            elif not whole:
                yield from _shortest_between(low, high)


def _shortest_between(low: float, high: float) -> Iterator[float]:
    """The number with the fewest digits in the middle third between two others, the nearest to
    their middle."""
    middle, least = (low + high) / 2, math.floor(math.log10(high))
    for digits in range(MOST_DIGITS):
        near = round(middle, digits - least)
        if abs(near - middle) <= (high - low) / 6:
            yield near
            return
