"""The conclusions of the study `thread-pools`, judged by its own figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from deadzone.language.catalogue import say
from deadzone.explaining.phases.quantities import listing
from deadzone.reports.published.reference_checks import figure
from deadzone.explaining.claims.judging import Judged
from deadzone.explaining.claims.verdicts import Verdict
from deadzone.language.numbers import printed

if TYPE_CHECKING:
    from deadzone.explaining.phases.model import PhaseModel
    from deadzone.reports.thread_pool.pools import Channel
    from deadzone.reports.published.published import Published

CALM_RATE = 200.0
"""The rate of new connections up to which the author calls the service stable [connections/s]."""


def judge(published: Published, inbound: Channel, outbound: Channel, spike: PhaseModel) -> tuple[Judged, ...]:
    """All conclusions, in the order of the document. spike: longest connection time over new connections a second."""
    return (
        _best(inbound),
        _reversal(inbound),
        _target(inbound),
        _best(outbound),
        _reversal(outbound),
        _target(outbound),
        _steady(outbound),
        _cause(inbound),
        _mean(published),
        _spike(published, spike),
        _game(published),
        _cold_start(published),
    )


def _best(channel: Channel) -> Judged:
    """Whether the author's pool is best at the rates measured."""
    best = [rate for rate in channel.advice if channel.best_at(rate) == [channel.chosen]]
    others = {rate: channel.advice[rate] for rate in channel.advice if rate not in best}
    found = say(
        "pool_claims.best_found",
        size=channel.chosen,
        rates=_rates(best),
        others=listing(
            [say("pool_claims.at", rate=f"{rate:,g}", size=str(advice.setting)) for rate, advice in others.items()]
        ) if others else say("quantity.none"),
    )  # fmt: skip
    verdict: Verdict = "supported" if not others else "partly" if best else "contradicted"
    claim = say("pool_claims.best", channel=channel.title, size=channel.chosen)
    return Judged(f"{channel.name}-best", claim, found, verdict, (channel.name, f"{channel.name}-table"))


def _reversal(channel: Channel) -> Judged:
    """Whether more threads than the author's pool hurt."""
    sizes = channel.rows["pool_size"]
    next_size = float(sizes[sizes > channel.chosen].min())
    there = [rate for rate, start in channel.reversals().items() if start == channel.chosen]
    found = say(
        "pool_claims.reversal_found" if there else "pool_claims.no_reversal_found",
        rates=_rates(there),
        without=_rates([rate for rate in channel.advice if rate not in there]),
        size=channel.chosen,
    )
    verdict: Verdict = "partly" if there else "contradicted"
    claim = say("pool_claims.reversal", channel=channel.title, size=f"{next_size:g}")
    return Judged(f"{channel.name}-reversal", claim, found, verdict, (channel.name, f"{channel.name}-table"))


def _target(channel: Channel) -> Judged:
    """Whether the author's pool meets the target at the rate wanted, which was not measured."""
    below, above = channel.around()
    low, high = (channel.value(rate, channel.chosen) for rate in (below, above))
    share = np.log(channel.wanted / below) / np.log(above / below)
    between = float(np.exp(np.log(low) + share * np.log(high / low)))
    found = say(
        "pool_claims.target_found" if max(low, high) > channel.target else "pool_claims.target_met_found",
        wanted=f"{channel.wanted:,g}",
        below=f"{below:,g}",
        low=printed(low),
        above=f"{above:,g}",
        high=printed(high),
        target=printed(channel.target),
        between=f"{between:.0f}",
    )
    claim = say(
        "pool_claims.target",
        channel=channel.title,
        size=channel.chosen,
        wanted=f"{channel.wanted:,g}",
        target=printed(channel.target),
    )
    verdict: Verdict = "undecided" if max(low, high) > channel.target else "partly"
    return Judged(f"{channel.name}-target", claim, found, verdict, (f"{channel.name}-map",))


def _steady(channel: Channel) -> Judged:
    high = [rate for rate in channel.advice if rate > channel.around()[1] or rate == channel.around()[1]]
    values = {rate: channel.value(rate, channel.chosen) for rate in high}
    missed = [rate for rate, value in values.items() if value > channel.target]
    found = say(
        "pool_claims.steady_found" if missed else "pool_claims.steady_met",
        values=listing(
            [
                say("pool_claims.ms_at", value=printed(value), rate=f"{rate:,g}")
                for rate, value in values.items()
            ]
        ),
        missed=_rates(missed) if missed else "-",
        target=printed(channel.target),
    )
    claim = say("pool_claims.steady", channel=channel.title, size=channel.chosen, rates=_rates(high))
    return Judged("steady", claim, found, "partly" if missed else "supported", (f"{channel.name}-map",))


def _cause(channel: Channel) -> Judged:
    return Judged("cause", say("pool_claims.cause"), say("pool_claims.cause_found"), "undecided")


def _mean(published: Published) -> Judged:
    target = figure(published.table("targets"), "claimed_value", quantity="latency_mean_ms")
    return Judged(
        "mean",
        say("pool_claims.mean", target=printed(target)),
        say("pool_claims.mean_found"),
        "undecided",
    )


def _spike(published: Published, spike: PhaseModel) -> Judged:
    rows = published.table("connection-spike")
    last = spike.phases.iloc[-1]
    found = say(
        "pool_claims.spike_found",
        knee=f"{float(last['start']):g}",
        low=f"{float(last['start_low']):g}",
        high=f"{float(last['start_high']):g}",
        busy=int(rows.set_index("connection_rate")["tomcat_threads"].loc[300]),
        failing=f"{rows.loc[rows['failed_percent'] > 0, 'connection_rate'].min():g}",
    )
    verdict: Verdict = (
        "supported" if last["label"] == "reversal" and float(last["start"]) == CALM_RATE else "partly"
    )
    return Judged("spike", say("pool_claims.spike", rate=f"{CALM_RATE:g}"), found, verdict, ("spike",))


def _game(published: Published) -> Judged:
    rows = published.table("game-pool")
    sizes = rows["pool_size"].nunique()
    found = say("pool_claims.game_found", wall=printed(float(rows["wall_s"].iloc[0])), sizes=sizes)
    return Judged("game", say("pool_claims.game"), found, "partly" if sizes == 1 else "supported")


def _cold_start(published: Published) -> Judged:
    value = published.table("cold-start").set_index("state")["latency_ms"]
    found = say(
        "pool_claims.cold_found",
        warm=printed(float(value["warm"])),
        cold=printed(float(value["just_restarted"])),
    )
    return Judged("cold-start", say("pool_claims.cold"), found, "undecided")


def _rates(rates: list[float] | pd.Index) -> str:
    return listing([f"{rate:,g}" for rate in rates]) if len(rates) else say("quantity.none")
