"""What a reader of a table must know before its curve: rows that do not count, nodes that differ,
and levels that are few."""

import re

import numpy as np
import pandas as pd

from deadzone.analysis.phases.censored import is_bound
from deadzone.analysis.phases.nodes import node_effects
from deadzone.analysis.trial_columns import marked
from deadzone.errors import PhaseError
from deadzone.language.messages import N_, Message, _, ngettext, say

LEFT_OUT = {
    "status": N_("did not end with status 'ok'"),
    "warmup": N_("were warm-up"),
    "trusted": N_("are not trusted"),
}


ONE_TRIAL_A_LEVEL = N_(
    "Every level has one trial: the noise is estimated from how far the points lie from the curve. "
    "Measure each level three times or more."
)
"""A doubt about the curve and about a setting alike."""

MOST_NAMED = 4
"""So many nodes are named in a sentence."""


def usable(
    table: pd.DataFrame, response: str, keep_untrusted: bool
) -> tuple[pd.DataFrame, list[Message]]:
    """Leave out what the table itself marks as not to be analysed."""
    sound = (
        {"status": table["status"].eq("ok") | is_bound(table, response)}
        if "status" in table
        else {}
    )
    sound["warmup"] = ~marked(table, "warmup", False)
    sound["trusted"] = marked(table, "trusted", True) | keep_untrusted
    notes = []
    keep = np.ones(len(table), dtype=bool)
    for column, good in sound.items():
        if left_out := int((keep & ~good.to_numpy()).sum()):
            reason = say(LEFT_OUT[column])
            notes.append(
                ngettext(
                    "{n:count} of {trials:count} trials {reason} and is left out of the fit.",
                    "{n:count} of {trials:count} trials {reason} and are left out of the fit.",
                    n=left_out,
                    trials=len(table),
                    reason=reason,
                )
            )
        keep &= good.to_numpy()
    if not keep.any():
        raise PhaseError(
            f"No trial is left to analyse of {len(table)}: "
            f"{' '.join(notes) or 'the table is empty.'}"
        )
    return table[keep], notes


CANNOT_BE_NEGATIVE = re.compile(
    r"(?i)(^|_)(s|sec|seconds|ms|us|ns|time|latency|duration|elapsed|rate|rps|tps|qps|throughput|ops|bytes|count|requests|"
    r"[kmgt]i?b|[kmgt]?flops|per|cycles|p\d+)(_|$)"
)
"""Names of times, rates, sizes and counts."""


def below_zero(table: pd.DataFrame, response: str) -> pd.Series:
    """Which rows hold a number below zero that stands for a failed measurement: some, not most, of
    a time, rate or count."""
    values = pd.to_numeric(table[response], errors="coerce")
    wrong = values < 0
    is_known = CANNOT_BE_NEGATIVE.search(response) and not re.search(
        r"(?i)change|diff|delta|gain|loss", response
    )
    return wrong if is_known and 2 * wrong.sum() < values.notna().sum() else wrong & False


def without_nodes(
    table: pd.DataFrame, level: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, list[Message]]:
    """Take what the nodes of a cluster differ by off the trials, where they ran on several."""
    if "node" not in table or table["node"].isna().any() or table["node"].nunique() < 2:
        return value, []
    names = sorted(map(str, table["node"].unique()))
    shown = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
    effects = node_effects(level, table["node"].to_numpy(), value)
    if effects is None:
        return value, [
            _(
                "The trials ran on {n} nodes ({names}), which share too few levels: what a node "
                "does to the response cannot be told from what the knob does.",
                n=len(names),
                names=shown,
            )
        ]
    sentence = _(
        "The trials ran on {n} nodes ({names}) that differ by {spread:.1%}; that difference is "
        "taken off each trial before the fit.",
        n=len(names),
        names=shown,
        spread=float(np.expm1(np.ptp(effects))),
    )
    return value - effects, [sentence]


def doubts_of_sample(
    levels: np.ndarray, level: np.ndarray, values: np.ndarray, response: str
) -> list[Message]:
    counts = np.bincount(level)
    doubts = []
    if len(levels) < 6:
        doubts.append(
            _(
                "There are only {levels} levels; joints are known to a step at best.",
                levels=len(levels),
            )
        )
    if counts.max() == 1:
        doubts.append(say(ONE_TRIAL_A_LEVEL))
    elif counts.min() == 1:
        doubts.append(
            ngettext(
                "{n} of {levels} levels has a single trial.",
                "{n} of {levels} levels have a single trial.",
                n=int((counts == 1).sum()),
                levels=len(levels),
            )
        )
    if values.max() / values.min() > 1e6:
        factor = float(values.max() / values.min())
        doubts.append(
            _(
                "{response} spans a factor of {factor:number}; check that all rows share a unit.",
                response=response,
                factor=factor,
            )
        )
    return doubts
