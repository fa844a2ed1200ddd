"""The study `thread-pools`, one channel at a time: the best pool at every rate, where more threads hurt, the target."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel, PhaseModels
from deadzone.explaining.phases.quantities import listing
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.language.catalogue import say
from deadzone.language.formats import printed
from deadzone.reports.figures.curves import in_words, phases_text, setting_text
from deadzone.reports.figures.heat_map import grid
from deadzone.reports.published.report import Published
from deadzone.reports.thread_pool.run_words import sure

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
        there = (self.rows["rate"] == rate) & (self.rows["pool_size"] == size)
        return float(self.rows.loc[there, RESPONSE].item())

    def around(self) -> tuple[float, float]:
        """The measured rates next below and above the one wanted."""
        rates = np.array(sorted(self.models))
        return float(rates[rates < self.wanted].max()), float(rates[rates > self.wanted].min())

    def set_at(self, rate: float) -> str:
        """The pool to set at a rate for the shortest time."""
        return setting_text(self.models[rate], self.advice[rate])


def fit_channel(published: Published, name: str) -> Channel:
    """A channel with its curves fitted."""
    rows = published.table(name)
    targets = published.table("targets").set_index("quantity")["claimed_value"]
    models = fit_phases(rows, "pool_size", RESPONSE, by="rate")
    advice = {float(rate): model.recommend() for rate, model in models.items()}
    chosen = int(published.table("settings").set_index("component")["pool_size"][[name]].item())
    return Channel(
        name, rows, models, advice, float(targets[RESPONSE]), float(targets[f"{name}_rate"]), chosen
    )


def facts(channel: Channel) -> dict[str, Any]:
    """Of one channel: where the author's pool is best, where more hurt, and the target at the wanted rate.

    The wanted rate was not measured; between its neighbours stands what a straight line on log-log axes would give.
    """
    best = [rate for rate in channel.advice if channel.best_at(rate) == [channel.chosen]]
    others = {rate: one.setting for rate, one in channel.advice.items() if rate not in best}
    turning = [rate for rate, start in channel.reversals().items() if start == channel.chosen]
    sizes, cells = channel.rows["pool_size"], channel.cells
    below, above = channel.around()
    low, high = (channel.value(rate, channel.chosen) for rate in (below, above))
    share = np.log(channel.wanted / below) / np.log(above / below)
    heavy = {rate: channel.value(rate, channel.chosen) for rate in channel.advice if rate >= above}
    missed = [rate for rate, value in heavy.items() if value > channel.target]
    met = cells <= channel.target
    return {
        "channel": channel.title,
        "size": channel.chosen,
        "next_size": f"{float(sizes[sizes > channel.chosen].min()):g}",
        "best_rates": rates_text(best),
        "n_best": len(best),
        "others": _listed([_at(rate, str(at)) for rate, at in others.items()]),
        "n_others": len(others),
        "hurts": rates_text(list(channel.reversals())),
        "n_reversals": len(channel.reversals()),
        "n_rates": len(channel.models),
        "turning": rates_text(turning),
        "steady": rates_text([rate for rate in channel.advice if rate not in turning]),
        "n_turning": len(turning),
        "wanted": f"{channel.wanted:,g}",
        "target": printed(channel.target),
        "below": f"{below:,g}",
        "above": f"{above:,g}",
        "low": printed(low),
        "high": printed(high),
        "between": f"{np.exp(np.log(low) + share * np.log(high / low)):.0f}",
        "misses": max(low, high) > channel.target,
        "is_missed": high > channel.target,
        "high_rates": rates_text(list(heavy)),
        "high_values": listing([_ms_at(value, rate) for rate, value in heavy.items()]),
        "missed_rates": rates_text(missed) if missed else "-",
        "n_missed": len(missed),
        "n_met": int(met.to_numpy().sum()),
        "n_cells": int(cells.notna().to_numpy().sum()),
        "highest": f"{max((float(rate) for rate in cells.index if met.loc[rate].any()), default=0.0):,g}",
        "sizes": listing([_at(rate, channel.set_at(rate)) for rate in heavy]),
    }


def by_rate(channel: Channel) -> Iterator[dict[str, Any]]:
    """Of each rate: phases, best pool, where more threads hurt, and the smallest pool that meets the target."""
    hurts = channel.reversals()
    for rate, advice in channel.advice.items():
        model, meets = channel.models[rate], channel.smallest_meeting(rate)
        least = channel.rows.loc[channel.rows["rate"] == rate, RESPONSE].min()
        yield {
            "rate": rate,
            **in_words(model, advice),
            "hurts_beyond": say("pools.beyond", size=f"{hurts[rate]:g}") if rate in hurts else "-",
            "meets": say("pools.none_meets", best=printed(least)) if meets is None else f"{meets:g}",
            "chance": _chance(model, channel.target),
        }


def _chance(model: PhaseModel, target: float) -> str:
    """The pool most likely to meet the target at the next test, with the probability that the fit gives it."""
    advice = model.recommend(slo={"max": target})
    settings, chance = advice.table["setting"].tolist(), advice.table["chance"].to_numpy(float)
    index = int(chance.argmax()) if advice.setting is None else settings.index(advice.setting)
    if chance[index] < LEAST_CHANCE:
        return say("quantity.none")
    return say("pools.chance_of", chance=sure(float(chance[index])), size=str(settings[index]))


def capacities(channel: Channel) -> Iterator[dict[str, Any]]:
    """Of each pool: the highest rate up to which every measured value stays within the target."""
    for pool in channel.cells.columns:
        measured = channel.cells[pool].dropna()
        met = (measured <= channel.target).cummin()
        above = measured[~met]
        lowest = say("pools.borne_none", rate=f"{measured.index[0]:,g}")
        yield {
            "of": channel.title,
            "name": channel.name,
            "pool": pool,
            "borne": f"{float(measured.index[met].max()):,g}" if met.any() else lowest,
            "missed": _ms_at(float(above.iloc[0]), float(above.index[0])) if len(above) else "-",
        }


def rules(channel: Channel) -> Iterator[dict[str, str]]:
    """For light, wanted and heavy load: the smallest pool that meets the target at all its rates, else the best at the
    highest. Light is every measured rate below the wanted one, heavy every rate above the next one up.
    """
    below, above = channel.around()
    groups = {
        "light": [rate for rate in channel.advice if rate <= below],
        "wanted": [above],
        "heavy": [rate for rate in channel.advice if rate > above],
    }
    for load, rates in groups.items():
        if not rates:
            continue
        met = [channel.smallest_meeting(rate) for rate in rates]
        size = max((m for m in met if m is not None), default=None) if None not in met else None
        worst = np.inf if size is None else max(channel.value(rate, size) for rate in rates)
        if worst <= channel.target:
            why = say("pool_settings.because_met", worst=printed(worst), target=printed(channel.target))
        else:
            why = say("pool_settings.because_best", phases=phases_text(channel.models[rates[-1]]))
        yield {
            "of": channel.title,
            "load": load,
            "rates": rates_text(rates),
            "setting": f"{size:g}" if worst <= channel.target else channel.set_at(rates[-1]),
            "why": why,
        }


def rates_text(rates: list[float]) -> str:
    """Rates as a list in a sentence."""
    return _listed([f"{rate:,g}" for rate in rates])


def _at(rate: float, size: str) -> str:
    return say("pool_claims.at", rate=f"{rate:,g}", size=size)


def _ms_at(value: float, rate: float) -> str:
    return say("pool_claims.ms_at", value=printed(value), rate=f"{rate:,g}")


def _listed(words: list[str]) -> str:
    return listing(words) if words else say("quantity.none")
