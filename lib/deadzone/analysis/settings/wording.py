"""The sentences about settings: what to set in each slice, and how words compare with each other.

Words compared with each other: in each combination of the other factors' levels, and over all of
them.

The best level of a factor is set against each of the others. A difference in one combination is
shown where its interval, of Student's t with the confidence shared out over all comparisons
(Bonferroni), leaves zero out. Whether the difference depends on the other factors is the
interaction: a Wald test that it is the same everywhere.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.analysis.page import Page
from deadzone.analysis.phases.candidates import Candidates
from deadzone.analysis.phases.decision import chosen
from deadzone.analysis.phases.quantities import axis_label, listing, number, plain_name
from deadzone.analysis.phases.quantities import setting as setting_text
from deadzone.analysis.phases.recommend import Recommendation, estimates_table
from deadzone.analysis.response_scale import ResponseScale
from deadzone.analysis.settings.answering import Answer
from deadzone.language.messages import N_, Message, Text, _, join, pgettext, say
from deadzone.language.tabling import Tabled
from deadzone.study.scales import WORDS, scale_of

Contexts = dict[tuple[Any, ...], dict[Any, int]]
"""By the other factors' levels: the position of the setting at each level of a factor."""


@dataclass(frozen=True, eq=False)
class LevelComparison:
    """The best level of a factor beside another one.

    factor, best, other: names. contexts: the other factors' levels of each combination that has
    both. gain, low, high: shape (contexts,), how much better the best one is there on the
    response's scale, with simultaneous bounds. overall: the mean over the combinations, and the
    ends of its own interval. p_same: of the hypothesis that the difference is the same in all
    combinations; nan with one.
    """

    factor: str
    best: Any
    other: Any
    contexts: tuple[Mapping[str, Any], ...]
    gain: np.ndarray
    low: np.ndarray
    high: np.ndarray
    overall: tuple[float, float, float]
    p_same: float

    @property
    def better(self) -> np.ndarray:
        """Where the best level is shown to be better, shape (contexts,)."""
        return self.low > 0

    @property
    def worse(self) -> np.ndarray:
        """Where it is shown to be worse, shape (contexts,)."""
        return self.high < 0


def comparisons(answer: Answer) -> list[LevelComparison]:
    """Each factor whose levels are words, where another factor varies beside it; none for a single
    factor."""
    if not answer.others:
        return []
    factors = [*answer.others, *([answer.knob] if answer.knob_scale.kind == WORDS else [])]
    settings = [dict(setting) for setting in answer.candidates.settings]
    worded = [
        name for name in factors if scale_of(setting[name] for setting in settings).kind == WORDS
    ]
    return [
        sentence for name in worded for sentence in _of_factor(answer.candidates, settings, name)
    ]


def _of_factor(
    candidates: Candidates, settings: list[dict[str, Any]], factor: str
) -> list[LevelComparison]:
    at: Contexts = {}
    for i, setting in enumerate(settings):
        context = tuple((name, level) for name, level in setting.items() if name != factor)
        at.setdefault(context, {})[setting[factor]] = i
    levels = list(dict.fromkeys(setting[factor] for setting in settings))
    whole = [context for context in at.values() if len(context) == len(levels)]
    if len(levels) < 2 or not whole:
        return []
    value = candidates.sign * candidates.estimates.log_response
    best = min(
        levels, key=lambda level: float(np.mean([value[context[level]] for context in whole]))
    )
    others = [level for level in levels if level != best]
    shared = {
        other: [c for c, rows in at.items() if best in rows and other in rows] for other in others
    }
    n = sum(map(len, shared.values()))
    return [
        _compared(candidates, factor, (best, other), {c: at[c] for c in contexts}, n)
        for other, contexts in shared.items()
    ]


def _compared(
    candidates: Candidates,
    factor: str,
    pair: tuple[Any, Any],
    contexts: Contexts,
    n_comparisons: int,
) -> LevelComparison:
    from scipy.special import stdtrit

    best, other = pair
    value = candidates.sign * candidates.estimates.log_response
    df = candidates.estimates.degrees_of_freedom
    contrast = np.zeros((len(contexts), len(value)))
    for row, rows in enumerate(contexts.values()):
        contrast[row, [rows[best], rows[other]]] = -1.0, 1.0
    gain = contrast @ value
    covariance = contrast @ candidates.estimates.covariance @ contrast.T
    half = stdtrit(df, 1 - (1 - CONFIDENCE) / 2 / n_comparisons) * np.sqrt(np.diag(covariance))
    own = float(stdtrit(df, 1 - (1 - CONFIDENCE) / 2) * np.sqrt(covariance.mean()))
    mean = float(gain.mean())
    return LevelComparison(
        factor,
        best,
        other,
        tuple(dict(c) for c in contexts),
        gain,
        gain - half,
        gain + half,
        (mean, mean - own, mean + own),
        _p_same(gain, covariance, df),
    )


def _p_same(gain: np.ndarray, covariance: np.ndarray, df: float) -> float:
    """p-value of the hypothesis that all gains are equal."""
    from scipy.special import fdtrc

    n = len(gain)
    if n < 2:
        return float("nan")
    apart = np.eye(n)[1:] - np.eye(n)[:1]
    off = apart @ gain
    square = float(off @ np.linalg.pinv(apart @ covariance @ apart.T) @ off)
    return float(fdtrc(n - 1, df, square / (n - 1)))


MOST_SLICES = 6
"""Of more slices the verdict names the first and the last; the table has them all."""


def grid_verdict(advice: Recommendation, in_each_slice: Sequence[Recommendation]) -> Message:
    """The setting over all, and what to set under each level of the other factors, in a line."""
    lines = [
        chosen(None if each.setting is None else each.chosen, each.quantity)
        for each in in_each_slice
    ]
    slices = _("By slice: {slices}.", slices=listing(lines, MOST_SLICES)) if len(lines) > 1 else ""
    return join([advice.reason, slices])


def in_order(answer: Answer, advice: Recommendation) -> pd.DataFrame:
    """The settings as a reader looks for them: along the knob where it has an order, else the best
    first."""
    has_order = bool(answer.knob_scale.positions) and not answer.others
    return advice.table if has_order else advice.table.sort_values("loss", kind="stable")


def settings_frame(
    answer: Answer, advice: Recommendation, cores: float | None = None
) -> pd.DataFrame:
    """One row a setting, as texts: trials, estimate and interval, how much worse than the best, and
    the verdict. Settings that are no choice come last. cores: of the machine, beyond which a limit
    is no choice."""
    rows = [
        *in_order(answer, advice).to_dict("records"),
        *_left_out(answer, advice, cores).to_dict("records"),
    ]
    return pd.DataFrame([_row(answer, advice, row) for row in rows])


def _left_out(answer: Answer, advice: Recommendation, cores: float | None) -> pd.DataFrame:
    """The settings of a single factor that the recommendation left out, with their own intervals
    and why they are."""
    every = answer.candidates
    there = list(advice.table["setting"])
    left = [i for i, setting in enumerate(every.settings) if setting not in there]
    if answer.others or not left:
        return pd.DataFrame()
    reasons = np.where(
        np.greater(next(iter(every.columns.values())), cores or np.inf),
        _("beyond the machine"),
        _("no choice"),
    )
    return estimates_table(every, advice.confidence).assign(left_out=reasons).iloc[left]


def _row(answer: Answer, advice: Recommendation, row: Mapping[Hashable, Any]) -> dict[str, str]:
    estimate, half = float(row["estimate"]), (float(row["high"]) - float(row["low"])) / 2
    low, high = (number(float(row[end]), half) for end in ("low", "high"))
    return {
        _("setting"): str(row["name"]),
        pgettext("count", "trials"): f"{row['n']:,}",
        _(
            "{label}, {certainty:percent} interval",
            label=axis_label(answer.response),
            certainty=advice.confidence,
        ): pgettext(
            "estimate",
            "{value} ({low} to {high})",
            value=number(estimate, half),
            low=low,
            high=high,
        ),
        _("worse by ({certainty:percent})", certainty=advice.confidence): _worse_by(answer, row),
        _("verdict"): _judged(advice, row),
    }


def _worse_by(answer: Answer, row: Mapping[Hashable, Any]) -> str:
    if "left_out" in row:
        return "-"
    if float(row["loss"]) == 0:
        return _("best")
    loss, low, high = (
        answer.scale.amount_text(float(row[f"loss{end}"])) for end in ("", "_low", "_high")
    )
    return pgettext("estimate", "{value} ({low} to {high})", value=loss, low=low, high=high)


def _judged(advice: Recommendation, row: Mapping[Hashable, Any]) -> str:
    if "left_out" in row:
        return str(row["left_out"])
    judged = N_("recommended") if row["setting"] == advice.setting else N_("may be the best")
    return say(judged if row["tied"] else N_("worse", context="setting"))


def page(answer: Answer, advice: Recommendation) -> Page:
    """The settings for a terminal: their table, how words compare, the recommendation and what to
    know."""
    slices = [grid_verdict(advice, answer.in_each_slice())] if answer.others else []
    title = _(
        "{response} by {factors}",
        response=axis_label(answer.response),
        factors=", ".join(answer.factors),
    )
    notes: dict[str, Sequence[str]] = {
        _("Compared with each other"): compared_in_words(answer),
        _("Recommended setting"): [*slices, advice.reason, *advice.caveats],
        _("Warnings"): list(answer.notes),
    }
    return Page(
        title, [Tabled(pgettext("table", "Settings"), settings_frame(answer, advice))], notes
    )


def compared_in_words(answer: Answer) -> list[Message]:
    """How the levels of each word factor compare, a sentence or two for each pair."""
    return [_said(comparison, answer.scale) for comparison in comparisons(answer)]


def _said(comparison: LevelComparison, scale: ResponseScale) -> Message:
    words = {
        "best": setting_text(comparison.best, comparison.factor),
        "other": str(comparison.other),
    }
    n, is_open = len(comparison.gain), ~(comparison.better | comparison.worse)

    def at(text: Text, there: np.ndarray, gain: np.ndarray) -> Message:
        return say(
            text, **words, n=n, where=_where(comparison, there), by=_range(gain[there], scale)
        )

    parts: list[Message] = []
    if comparison.better.all():
        parts.append(
            say(
                N_("{best} is better than {other}, by {by}.")
                if n == 1
                else N_("{best} is better than {other} in all {n} combinations, by {by}."),
                **words,
                n=n,
                by=_range(comparison.gain, scale),
            )
        )
    elif comparison.better.any():
        parts.append(
            at(
                N_("{best} is better than {other} at {where}, by {by}."),
                comparison.better,
                comparison.gain,
            )
        )
    else:
        parts.append(
            say(
                N_("{best} is not shown to be better than {other}.")
                if n == 1
                else N_(
                    "{best} is not shown to be better than {other} in any of {n} combinations "
                    "of the other factors."
                ),
                **words,
                n=n,
            )
        )
    if comparison.worse.any():
        parts.append(at(N_("At {where} it is worse, by {by}."), comparison.worse, -comparison.gain))
    if is_open.any() and not is_open.all():
        parts.append(_("Undecided at {where}.", where=_where(comparison, is_open)))
    amount, low, high = (scale.loss_text(loss) for loss in comparison.overall)
    parts.append(
        _(
            "Over all, it is better by {amount} ({confidence:percent} interval {low} to {high}).",
            amount=amount,
            low=low,
            high=high,
            confidence=CONFIDENCE,
        )
    )
    if len(comparison.gain) > 1:
        depends = comparison.p_same < 1 - CONFIDENCE
        others = listing([plain_name(name) for name in comparison.contexts[0]])
        parts.append(
            say(
                N_("How much depends on {others} ({p:p_equals}).")
                if depends
                else N_("The difference is not shown to depend on {others} ({p:p_equals})."),
                others=others,
                p=comparison.p_same,
            )
        )
    return join(parts)


def _where(comparison: LevelComparison, chosen: np.ndarray) -> str:
    """The combinations in words; the levels of a single other factor in a row."""
    contexts = [c for c, is_in in zip(comparison.contexts, chosen, strict=True) if is_in]
    return listing(
        [" / ".join(setting_text(level, name) for name, level in c.items()) for c in contexts]
    )


def _range(gains: np.ndarray, scale: ResponseScale) -> str:
    low, high = scale.loss_text(float(gains.min())), scale.loss_text(float(gains.max()))
    return low if low == high else _("{start} to {stop}", start=low, stop=high)
