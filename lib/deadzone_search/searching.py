"""`search`: which cells of several knobs to measure next, and what the trials so far say.

One budget of trials is spent in three stages: a screen of all knobs, a search where most is to be
gained, and fresh, interleaved blocks of the winner, two runners-up and the baseline, on which alone
the verdict rests. The best single value of a search flatters its cell, for of many cells one is the
luckiest (Freischuetz et al. 2025, TUNA, EuroSys). A second budget goes along each live knob,
through the setting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.phases.roles import check_column, of_levels
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE
from deadzone.analysis.settings.answering import answer
from deadzone.analysis.trial_columns import is_well, marked
from deadzone.errors import PhaseError
from deadzone.language.messages import N_, join, say
from deadzone.plugins import Message, _, listing
from deadzone.study.direction import direction_of
from deadzone.study.scales import WORDS
from deadzone_search.along import curves_along, lines_of, next_along, told_along
from deadzone_search.screening import effects, screening_design
from deadzone_search.space import Space, space_of
from deadzone_search.surrogate import Surrogate

if TYPE_CHECKING:
    import deadzone as dz

Stage = Literal["screen", "search", "confirm", "along", "done"]

BASELINES = 3
"""Trials of the baseline in the screen; they show the noise."""

SPARE = 3
"""Trials of the screen beyond the effects that it tells apart."""

BLOCK = 8
"""Trials of a block of the search, one of the baseline among them."""

MOST_TRIALS = 2
"""Of a cell before its confirmation; the model learns as much from its neighbours."""

FINALISTS = 3
"""The winner of the search and two runners-up."""

A_BLOCK_OF = 25
"""For so many trials one block is a confirmation, and LEAST_BLOCKS are in any case."""

LEAST_BLOCKS = 3

MOST_FAILURES = 0.5
"""A response that fails in more of the trials says nothing of what is best."""

COVERAGE = 0.95
"""Of intervals."""

Z = 1.5 * float(norm.ppf(0.5 + COVERAGE / 2))
"""Standard errors of an interval: half as many again as of a normal, for the process takes the
lengths that it was fitted with for known. Of 80 planted effects 84 % were held without that."""


@dataclass(frozen=True, eq=False)
class KnobSearch:
    """What is known of a search, and what to measure next.

    stage: screen, search, confirm, along or done. ask: the next trials in the order to run them, a
    column a knob and `stage`; none once it is done. trials: one row a trial that counts, of the
    first three stages: the columns it came with, and `best`, `best_low`, `best_high`: what the best
    cell of those until then is held to be now. verdict: in a sentence or two. effects: what each
    knob does: knob, from, to, effect (how many times better), low, high, verdict (live, inert,
    undecided). cells: the measured cells, the best first: the knobs, n, estimate, low, high.
    recommendation: by the confirmation alone; None before. setting: the levels to set; None before.
    told: what it gains and which knobs matter, in sentences; empty before. gain, gain_low,
    gain_high: how many times better than the baseline it is, by the confirmation; nan before.
    curves: by knob, its phases with the others as set.
    """

    stage: Stage
    ask: pd.DataFrame
    trials: pd.DataFrame
    verdict: str
    effects: pd.DataFrame = field(default_factory=pd.DataFrame)
    cells: pd.DataFrame = field(default_factory=pd.DataFrame)
    recommendation: Recommendation | None = None
    setting: dict[str, Any] | None = None
    told: str = ""
    gain: float = float("nan")
    gain_low: float = float("nan")
    gain_high: float = float("nan")
    curves: Mapping[str, dz.PhaseModel] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.verdict

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.verdict)}</p>"


@dataclass(frozen=True, eq=False)
class _Plan:
    """The trials of a search: cells of the screen, and how many of each stage."""

    baseline: int
    trials: int
    seed: int
    screen: list[int]
    blocks: int

    @classmethod
    def of(cls, space: Space, baseline: int, trials: int, seed: int) -> _Plan:
        """The plan of so many trials. Raises PhaseError where they are too few."""
        n, blocks = check_trials(space, trials)
        first = [baseline] * BASELINES
        screen = [*first, *screening_design(space, n, first, seed)]
        mixed = np.random.default_rng(seed).permutation(screen)
        return cls(baseline, trials, seed, [int(cell) for cell in mixed], blocks)

    def next(
        self, stages: pd.Series, tried: np.ndarray, learned: Surrogate, barred: np.ndarray,
        least_gain: float,
    ) -> tuple[Stage, list[int]]:  # fmt: skip
        """The stage, and the cells of its next trials."""
        rng = np.random.default_rng([self.seed, len(tried)])
        if left := _left(self.screen, tried[stages.eq("screen")]):
            return "screen", left
        confirmed = tried[stages.eq("confirm")]
        finalists = self.blocks * (FINALISTS + 1)
        room = self.trials - finalists - (len(tried) - len(confirmed))
        if room > 0 and not len(confirmed):
            n = min(BLOCK, room)
            cells, gain = learned.most_promising(max(n - 1, 1), barred)
            if gain >= least_gain or not stages.eq("search").any():
                block = [*cells, self.baseline][:n]
                return "search", [int(cell) for cell in rng.permutation(block)]
        rng = np.random.default_rng(self.seed)
        best = [cell for cell in learned.ranked() if cell != self.baseline][:FINALISTS]
        blocks = [rng.permutation([*best, self.baseline]) for _block in range(self.blocks)]
        left = _left([int(cell) for cell in np.concatenate(blocks)], confirmed)
        return ("confirm", left) if left else ("done", [])


def check_trials(space: Space, trials: int) -> tuple[int, int]:
    """The trials of the screen beside the baseline, and the blocks of the confirmation, of so many
    in all. Raises PhaseError where they are too few."""
    blocks = max(LEAST_BLOCKS, trials // A_BLOCK_OF)
    n = space.x.shape[1] + SPARE
    least = BASELINES + n + BLOCK + blocks * (FINALISTS + 1)
    if trials < least:
        raise PhaseError(
            f"trials is {trials}; a search of {len(space.knobs)} knobs takes {least} or more: "
            f"{BASELINES + n} of the screen, {BLOCK} of the search, and the confirmation. Set "
            f"`trials` to {least}, or search fewer knobs."
        )
    return n, blocks


def _left(planned: Sequence[int], tried: np.ndarray) -> list[int]:
    """The planned cells that were not tried yet, in their order."""
    done = Counter(map(int, tried))
    left = []
    for cell in planned:
        done[cell] -= 1
        if done[cell] < 0:
            left.append(cell)
    return left


def search(
    frame: pd.DataFrame | None,
    factors: Mapping[str, Sequence[Any]] | pd.DataFrame,
    response: str,
    goal: str | None = None,
    *,
    baseline: Mapping[str, Any] | None = None,
    where: str | None = None,
    when: Mapping[str, Mapping[str, Any]] | None = None,
    trials: int = 60,
    gain: float = 0.01,
    tolerance: float = PRACTICAL_TOLERANCE,
    along: int = 24,
    seed: int = 1,
) -> KnobSearch:
    """The next trials of a search over several knobs, and its verdict once they are confirmed.

    frame: the trials so far, one a row, with the columns of `ask` and the response; None before the
    first. `status`, `trusted` and `warmup` are heeded as by `fit_phases`. factors: the levels of
    each knob, or a frame of the cells that there are. response: a positive column. goal: "min" or
    "max", by default what its name says. baseline: the levels in force today, by default the first
    of each; measured in every block. where: what cells must meet, such as `workers * memory_mb <=
    8192`. when: by knob, the levels of others without which it has no effect, such as {"cache_mb":
    {"table": "cached"}}. trials: of the three stages in all. gain: the search ends where another
    block of trials is expected to gain less, a share. tolerance: a share that does not matter.
    along: most trials of the sweeps along the live knobs, beyond `trials`; 0 for none. seed: the
    same trials and seed always give the same answer.

    Raises PhaseError for knobs, conditions, a baseline or a budget with which nothing can be
    searched, where the baseline fails, and where most trials fail.
    """
    space, base = space_of(factors, baseline, where, when, seed)
    goal = direction_of(response, goal).goal
    plan = _Plan.of(space, base, trials, seed)
    told = _told(frame, space, response)
    is_along, every_count = told["stage"].eq("along"), _counts(told, response)
    chosen_by, counts = told[~is_along], every_count[~is_along]
    tried, stages = _tried(chosen_by, space), chosen_by["stage"]
    _refuse_failures(space, tried, counts, base)
    rows = chosen_by[counts].reset_index(drop=True)
    cell, fresh = tried[counts], rows["stage"].eq("confirm").to_numpy()
    if fresh.all():
        left = _left(plan.screen, tried[stages.eq("screen")])
        ask = _asked(space.cells.iloc[left], "screen")
        said = _("The screen begins: measure the {n:count} trials of `ask`.", n=len(ask))
        return KnobSearch("screen", ask, rows, said)
    value = np.log(rows[response].to_numpy(float)) * (1 if goal == "min" else -1)
    before, seen = cell[~fresh], value[~fresh]
    learned = Surrogate.of(space.x, before, seen)
    # what is worse than the median says no more of the best than that, however bad it is
    guide = Surrogate.of(space.x, before, np.minimum(seen, np.median(seen)))
    repeated = np.flatnonzero(np.bincount(tried) >= MOST_TRIALS)
    barred = np.union1d(np.setdiff1d(tried[~counts], tried[counts]), repeated)
    stage, cells = plan.next(stages, tried, guide, barred, float(np.log1p(gain)))
    ask = _asked(space.cells.iloc[cells], stage)
    best = guide.ranked()
    knobs = effects(space, learned, best[0], tolerance, Z, seed)
    table = _cells(space, learned, tried[counts], goal)
    history = rows.assign(**_history(learned, cell, goal))
    if stage != "done":
        said = _(
            "Best so far, not confirmed: {cell}. Measure the {n:count} trials of `ask`.",
            cell=space.named(best[0]),
            n=len(ask),
        )
        return KnobSearch(stage, ask, history, said, knobs, table)
    *others, knob = space.knobs  # by the confirmation alone, whose cells are compared as words are
    advice = answer(rows[fresh], knob, response, goal, by=others, scale=WORDS).recommend()
    setting = dict(advice.setting or {})
    chosen = int(space.rows_of(pd.DataFrame([setting], dtype=object))[0]) if setting else base
    gained = _gain(cell[fresh], value[fresh], chosen, base)
    lines = lines_of(space, knobs, chosen) if setting and along else {}
    curves = curves_along(told[every_count], lines, response, goal)
    more = next_along(told, lines, response, goal, along - int(is_along.sum()), seed)
    if len(more):
        stage, ask = "along", _asked(more, "along")
    along_them = told_along(curves, setting)
    by_how_much = _told_gain(*gained, chosen == base) if setting else ""
    words = join([by_how_much, _told_knobs(knobs), along_them])
    said = join([advice.reason, words])
    return KnobSearch(
        stage, ask, history, said, knobs, table, advice, setting or None, words, *gained, curves
    )


def _told(frame: pd.DataFrame | None, space: Space, response: str) -> pd.DataFrame:
    """The trials with every column that is needed. Raises PhaseError where one is not there."""
    if frame is None or (isinstance(frame, pd.DataFrame) and frame.empty):
        return pd.DataFrame(columns=[*space.knobs, "stage", response])
    for name in (*space.knobs, response):
        check_column(frame, name)
    told = frame.reset_index(drop=True)
    told = told if "stage" in told else told.assign(stage="search")
    told[response] = pd.to_numeric(told[response], errors="coerce")
    return told


def _tried(told: pd.DataFrame, space: Space) -> np.ndarray:
    """The cell of each trial, shape (trials,). Raises PhaseError for one of none."""
    tried = space.rows_of(told)
    stray = np.flatnonzero(tried < 0)
    if len(stray):
        at = told.index[stray[0]]
        cell = of_levels(space.knobs, told.loc[at, space.knobs])
        raise PhaseError(f"Row {at} has {cell}, which is not one of the cells of `factors`.")
    return tried


def _counts(told: pd.DataFrame, response: str) -> np.ndarray:
    """Which trials count, shape (trials,)."""
    sound = is_well(told) & marked(told, "trusted", True) & ~marked(told, "warmup", False)
    return (sound & (told[response] > 0)).to_numpy(bool)


def _refuse_failures(space: Space, tried: np.ndarray, counts: np.ndarray, base: int) -> None:
    of_baseline = tried == base
    if of_baseline.sum() >= BASELINES and not counts[of_baseline].any():
        raise PhaseError(
            f"The baseline, {space.named(base)}, fails or is not trusted in all of its "
            f"{int(of_baseline.sum())} trials. Fix it, or give `baseline` levels that work."
        )
    if len(tried) >= BLOCK and counts.mean() < 1 - MOST_FAILURES:
        raise PhaseError(
            f"{int((~counts).sum())} of {len(tried)} trials failed or are not trusted. Leave the "
            "cells that cannot work out with `where`."
        )


def _asked(cells: pd.DataFrame, stage: Stage) -> pd.DataFrame:
    return cells.reset_index(drop=True).assign(stage=stage)


def _cells(space: Space, learned: Surrogate, cell: np.ndarray, goal: str) -> pd.DataFrame:
    """The measured cells, the best first."""
    mean, deviation, order = learned.mean, learned.deviation, learned.ranked()
    return space.cells.iloc[order].reset_index(drop=True).assign(
        n=np.bincount(cell, minlength=len(mean))[order],
        **_interval(mean[order], deviation[order], goal, ("estimate", "low", "high")),
    )  # fmt: skip


def _history(learned: Surrogate, cell: np.ndarray, goal: str) -> dict[str, np.ndarray]:
    """What the best cell until each trial is held to be, by all that is known now."""
    mean, deviation = learned.mean, learned.deviation
    best = [cell[: i + 1][np.argmin(mean[cell[: i + 1]])] for i in range(len(cell))]
    return _interval(mean[best], deviation[best], goal, ("best", "best_low", "best_high"))


def _interval(
    mean: np.ndarray, deviation: np.ndarray, goal: str, names: Sequence[str]
) -> dict[str, np.ndarray]:
    """A mean with its interval as responses. mean, deviation: less is better [ln]."""
    sign = 1 if goal == "min" else -1
    ends = (mean, mean - sign * Z * deviation, mean + sign * Z * deviation)
    return {name: np.exp(sign * end) for name, end in zip(names, ends, strict=True)}


def _gain(
    cell: np.ndarray, value: np.ndarray, chosen: int, base: int
) -> tuple[float, float, float]:
    """How many times better than the baseline the setting is, with its interval: the cells of a
    block share its drift (two-way analysis of variance)."""
    cells = [*dict.fromkeys(cell.tolist())]
    if chosen == base or not {chosen, base} <= {*cells}:
        return (np.nan,) * 3
    block = pd.Series(cell).groupby(cell).cumcount().to_numpy()
    model = np.column_stack(
        [*(cell == one for one in cells), *(block == b for b in np.unique(block)[1:])]
    ).astype(float)
    inverse = np.linalg.pinv(model.T @ model)
    fitted = inverse @ model.T @ value
    freedom = len(value) - np.linalg.matrix_rank(model)
    if freedom < 1:
        return (np.nan,) * 3
    contrast = np.zeros(model.shape[1])
    contrast[cells.index(base)], contrast[cells.index(chosen)] = 1, -1
    noise = float(((value - model @ fitted) ** 2).sum()) / freedom
    reach = float(
        t.ppf(0.5 + COVERAGE / 2, freedom) * np.sqrt(noise * contrast @ inverse @ contrast)
    )
    gain = float(contrast @ fitted)
    return float(np.exp(gain)), float(np.exp(gain - reach)), float(np.exp(gain + reach))


def _told_gain(gain: float, low: float, high: float, is_baseline: bool) -> Message:
    if is_baseline:
        return _("It is the baseline: no other cell of the confirmation is shown to be better.")
    if not low > 1:
        return _("It is not shown to be better than the baseline.")
    return _(
        "It is {gain:number} times better than the baseline ({low:number} to {high:number}).",
        gain=gain, low=low, high=high,
    )  # fmt: skip


def _told_knobs(knobs: pd.DataFrame) -> Message:
    """Which knobs matter, and which do not."""
    named = {"live": N_("Live: {knobs}."), "inert": N_("Without effect: {knobs}.")}
    said = [
        say(text, knobs=listing([*knobs.loc[knobs["verdict"].eq(verdict), "knob"]]))
        for verdict, text in named.items()
        if knobs["verdict"].eq(verdict).any()
    ]
    return join(said)
