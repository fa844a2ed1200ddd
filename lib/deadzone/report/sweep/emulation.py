"""What a reader must know of CPU limits that were emulated: that they were, and how well they were
held."""

import pandas as pd

from deadzone.analysis.phases.quantities import listing, percent, setting
from deadzone.language.messages import Message, _
from deadzone.study.levels import Level

PERIOD_S = 0.1
"""A trial may begin in the middle of a period, and so have one quota more than its duration tells,
as in a kernel [s]."""

HELD = 1.05
"""More than this share of the limit, one period's quota apart, and the program was not held to
it."""


def emulation_doubts(trials: pd.DataFrame, limit: Level, cores: int | None) -> list[Message]:
    """Sentences about a run whose limits were emulated.

    trials: a tidy table. limit: of every trial, where the table has no column of it. cores: of the
    machine.
    """
    ended = trials[trials["status"] == "ok"]
    asked = ended["cpu_limit"] if "cpu_limit" in ended else pd.Series(limit, ended.index)
    limits = pd.to_numeric(asked, errors="coerce")
    used_s = ended["user_s"] + ended["sys_s"]
    share = used_s / (limits * ended["wall_s"])
    over = used_s > HELD * limits * (ended["wall_s"] + PERIOD_S)
    sentences = [
        _(
            "The CPU limits were emulated: the program was stopped and continued in turns, in "
            "place of a quota of the kernel. Any user may do that. The time in which it was "
            "stopped counts as throttled."
        )
    ]
    if over.any():
        most = percent(share[over].max())
        sentences.append(
            _(
                "It could not be held to {limits}: there it used up to {most} of its limit, as "
                "programs of very many short processes can. Do not rely on the results there.",
                limits=_named(limits[over]),
                most=most,
            )
        )
    if cores and (limits > cores).any():
        sentences.append(
            _(
                "{limits} held nothing back, for this machine has {cores}.",
                limits=_named(limits[limits > cores]),
                cores=cores,
            )
        )
    return sentences


def _named(limits: pd.Series) -> str:
    return listing([setting(value, "cpu_limit") for value in sorted(limits.unique())])
