"""The sentences about settings: the verdict in a line, and how words compare with each other."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from deadzone.explaining.page import page_text
from deadzone.explaining.phases.quantities import axis_label, listing, number, plain_name
from deadzone.explaining.phases.quantities import setting as setting_text
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.explaining.phases.verdict import advice_text
from deadzone.explaining.response_scale import RATIO, ResponseScale
from deadzone.explaining.settings.answering import Answer
from deadzone.explaining.settings.compared import CONFIDENCE, Comparison, comparisons
from deadzone.language.catalogue import Message, join, say
from deadzone.language.tabling import Tabled

TIMES_FROM = 1.0
"""From twice as good on, an improvement is said as a multiple: `3.1 times` reads easier than `210 %`."""


def verdict(answer: Answer, advice: Recommendation) -> Message:
    """What is found, in a line: `Best setting tool zstd (1.00 s); the 2 others are shown to be worse`."""
    worse = int((~advice.table["tied"]).sum())
    tied = len(advice.table) - worse
    key = "settings.none_worse" if not worse else "settings.all_worse" if tied == 1 else "settings.some_worse"
    return join([advice_text(advice), say(key, n=worse, tied=tied)], "; ")


def in_order(answer: Answer, advice: Recommendation) -> pd.DataFrame:
    """The settings as a reader looks for them: along the knob where it has an order, else the best first."""
    has_order = bool(answer.knob_scale.positions) and not answer.others
    return advice.table if has_order else advice.table.sort_values("loss", kind="stable")


def settings_frame(answer: Answer, advice: Recommendation) -> pd.DataFrame:
    """One row a setting, as texts: trials, estimate and interval, how much worse than the best, and the judgement."""
    return pd.DataFrame([_row(answer, advice, row) for row in in_order(answer, advice).to_dict("records")])


def _row(answer: Answer, advice: Recommendation, row: Mapping[Hashable, Any]) -> dict[str, str]:
    estimate, half = float(row["estimate"]), (float(row["high"]) - float(row["low"])) / 2
    low, high = (number(float(row[end]), half) for end in ("low", "high"))
    loss, least, most = (answer.scale.amount_text(float(row[f"loss{end}"])) for end in ("", "_low", "_high"))
    is_best = float(row["loss"]) == 0
    judged = "settings.recommended" if row["setting"] == advice.setting else "settings.may_be"
    return {
        say("settings.setting"): str(row["name"]),
        say("report.trials"): f"{row['n']:,}",
        say("settings.estimate", label=axis_label(answer.response), certainty=advice.confidence): say(
            "settings.with_interval", value=number(estimate, half), low=low, high=high
        ),
        say("settings.worse_by", certainty=advice.confidence): say("settings.best")
        if is_best
        else say("settings.with_interval", value=loss, low=least, high=most),
        say("settings.judged"): say(judged if row["tied"] else "settings.is_worse"),
    }


def page(answer: Answer, advice: Recommendation) -> str:
    """The settings for a terminal: their table, how words compare, the recommendation and what to know."""
    title = say("settings.title", response=axis_label(answer.response), factors=", ".join(answer.factors))
    notes: dict[str, Sequence[str]] = {
        say("settings.compared"): compared_in_words(answer),
        say("summary.recommendation"): [advice.reason, *advice.caveats],
        say("summary.warnings"): list(answer.notes),
    }
    return page_text(title, [Tabled(say("settings.heading"), settings_frame(answer, advice))], notes)


def compared_in_words(answer: Answer) -> list[Message]:
    """How the levels of each word factor compare, a sentence or two for each pair."""
    return [_said(found, answer.scale) for found in comparisons(answer)]


def _said(found: Comparison, scale: ResponseScale) -> Message:
    words = {"best": setting_text(found.best, found.factor), "other": str(found.other)}
    parts: list[Message] = []
    if found.better.all():
        parts.append(
            say("settings.better_everywhere", **words, n=len(found.gain), by=_range(found.gain, scale))
        )
    elif found.better.any():
        where = _where(found, found.better)
        parts.append(
            say("settings.better_at", **words, where=where, by=_range(found.gain[found.better], scale))
        )
    else:
        parts.append(say("settings.not_better", **words, n=len(found.gain)))
    if found.worse.any():
        where = _where(found, found.worse)
        parts.append(say("settings.worse_at", where=where, by=_range(-found.gain[found.worse], scale)))
    if (open_ := ~(found.better | found.worse)).any() and not open_.all():
        parts.append(say("settings.undecided_at", where=_where(found, open_)))
    parts.append(
        say(
            "settings.overall",
            amount=_amount(found.overall, scale),
            low=_amount(found.overall_low, scale),
            high=_amount(found.overall_high, scale),
            confidence=CONFIDENCE,
        )
    )
    if len(found.gain) > 1:
        depends = found.p_same < 1 - CONFIDENCE
        others = listing([plain_name(name) for name in found.contexts[0]])
        parts.append(say("settings.depends" if depends else "settings.same", others=others, p=found.p_same))
    return join(parts)


def _where(found: Comparison, chosen: np.ndarray) -> str:
    """The combinations in words; the levels of a single other factor in a row."""
    contexts = [c for c, is_in in zip(found.contexts, chosen, strict=True) if is_in]
    return listing([_context(context) for context in contexts])


def _context(context: Mapping[str, Any]) -> str:
    return " / ".join(setting_text(level, name) for name, level in context.items())


def _range(gains: np.ndarray, scale: ResponseScale) -> str:
    low, high = _amount(float(gains.min()), scale), _amount(float(gains.max()), scale)
    return low if low == high else say("quantity.range", start=low, stop=high)


def _amount(gain: float, scale: ResponseScale) -> Message:
    """A gain in words: `3.1 times`, `12 %`, or an amount."""
    if scale.kind == RATIO and gain >= np.log1p(TIMES_FROM):
        return say("settings.times", times=float(np.exp(gain)))
    return scale.amount_text(float(scale.amount(np.asarray(gain))))
