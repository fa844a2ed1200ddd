"""What is said of settings: what to set in each slice, and what is known of each."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.page import Page
from deadzone.analysis.phases.decision import chosen
from deadzone.analysis.phases.quantities import axis_label, listing, number, unit_for
from deadzone.analysis.phases.recommend import Recommendation, estimates_table
from deadzone.analysis.phases.roles import of_levels
from deadzone.analysis.settings.answering import Answer
from deadzone.language.messages import N_, Message, _, join, pgettext, say
from deadzone.language.tabling import Tabled

MOST_SLICES = 6
"""Of more slices the verdict names the first and the last; the table has them all."""


def grid_verdict(advice: Recommendation, in_each_slice: Sequence[Recommendation]) -> Message:
    """The setting over all, and what to set under each level of the other factors, in a line."""
    lines = [
        _without(each) if each.setting is None else chosen(each.chosen, each.quantity, each.unit)
        for each in in_each_slice
    ]
    has_one = any(each.setting is not None for each in in_each_slice)
    are_told = has_one and (len(lines) > 1 or advice.setting is None)
    slices = _("By slice: {slices}.", slices=listing(lines, MOST_SLICES)) if are_told else ""
    return join([advice.reason, slices])


def _without(each: Recommendation) -> str:
    *levels, _knob = each.table["setting"].iloc[0].items()
    return _("{slice}: no setting", slice=of_levels(*zip(*levels, strict=True)))


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
    every, there = answer.candidates, list(advice.table["setting"])
    left = [i for i, setting in enumerate(every["setting"]) if setting not in there]
    if answer.others or not left or advice.quantity != every.response:
        return pd.DataFrame()
    beyond = np.greater(every.levels, cores or np.inf)
    reasons = np.where(beyond, _("beyond the machine"), _("no choice"))
    return estimates_table(every, advice.confidence).assign(left_out=reasons).iloc[left]


def _row(answer: Answer, advice: Recommendation, row: Mapping[Hashable, Any]) -> dict[str, str]:
    largest = float(advice.table["estimate"].max())
    sure, about = {"certainty": advice.confidence}, (advice.quantity, largest, advice.unit)
    label, size = axis_label(*about), unit_for(*about)[0]
    # Of a single noisy trial the half is many times the estimate, which keeps two digits.
    half = min((float(row["high"]) - float(row["low"])) / 2, abs(float(row["estimate"])) or np.inf)
    half /= size
    estimate, low, high = (
        number(float(row[name]) / size, half) for name in ("estimate", "low", "high")
    )
    spread = N_("{value} ({low} to {high})", context="estimate")
    if "left_out" in row:
        worse, verdict = "-", str(row["left_out"])
    else:
        loss, least, most = (
            answer.candidates.scale.amount_text(float(row[f"loss{end}"]))
            for end in ("", "_low", "_high")
        )
        worse = say(spread, value=loss, low=least, high=most) if row["loss"] else _("best")
        is_it = row["setting"] == advice.setting
        verdict = _("recommended") if is_it else said_of(advice, row)
        if is_it and advice.goal == "targets" and row.get("chance", 1.0) < advice.confidence:
            verdict = _("comes nearest")
    return {
        _("setting"): str(row["name"]),
        pgettext("count", "trials"): f"{row['n']:,}",
        _("{label}, {certainty:exact_percent} interval", label=label, **sure): say(
            spread, value=estimate, low=low, high=high
        ),
        _("worse by ({certainty:exact_percent})", **sure): worse,
        _("verdict"): verdict,
    }


def said_of(advice: Recommendation, row: Mapping[Any, Any] | pd.Series) -> str:
    """What is said of a setting that is not the recommended one."""
    if advice.is_withheld:
        return _("no choice")
    if not advice.is_of_best:
        return _("does what was asked") if row["tied"] else _("does not do what was asked")
    return _("may be the best") if row["tied"] else pgettext("setting", "worse")


def page(answer: Answer, advice: Recommendation) -> Page:
    """The settings for a terminal, and what to know of them."""
    factors = ", ".join(answer.factors)
    label = axis_label(advice.quantity, of_cells=advice.unit)
    table = Tabled(pgettext("table", "Settings"), settings_frame(answer, advice))
    notes: dict[str, Sequence[str]] = {_("Warnings"): answer.notes}
    return Page(_("{response} by {factors}", response=label, factors=factors), [table], notes)
