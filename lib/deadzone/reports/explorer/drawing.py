"""The explorer's figure as SVG, from a template: a matplotlib figure takes longer than a slider may."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from deadzone import style
from deadzone.explaining.phases.beside import drawn_at, settings_apart
from deadzone.explaining.phases.candidates import level_text, trial_text
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.plot_axes import is_log_better, plain_value, spread_factor
from deadzone.explaining.phases.quantities import axis_label, number
from deadzone.language.catalogue import say
from deadzone.language.rendering import rendered
from deadzone.reports.explorer.curve import View
from deadzone.reports.figures.curves import phases_text
from deadzone.reports.sweep.figures import ACCOUNT_STYLES
from deadzone.style import FIT_COLOUR, TRIAL_COLOUR

WIDTH, HEIGHT = 900, 460
LEFT, RIGHT, TOP, FLOOR = 70, 20, 34, HEIGHT - 52
TEMPLATE = Path(__file__).parent / "curve.svg.j2"

OTHER_COLOUR = "#AA3377"
"""The second run: the reversal's hue, which no line of the first run has."""

ACCOUNT_HEIGHT, ACCOUNT_GAP = 120, 40
"""Of the panel below the curve, and of its title and legend above it."""

CURVE_POINTS = 160
MOST_HOVERED = 400
"""With more trials than this nobody can point at one, and to name them all would take longer than a slider may."""

LABEL_PX = 46
"""Least distance of two tick labels."""


@dataclass(frozen=True)
class Scale:
    """From values to pixels, linear or logarithmic."""

    low: float
    high: float
    start: float
    stop: float
    is_log: bool

    def at(self, values: Any) -> Any:
        """Pixels of a value or of an array of values, same shape."""
        ends = np.array([self.low, self.high])
        x, e = (np.log(values), np.log(ends)) if self.is_log else (np.asarray(values, float), ends)
        return self.start + (x - e[0]) / (e[1] - e[0]) * (self.stop - self.start)


def draw(view: View, other: View | None = None) -> str:
    """The figure of a view, with the curve of a second run on the same axes where there is one."""
    models = [view.model, *([other.model] if other else [])]
    apart = settings_apart(view.model, view.curve.advice)
    x, y = _scales(models, apart)
    where = drawn_at(view.model, (row["setting"] for row in apart), x.is_log)
    colours = [(FIT_COLOUR, TRIAL_COLOUR), (OTHER_COLOUR, OTHER_COLOUR)]
    curves = [
        {"name": one.curve.name, "line": line, "dots": dots, **_curve(one.model, x, y)}
        for one, (line, dots) in zip([view, other], colours, strict=True)
        if one
    ]
    second = other.curve.name if other else say("quantity.none")
    described = say("explorer.described", name=view.curve.name, phases=phases_text(view.model), other=second)
    account = {} if view.curve.account.empty else _areas(view.curve.account, x)
    height = HEIGHT + (ACCOUNT_HEIGHT + ACCOUNT_GAP if account else 0)
    return rendered(
        TEMPLATE, width=WIDTH, height=height, account=account, panel=view.curve.account.columns.name, panel_px=ACCOUNT_HEIGHT,
        most=number(view.curve.account.sum(axis=1).max()), looks=ACCOUNT_STYLES, say=say,
        left=LEFT, right=WIDTH - RIGHT, top=TOP, floor=FLOOR, x=x, y=y, style=style,
        described=described, phases=view.model.phases.to_dict("records"), view=view, apart=apart, where=where,
        levels=_levels(models, x, {where[row["setting"]]: str(row["setting"]) for row in apart}), ticks=_ticks(y),
        plain_value=plain_value, knob=axis_label(view.model.knob), response=axis_label(view.model.response), curves=curves,
    )  # fmt: skip


def _areas(means: pd.DataFrame, x: Scale) -> dict[str, str]:
    """Those of the account of time, the lowest first."""
    heights = np.hstack([np.zeros((len(means), 1)), means.to_numpy(float).cumsum(axis=1)])
    px, base = x.at(means.index.to_numpy(float)), HEIGHT + ACCOUNT_GAP + ACCOUNT_HEIGHT
    py = base - heights / heights.max() * ACCOUNT_HEIGHT
    return {
        str(name): _points(px, py[:, n + 1]) + "L" + _points(px[::-1], py[::-1, n])[1:] + "Z"
        for n, name in enumerate(means)
    }


def _scales(models: Sequence[PhaseModel], apart: Sequence[Mapping[str, Any]]) -> tuple[Scale, Scale]:
    levels = np.unique(np.concatenate([model.levels["level"].to_numpy(float) for model in models]))
    values = np.concatenate(
        [model.trials["corrected"].to_numpy(float) for model in models]
        + [model.levels["fitted"].to_numpy(float) for model in models]
        + [np.array([row[end] for row in apart for end in ("low", "high")])]
    )
    is_log = spread_factor(values) >= style.LOG_RESPONSE_FACTOR
    low, high = float(values.min()), float(values.max())
    pad = (high / low) ** 0.06 if is_log else (high - low) * 0.08
    bottom, top = (low / pad, high * pad) if is_log else (max(low - pad, 0.0), high + pad)
    if top <= bottom:
        bottom, top = low * 0.9, high * 1.1
    is_ratio = not any(model.axis.is_interval for model in models)
    is_log_level = is_ratio and is_log_better(levels)
    places = [*levels, *drawn_at(models[0], (row["setting"] for row in apart), is_log_level).values()]
    along = Scale(min(places), max(places), LEFT + 14, WIDTH - RIGHT - 14, is_log_level)
    return along, Scale(bottom, top, FLOOR, TOP + 18, is_log)


def _levels(models: Sequence[PhaseModel], x: Scale, apart: Mapping[float, str]) -> list[tuple[float, str]]:
    """Pixel and label of each level; no label where it would run into the last one."""
    levels = np.unique(np.concatenate([[*apart], *(each.levels["level"].to_numpy(float) for each in models)]))
    found, last = [], -math.inf
    for level in levels.tolist():
        at = float(x.at(level))
        is_labelled = at - last >= LABEL_PX * 0.6
        found.append((at, apart.get(level) or level_text(models[0], level) if is_labelled else ""))
        last = at if is_labelled else last
    return found


def _ticks(y: Scale) -> list[float]:
    """Values at which the response is labelled: 1, 2, 5 times powers of ten."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    subs = (1.0, 2.0, 5.0)
    locator = LogLocator(subs=subs, numticks=99) if y.is_log else MaxNLocator(7, steps=[*subs, 10.0])
    ticks = [float(tick) for tick in locator.tick_values(y.low, y.high) if y.low <= tick <= y.high]
    return ticks if len(ticks) <= 9 else [tick for tick in ticks if f"{tick:e}".startswith("1")]


def _curve(model: PhaseModel, x: Scale, y: Scale) -> dict[str, Any]:
    """Every trial as a dot (one path for all), the band and the fitted curve."""
    levels = model.axis.forward(model.levels["level"].to_numpy(float))
    along = np.unique(np.concatenate([levels, np.linspace(levels[0], levels[-1], CURVE_POINTS)]))
    px = x.at(model.axis.backward(along))

    def curve(column: str) -> np.ndarray:
        values = np.exp(np.interp(along, levels, np.log(model.levels[column].to_numpy(float))))
        return np.clip(y.at(values), TOP, FLOOR)

    band = _points(px, curve("fitted_low")) + "L" + _points(px[::-1], curve("fitted_high")[::-1])[1:]
    trials = model.trials
    flagged = trials["outlier"].to_numpy(bool)
    tx = x.at(trials["level"].to_numpy(float))
    ty = np.clip(y.at(trials["corrected"].to_numpy(float)), TOP, FLOOR)
    named = trials.to_dict("records") if len(trials) <= MOST_HOVERED else []
    return {
        "trials": _dots(tx[~flagged], ty[~flagged]),
        "flagged": _dots(tx[flagged], ty[flagged]),
        "size": float(np.clip(5 * (100 / len(trials)) ** 0.25, 2, 5)),
        "opacity": 0.8 if len(trials) < 400 else 0.3,
        "band": band,
        "fit": _points(px, curve("fitted")),
        "named": [(*at, trial_text(model, trial)) for *at, trial in zip(tx, ty, named, strict=False)],
    }


def _points(px: np.ndarray, py: np.ndarray) -> str:
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(px.tolist(), py.tolist(), strict=True))


def _dots(px: np.ndarray, py: np.ndarray) -> str:
    """Dots as lines of no length with round ends; those on the same tenth of a pixel are drawn once."""
    unique = np.unique(np.round(np.column_stack([px, py]), 1), axis=0)
    return "".join(f"M{a:g} {b:g}h0" for a, b in unique.tolist())
