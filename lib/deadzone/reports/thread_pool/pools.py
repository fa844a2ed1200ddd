"""The study `thread-pools`, one channel at a time: the best pool at every rate, where more threads hurt, the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.quantities import listing
from deadzone.language.catalogue import join, say
from deadzone.language.numbers import printed
from deadzone.reports.document.display import Figure, Table
from deadzone.reports.figures.curves import phases_text, setting_text, slices_figure, tied_text
from deadzone.reports.figures.heat_map import grid, heat_map
from deadzone.reports.published.reference_checks import figure
from deadzone.reports.thread_pool.run_words import sure

if TYPE_CHECKING:
    from deadzone.explaining.phases.model import PhaseModel, PhaseModels
    from deadzone.explaining.phases.recommend import Recommendation
    from deadzone.reports.published.published import Published

RESPONSE = "latency_max_ms"

LEAST_CHANCE = 0.01
"""A pool that keeps the target with a smaller probability than this is none."""


@dataclass(frozen=True, eq=False)
class Channel:
    """One channel of the service.

    name: "inbound" or "outbound". rows: one a cell. models: longest response time over the pool size, by rate.
    advice: by rate. target: the longest time allowed [ms]. wanted: the rate the service must bear [requests/s].
    chosen: the author's pool size.
    """

    name: str
    rows: pd.DataFrame
    models: PhaseModels
    advice: dict[float, Recommendation]
    target: float
    wanted: float
    chosen: int

    @property
    def title(self) -> str:
        """The channel in words."""
        return say(f"pools.{self.name}")

    @property
    def cells(self) -> pd.DataFrame:
        """Longest response time [ms] by rate (rows) and pool size (columns)."""
        return grid(self.rows, "pool_size", "rate", RESPONSE)

    def reversals(self) -> dict[float, float]:
        """Rates whose curve ends in a reversal, with the pool size from which more threads hurt."""
        last = {rate: model.phases.iloc[-1] for rate, model in self.models.items()}
        return {float(rate): float(p["start"]) for rate, p in last.items() if p["label"] == "reversal"}

    def best_at(self, rate: float) -> list[float]:
        """Pool sizes that noise cannot tell from the best at a rate."""
        return [float(size) for size in self.advice[rate].tied]

    def smallest_meeting(self, rate: float) -> float | None:
        """The smallest pool whose measured value meets the target at a rate; None where none does."""
        there = self.rows[(self.rows["rate"] == rate) & (self.rows[RESPONSE] <= self.target)]
        return float(there["pool_size"].min()) if len(there) else None

    def value(self, rate: float, size: float) -> float:
        """The longest response time measured at a rate with a pool of a size [ms]."""
        return figure(self.rows, RESPONSE, rate=rate, pool_size=size)

    def around(self) -> tuple[float, float]:
        """The measured rates next below and above the one wanted."""
        rates = np.array(sorted(self.models))
        return float(rates[rates < self.wanted].max()), float(rates[rates > self.wanted].min())


def fit_channel(published: Published, name: str) -> Channel:
    """A channel with its curves fitted."""
    rows = published.table(name)
    targets = published.table("targets").set_index("quantity")["claimed_value"]
    models = fit_phases(rows, "pool_size", RESPONSE, by="rate")
    advice = {float(rate): model.recommend() for rate, model in models.items()}
    chosen = int(figure(published.table("settings"), "pool_size", component=name))
    return Channel(
        name, rows, models, advice, float(targets[RESPONSE]), float(targets[f"{name}_rate"]), chosen
    )


def channel_figure(channel: Channel) -> Figure:
    """The curves of a channel, one panel a rate."""
    found = channel.reversals()
    key = "pools.slices_reversal" if found else "pools.slices_plain"
    caption = say(
        key,
        channel=channel.title,
        rates=listing([f"{rate:,g}" for rate in found]) if found else "-",
        n=len(channel.models),
    )
    return slices_figure(channel.models, caption, channel.name, columns=2)


def channel_map(channel: Channel) -> Figure:
    """The heat map of a channel with the region that meets the target."""
    cells = channel.cells
    met = int((cells <= channel.target).to_numpy().sum())
    highest = max(
        (float(rate) for rate in cells.index if (cells.loc[rate] <= channel.target).any()), default=0.0
    )
    caption = say(
        "pools.map",
        channel=channel.title,
        target=printed(channel.target),
        met=met,
        n=int(cells.notna().to_numpy().sum()),
        highest=f"{highest:,g}",
    )
    words = [f"{rate:,g}: {', '.join(f'{size:g} = {value:,g}' for size, value in row.dropna().items())}"
             for rate, row in cells.iterrows()]  # fmt: skip
    return heat_map(
        cells, RESPONSE, channel.target, caption, join([caption, *words], " "), f"{channel.name}-map"
    )


def channel_table(channel: Channel) -> Table:
    """One row a rate: phases, best pool, where more threads hurt, and the smallest pool that meets the target."""
    hurts = channel.reversals()
    rates = list(channel.advice)
    frame = pd.DataFrame(
        {
            say("pools.rate"): [f"{rate:,g}" for rate in rates],
            say("pools.phases"): [phases_text(channel.models[rate]) for rate in rates],
            say("pools.best"): [setting_text(channel.models[rate], channel.advice[rate]) for rate in rates],
            say("pools.tied"): [tied_text(channel.models[rate], channel.advice[rate]) for rate in rates],
            say("pools.hurts"): [
                say("pools.beyond", size=f"{hurts[r]:g}") if r in hurts else "-" for r in rates
            ],
            say("pools.meets", target=printed(channel.target)): [_meets(channel, rate) for rate in rates],
            say("pools.chance"): [_chance(channel.models[rate], channel.target) for rate in rates],
        }
    )
    caption = say("pools.table", channel=channel.title, target=printed(channel.target))
    return Table(
        frame,
        caption,
        numeric=[frame.columns[0]],
        id=f"{channel.name}-table",
        row_ids=[f"{r:g}" for r in rates],
    )


def _meets(channel: Channel, rate: float) -> str:
    smallest = channel.smallest_meeting(rate)
    if smallest is None:
        return say(
            "pools.none_meets", best=printed(channel.rows.loc[channel.rows["rate"] == rate, RESPONSE].min())
        )
    return f"{smallest:g}"


def _chance(model: PhaseModel, target: float) -> str:
    """The pool most likely to meet the target at the next test, with the probability that the fit gives it."""
    advice = model.recommend(slo={"max": target})
    table = advice.table
    chance = table["chance"].to_numpy(float)
    index = (
        [item == advice.setting for item in table["setting"]].index(True)
        if advice.setting is not None
        else int(chance.argmax())
    )
    if chance[index] < LEAST_CHANCE:
        return say("quantity.none")
    return say("pools.chance_of", chance=sure(float(chance[index])), size=str(table["setting"].iloc[index]))


def capacity_table(channels: tuple[Channel, ...]) -> Table:
    """One row a pool of each channel: the highest rate up to which every measured value stays within the target."""
    rows, ids = [], []
    for channel in channels:
        cells = channel.cells
        for size in cells.columns:
            measured = cells[size].dropna()
            met = (measured <= channel.target).cummin()
            borne = float(measured.index[met].max()) if met.any() else 0.0
            above = measured[~met]
            rows.append(
                {
                    say("pool_settings.channel"): channel.title,
                    say("pools.size"): f"{size:g}",
                    say("pools.borne"): f"{borne:,g}"
                    if borne
                    else say("pools.borne_none", rate=f"{measured.index[0]:,g}"),
                    say("pools.missed_next"): say(
                        "pool_claims.ms_at",
                        value=printed(float(above.iloc[0])),
                        rate=f"{float(above.index[0]):,g}",
                    )
                    if len(above)
                    else "-",
                }
            )
            ids.append(f"{channel.name}-{size:g}")
    frame = pd.DataFrame(rows)
    caption = say("pools.capacity_caption", target=printed(channels[0].target))
    return Table(frame, caption, numeric=[frame.columns[1]], id="capacity", row_ids=ids)
