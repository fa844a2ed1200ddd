"""The explorer's figure as SVG, written directly: a matplotlib figure takes longer than a slider may."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from deadzone.explaining.phases.beside import drawn_at, settings_apart
from deadzone.explaining.phases.candidates import level_text, trial_text
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.plot_axes import is_log_better, plain_value, spread_factor
from deadzone.explaining.phases.quantities import axis_label
from deadzone.language.catalogue import say
from deadzone.reports.explorer.curve import View
from deadzone.style import (
    FIT_COLOUR,
    INK,
    MUTED,
    OUTLIER_COLOUR,
    PHASE_STYLES,
    RECOMMENDED_COLOUR,
    TRIAL_COLOUR,
)

WIDTH, HEIGHT = 900, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 34, 52
LOG_FROM = 3.0
"""A response that spans more than this factor is drawn on a log axis, as in the reports."""

OTHER_COLOUR = "#AA3377"
"""The second run: the reversal's hue, which no line of the first run has."""

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

    def at(self, values: np.ndarray) -> np.ndarray:
        """Pixels of values, same shape."""
        ends = np.array([self.low, self.high])
        x, e = (np.log(values), np.log(ends)) if self.is_log else (np.asarray(values, float), ends)
        return self.start + (x - e[0]) / (e[1] - e[0]) * (self.stop - self.start)

    def one(self, value: float) -> float:
        """Pixel of one value."""
        return float(self.at(np.array([value]))[0])


def draw(view: View, other: View | None = None) -> str:
    """The figure of a view, with the curve of a second run on the same axes where there is one."""
    models = [view.model, *([other.model] if other else [])]
    apart = settings_apart(view.model, view.advice)
    x, y = _scales(models, apart)
    where = drawn_at(view.model, (row["setting"] for row in apart), x.is_log)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" style="max-width:{WIDTH}px;background:#fff" '
        f'role="img" aria-label="{escape(_described(view, other), quote=True)}" font-family="DejaVu Sans, Noto Sans, sans-serif" font-size="12">',
        _phases(view.model, x),
        _axes(models, x, y, {where[row["setting"]]: str(row["setting"]) for row in apart}),
        _curve(view.model, x, y, FIT_COLOUR, TRIAL_COLOUR),
        _curve(other.model, x, y, OTHER_COLOUR, OTHER_COLOUR) if other else "",
        _apart(apart, where, x, y),
        _advice(view, where, x),
        _legend(view, other),
        "</svg>",
    ]
    return "".join(parts)


def _scales(models: Sequence[PhaseModel], apart: Sequence[Mapping[str, Any]]) -> tuple[Scale, Scale]:
    levels = np.unique(np.concatenate([model.levels["level"].to_numpy(float) for model in models]))
    values = np.concatenate(
        [model.trials["corrected"].to_numpy(float) for model in models]
        + [model.levels["fitted"].to_numpy(float) for model in models]
        + [np.array([row[end] for row in apart for end in ("low", "high")])]
    )
    is_log = spread_factor(values) >= LOG_FROM
    low, high = float(values.min()), float(values.max())
    pad = (high / low) ** 0.06 if is_log else (high - low) * 0.08
    bottom, top = (low / pad, high * pad) if is_log else (max(low - pad, 0.0), high + pad)
    if top <= bottom:
        bottom, top = low * 0.9, high * 1.1
    is_ratio = not any(model.axis.is_interval for model in models)
    is_log_level = is_ratio and is_log_better(levels)
    places = [*levels, *drawn_at(models[0], (row["setting"] for row in apart), is_log_level).values()]
    along = Scale(min(places), max(places), LEFT + 14, WIDTH - RIGHT - 14, is_log_level)
    return along, Scale(bottom, top, HEIGHT - BOTTOM, TOP + 18, is_log)


def _phases(model: PhaseModel, x: Scale) -> str:
    parts = []
    for phase in model.phases.to_dict("records"):
        style = PHASE_STYLES[phase["label"]]
        start, stop = x.one(phase["start"]), x.one(phase["stop"])
        parts.append(
            f'<rect x="{start:.1f}" y="{TOP}" width="{max(stop - start, 1):.1f}" height="{HEIGHT - BOTTOM - TOP}" '
            f'fill="{style.colour}" fill-opacity="0.10"/>'
            f'<text class="phase" x="{(start + stop) / 2:.1f}" y="{TOP + 13}" text-anchor="middle" font-weight="bold" font-size="11" '
            f'fill="{style.colour}">{escape(style.name)}</text>'
        )
    return "".join(parts)


def _axes(models: Sequence[PhaseModel], x: Scale, y: Scale, apart: Mapping[float, str]) -> str:
    floor, model = HEIGHT - BOTTOM, models[0]
    levels = np.unique(np.concatenate([[*apart], *(each.levels["level"].to_numpy(float) for each in models)]))
    parts = [f'<path d="M{LEFT} {TOP}V{floor}H{WIDTH - RIGHT}" fill="none" stroke="{MUTED}"/>']
    last = -math.inf
    for level in levels.tolist():
        at = x.one(level)
        parts.append(f'<path d="M{at:.1f} {floor}v4" stroke="{MUTED}"/>')
        if at - last >= LABEL_PX * 0.6:
            parts.append(
                f'<text x="{at:.1f}" y="{floor + 17}" text-anchor="middle" fill="{MUTED}">{escape(apart.get(level) or level_text(model, level))}</text>'
            )
            last = at
    for tick in _ticks(y):
        at = y.one(tick)
        parts.append(
            f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#E4E7EB"/>'
            f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end" fill="{MUTED}">{plain_value(tick)}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{floor + 36}" text-anchor="middle" fill="{INK}">{escape(axis_label(model.knob))}</text>'
        f'<text transform="translate(14 {(TOP + floor) / 2}) rotate(-90)" text-anchor="middle" fill="{INK}">{escape(axis_label(model.response))}</text>'
    )
    return "".join(parts)


def _ticks(y: Scale) -> list[float]:
    """Values at which the response is labelled: 1, 2, 5 times powers of ten."""
    if y.is_log:
        powers = range(math.floor(math.log10(y.low)), math.ceil(math.log10(y.high)) + 1)
        ticks = [m * 10.0**p for p in powers for m in (1, 2, 5) if y.low <= m * 10.0**p <= y.high]
        return ticks if len(ticks) <= 9 else [t for t in ticks if f"{t:e}".startswith("1")]
    step = 10 ** math.floor(math.log10((y.high - y.low) / 4))
    step *= next(m for m in (1, 2, 5, 10) if (y.high - y.low) / (m * step) <= 7)
    first = math.ceil(y.low / step)
    return [i * step for i in range(first, math.floor(y.high / step) + 1)]


def _curve(model: PhaseModel, x: Scale, y: Scale, line: str, dots: str) -> str:
    """Every trial as a dot (one path for all), the band and the fitted curve."""
    levels = model.axis.forward(model.levels["level"].to_numpy(float))
    along = np.unique(np.concatenate([levels, np.linspace(levels[0], levels[-1], CURVE_POINTS)]))
    px = x.at(model.axis.backward(along))

    def curve(column: str) -> np.ndarray:
        values = np.exp(np.interp(along, levels, np.log(model.levels[column].to_numpy(float))))
        return np.clip(y.at(values), TOP, HEIGHT - BOTTOM)

    band = _points(px, curve("fitted_low")) + "L" + _points(px[::-1], curve("fitted_high")[::-1])[1:]
    trials = model.trials
    flagged = trials["outlier"].to_numpy(bool)
    tx = x.at(trials["level"].to_numpy(float))
    ty = np.clip(y.at(trials["corrected"].to_numpy(float)), TOP, HEIGHT - BOTTOM)
    named = trials.to_dict("records") if len(trials) <= MOST_HOVERED else []
    width = float(np.clip(5 * (100 / len(trials)) ** 0.25, 2, 5))
    return (
        f'<path class="trials" d="{_dots(tx[~flagged], ty[~flagged])}" stroke="{dots}" stroke-width="{width:.1f}" '
        f'stroke-linecap="round" stroke-opacity="{0.8 if len(trials) < 400 else 0.3}"/>'
        f'<path d="{_dots(tx[flagged], ty[flagged])}" stroke="{OUTLIER_COLOUR}" stroke-width="6" stroke-linecap="square"/>'
        f'<path d="{band}Z" fill="{line}" fill-opacity="0.15"/>'
        f'<path class="fit" d="{_points(px, curve("fitted"))}" fill="none" stroke="{line}" stroke-width="2"/>'
        + "".join(
            f'<path d="M{a:.1f} {b:.1f}h0" stroke="transparent" stroke-width="12" stroke-linecap="round">'
            f"<title>{escape(trial_text(model, trial))}</title></path>"
            for a, b, trial in zip(tx, ty, named, strict=False)
        )
    )


def _points(px: np.ndarray, py: np.ndarray) -> str:
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(px.tolist(), py.tolist(), strict=True))


def _dots(px: np.ndarray, py: np.ndarray) -> str:
    """Dots as lines of no length with round ends; those on the same tenth of a pixel are drawn once."""
    unique = np.unique(np.round(np.column_stack([px, py]), 1), axis=0)
    return "".join(f"M{a:g} {b:g}h0" for a, b in unique.tolist())


def _apart(apart: Sequence[Mapping[str, Any]], where: Mapping[Any, float], x: Scale, y: Scale) -> str:
    """The estimate and interval of each setting on no curve, beside it."""
    parts = []
    for row in apart:
        at = x.one(where[row["setting"]])
        low, middle, high = (y.one(row[name]) for name in ("low", "estimate", "high"))
        parts.append(
            f'<path class="apart" d="M{at:.1f} {low:.1f}V{high:.1f}M{at - 4:.1f} {middle - 4:.1f}h8v8h-8z" stroke="{INK}" fill="{INK}">'
            f"<title>{escape(str(row['name']))}</title></path>"
        )
    return "".join(parts)


def _advice(view: View, where: Mapping[Any, float], x: Scale) -> str:
    floor = HEIGHT - BOTTOM
    parts = []
    for value in view.tied:
        at = x.one(where[value])
        parts.append(
            f'<rect class="tied" x="{at - 3:.1f}" y="{floor - 8}" width="6" height="6" fill="{RECOMMENDED_COLOUR}" fill-opacity="0.75"/>'
        )
    at = x.one(where[view.setting])
    parts.append(
        f'<path class="setting" d="M{at:.1f} {TOP}V{floor}" stroke="{RECOMMENDED_COLOUR}" stroke-dasharray="5 4" stroke-width="1.6"/>'
    )
    return "".join(parts)


def _legend(view: View, other: View | None) -> str:
    names = [(view.name, FIT_COLOUR), *([(other.name, OTHER_COLOUR)] if other else [])]
    parts, at = [], LEFT
    for name, colour in names:
        parts.append(
            f'<path d="M{at} 18h22" stroke="{colour}" stroke-width="3"/><text x="{at + 28}" y="22" fill="{INK}">{escape(name)}</text>'
        )
        at += 60 + 7 * len(name)
    return "".join(parts)


def _described(view: View, other: View | None) -> str:
    phases = ", ".join(
        f"{PHASE_STYLES[row['label']].name} {level_text(view.model, row['start'])}-{level_text(view.model, row['stop'])}"
        for row in view.model.phases.to_dict("records")
    )
    return say(
        "explorer.described",
        name=view.name,
        phases=phases,
        other=other.name if other else say("quantity.none"),
    )
