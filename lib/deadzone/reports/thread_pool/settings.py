"""The study `thread-pools`: what to set, the spike test, and how far the targets are met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from deadzone.explaining.phases.plot import plot
from deadzone.explaining.phases.quantities import listing
from deadzone.language.catalogue import say
from deadzone.language.numbers import printed
from deadzone.reports.document.display import Figure, Table
from deadzone.reports.figures.curves import phases_text, setting_text
from deadzone.reports.published.reference_checks import figure
from deadzone.style import MUTED, TRIAL_COLOUR, figure_style

if TYPE_CHECKING:
    from deadzone.explaining.phases.model import PhaseModel
    from deadzone.reports.published.published import Published
    from deadzone.reports.thread_pool.pools import Channel


def best_sentence(channel: Channel) -> str:
    """At which rates the author's pool alone is best, and beyond which size more threads hurt."""
    best = [rate for rate in channel.advice if channel.best_at(rate) == [channel.chosen]]
    hurts = channel.reversals()
    return say(
        "pool_settings.best" if best else "pool_settings.never_best",
        channel=channel.title,
        size=channel.chosen,
        rates=listing([f"{rate:,g}" for rate in best]) if best else "-",
        hurts=listing([f"{rate:,g}" for rate in hurts]) if hurts else say("quantity.none"),
    )


def target_sentence(channel: Channel) -> str:
    """How the author's pool does against the target at the measured rate next above the wanted one."""
    rate = channel.around()[1]
    value = channel.value(rate, channel.chosen)
    return say(
        "pool_settings.missed" if value > channel.target else "pool_settings.met",
        channel=channel.title,
        size=channel.chosen,
        value=printed(value),
        target=printed(channel.target),
        rate=f"{rate:,g}",
        wanted=f"{channel.wanted:,g}",
    )


def guideline_table(channels: Sequence[Channel]) -> Table:
    """For light, wanted and heavy load of each channel: the pool to set and why, from the fit and the target.

    Light is every measured rate below the wanted one, heavy every rate above the next one up.
    """
    rows = []
    for channel in channels:
        below, above = channel.around()
        groups = {
            "light": [rate for rate in channel.advice if rate <= below],
            "wanted": [above],
            "heavy": [rate for rate in channel.advice if rate > above],
        }
        rows += [_rule(channel, load, rates) for load, rates in groups.items() if rates]
    return Table(pd.DataFrame(rows), say("pool_settings.guideline"), id="guideline")


def _rule(channel: Channel, load: str, rates: list[float]) -> dict[str, str]:
    """The rule for a load: the smallest pool that meets the target at all its rates, else the best at the highest."""
    met = [channel.smallest_meeting(rate) for rate in rates]
    size = max((m for m in met if m is not None), default=None) if None not in met else None
    holds = size is not None and all(channel.value(rate, size) <= channel.target for rate in rates)
    if size is None or not holds:
        model, advice = channel.models[rates[-1]], channel.advice[rates[-1]]
        setting, why = (
            setting_text(model, advice),
            say("pool_settings.because_best", phases=phases_text(model)),
        )
    else:
        worst = max(channel.value(rate, size) for rate in rates)
        setting, why = (
            f"{size:g}",
            say("pool_settings.because_met", worst=printed(worst), target=printed(channel.target)),
        )
    return {
        say("pool_settings.channel"): channel.title,
        say("pool_settings.load"): say(f"pool_settings.{load}"),
        say("pools.rate"): listing([f"{rate:,g}" for rate in rates]),
        say("guideline.setting"): setting,
        say("guideline.reason"): why,
    }


def settings_table(published: Published, inbound: Channel, outbound: Channel) -> Table:
    """The author's final settings beside what the data say of each."""
    settings = published.table("settings").set_index("component")
    rows = []
    for component, row in settings.iterrows():
        channel = {"inbound": inbound, "outbound": outbound}.get(str(component))
        rows.append(
            {
                say("pool_settings.component"): say(f"pool_settings.component_{component}"),
                say("pool_settings.threads"): _threads(row),
                say("pool_settings.queue"): f"{row['queue_size']:,}",
                say("pool_settings.by_data"): _by_data(channel)
                if channel
                else say(f"pool_settings.data_{component}"),
            }
        )
    frame = pd.DataFrame(rows)
    return Table(frame, say("pool_settings.settings"), numeric=list(frame.columns[1:3]), id="settings")


def _threads(row: pd.Series) -> str:
    least = row["pool_size_min"]
    return (
        f"{row['pool_size']:g}"
        if pd.isna(least)
        else say("quantity.range", start=f"{least:g}", stop=f"{row['pool_size']:g}")
    )


def _by_data(channel: Channel) -> str:
    rates = [rate for rate in channel.advice if rate >= channel.around()[1]]
    return say(
        "pool_settings.data_channel",
        sizes=listing(
            [
                say("pool_claims.at", rate=f"{r:,g}", size=setting_text(channel.models[r], channel.advice[r]))
                for r in rates
            ]
        ),
    )


def spike_figure(rows: pd.DataFrame, model: PhaseModel) -> Figure:
    """Longest time to connect over new connections a second, with the threads that the server ran below it."""
    import matplotlib.pyplot as plt

    without_setting = replace(model.recommend(), setting=None, tied=())
    with figure_style():
        drawing, (above, below) = plt.subplots(
            2,
            1,
            sharex=True,
            figsize=(7.2, 5.4),
            layout="constrained",
            gridspec_kw={"height_ratios": [3, 1.2]},
        )
        plot(model, above, advice=without_setting, title=phases_text(model), legend=False)
        x = rows["connection_rate"].to_numpy(float)
        below.plot(x, rows["tomcat_threads"], color=TRIAL_COLOUR, marker="o", markersize=4)
        most = float(rows["tomcat_threads"].max())
        below.axhline(most, color=MUTED, linestyle="--", linewidth=1)
        for rate, failed in zip(x, rows["failed_percent"], strict=True):
            if failed > 0:
                below.annotate(f"{failed:g} %", (rate, most), xytext=(0, -12), textcoords="offset points",
                               ha="center", color=MUTED, fontsize=8)  # fmt: skip
        below.set_ylim(0, most * 1.25)
        below.set_ylabel(say("pool_settings.threads_axis"))
        below.set_xlabel(above.get_xlabel())
        above.set_xlabel("")
    caption = say(
        "pool_settings.spike",
        knee=f"{float(model.phases.iloc[-1]['start']):g}",
        most=f"{most:g}",
        failing=f"{rows.loc[rows['failed_percent'] > 0, 'connection_rate'].min():g}",
    )
    return Figure.of(drawing, caption, f"{phases_text(model)}. {caption}", id="spike")


def limit_sentence(published: Published) -> str:
    """At how many held connections the memory ran out, and what the author allows."""
    held = published.table("connection-limit").iloc[0]
    allowed = figure(published.table("settings"), "connections_max", component="tomcat")
    return say(
        "pool_settings.limit",
        n=f"{held['connections']:,}",
        allowed=printed(allowed),
        topics=int(held["topics"]),
    )


def cold_sentence(published: Published) -> str:
    """What the first test after a restart showed, and what it takes to know how long a service warms up."""
    value = published.table("cold-start").set_index("state")["latency_ms"]
    warm, cold = float(value["warm"]), float(value["just_restarted"])
    return say("pool_settings.cold_start", warm=printed(warm), cold=printed(cold), times=f"{cold / warm:.0f}")
