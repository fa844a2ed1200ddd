"""What the conclusions of the study `thread-pools` are judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deadzone.explaining.phases.quantities import listing
from deadzone.language.catalogue import say
from deadzone.language.numbers import printed

if TYPE_CHECKING:
    from deadzone.explaining.phases.model import PhaseModel
    from deadzone.reports.thread_pool.pools import Channel


def facts(inbound: Channel, outbound: Channel, spike: PhaseModel) -> dict[str, Any]:
    """What the author's conclusions are judged by. spike: longest connection time over new connections a second."""
    last = spike.phases.iloc[-1]
    return {
        "inbound": _channel(inbound),
        "outbound": _channel(outbound),
        "is_reversal": last["label"] == "reversal",
        "knee": float(last["start"]),
        "knee_low": float(last["start_low"]),
        "knee_high": float(last["start_high"]),
    }


def _channel(channel: Channel) -> dict[str, Any]:
    """Of one channel: where the author's pool is best, where more hurt, and the target at the wanted rate.

    The wanted rate was not measured; between its neighbours stands what a straight line on log-log axes would give.
    """
    best = [rate for rate in channel.advice if channel.best_at(rate) == [channel.chosen]]
    others = {rate: one.setting for rate, one in channel.advice.items() if rate not in best}
    turning = [rate for rate, start in channel.reversals().items() if start == channel.chosen]
    sizes = channel.rows["pool_size"]
    below, above = channel.around()
    low, high = (channel.value(rate, channel.chosen) for rate in (below, above))
    share = np.log(channel.wanted / below) / np.log(above / below)
    heavy = {rate: channel.value(rate, channel.chosen) for rate in channel.advice if rate >= above}
    missed = [rate for rate, value in heavy.items() if value > channel.target]
    return {
        "channel": channel.title,
        "size": channel.chosen,
        "next_size": f"{float(sizes[sizes > channel.chosen].min()):g}",
        "best_rates": _rates(best),
        "n_best": len(best),
        "others": _listed(
            [say("pool_claims.at", rate=f"{rate:,g}", size=str(at)) for rate, at in others.items()]
        ),
        "n_others": len(others),
        "turning": _rates(turning),
        "steady": _rates([rate for rate in channel.advice if rate not in turning]),
        "n_turning": len(turning),
        "wanted": f"{channel.wanted:,g}",
        "target": printed(channel.target),
        "below": f"{below:,g}",
        "above": f"{above:,g}",
        "low": printed(low),
        "high": printed(high),
        "between": f"{np.exp(np.log(low) + share * np.log(high / low)):.0f}",
        "misses": max(low, high) > channel.target,
        "high_rates": _rates(list(heavy)),
        "high_values": listing(
            [
                say("pool_claims.ms_at", value=printed(value), rate=f"{rate:,g}")
                for rate, value in heavy.items()
            ]
        ),
        "missed_rates": _rates(missed) if missed else "-",
        "n_missed": len(missed),
    }


def _rates(rates: list[float]) -> str:
    return _listed([f"{rate:,g}" for rate in rates])


def _listed(words: list[Any]) -> str:
    return listing(words) if words else say("quantity.none")
