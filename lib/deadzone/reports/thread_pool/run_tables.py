"""The tables and figures of a load test's report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.explaining.capacity.cold_start import ColdStart
from deadzone.explaining.capacity.feasibility import CERTAINTY, CONFIDENCE, HOPELESS, Feasibility
from deadzone.explaining.capacity.littles_law import UNSTABLE
from deadzone.explaining.capacity.reversal import Reversal
from deadzone.explaining.phases.quantities import axis_label, listing, number, percent, plain_name
from deadzone.language.catalogue import join, say
from deadzone.reports.document.display import Figure, Table
from deadzone.reports.figures.curves import phases_text, setting_text, slices_figure, tied_text
from deadzone.reports.figures.heat_map import heat_map, number_text
from deadzone.reports.thread_pool import run_words as words

if TYPE_CHECKING:
    from deadzone.reports.thread_pool.pool_run import PoolRun

MOST_TRIALS = 12
"""Trials that the table of warm-ups lists; the rest behave like them and are counted in the text."""


def map_figure(run: PoolRun) -> Figure:
    """The heat map of the response, the feasible region outlined, each cell with its confidence or what it misses."""
    source = run.source
    cells = _grid(source.analysed, source.knob, source.response)
    words_of = [
        say("pool_run.map_words", rate=f"{rate:,g}", cells=", ".join(
            f"{pool:g} = {number_text(float(value))}" for pool, value in row.items()))
        for rate, row in cells.iterrows()
    ]  # fmt: skip
    if run.feasible is None:
        caption = say("pool_run.map_caption_plain", response=plain_name(source.response))
        title = say("pool_run.map_title_plain", response=axis_label(source.response))
        return heat_map(
            cells, source.response, None, caption, join([caption, *words_of], " "), "map", title=title
        )
    confidence = run.feasible.confidence
    cells = cells.reindex(index=confidence.index, columns=confidence.columns)
    region = run.feasible.is_region
    caption = say("pool_run.map_caption", met=int(region.to_numpy().sum()),
                  n=int(confidence.notna().to_numpy().sum()), wanted=CONFIDENCE)  # fmt: skip
    title = say("pool_run.map_title", response=axis_label(source.response))
    return heat_map(
        cells, source.response, None, caption, join([caption, *words_of], " "), "map",
        inside=region, notes=_notes(run.feasible, confidence), title=title,
    )  # fmt: skip


def _grid(trials: pd.DataFrame, knob: str, response: str) -> pd.DataFrame:
    table = trials.assign(**{knob: trials[knob].astype(float), "rate": trials["rate"].astype(float)})
    return table.pivot_table(index="rate", columns=knob, values=response, aggfunc="median").astype(float)


def _notes(feasible: Feasibility, confidence: pd.DataFrame) -> pd.DataFrame:
    """Beneath each value: the confidence, or the first target that is missed."""
    notes = pd.DataFrame("", index=confidence.index, columns=confidence.columns, dtype=object)
    for rate, pool in ((r, p) for r in confidence.index for p in confidence.columns):
        sure = float(confidence.loc[rate, pool])
        if np.isnan(sure):
            continue
        missed = feasible.missed((float(pool), float(rate)))
        if sure <= HOPELESS and missed:
            short = _short(missed[0].column)
            notes.loc[rate, pool] = f"✗ {short}" + (f" +{len(missed) - 1}" if len(missed) > 1 else "")
        else:
            notes.loc[rate, pool] = words.sure(sure)
    return notes


def _short(column: str) -> str:
    """A target's column as it fits into a cell: `max`, `p99`, `errors`."""
    bare = column.removesuffix("_ms").removesuffix("_share")
    return bare.removeprefix("latency_").removeprefix("broadcast_").replace("_", " ")


def curves(run: PoolRun) -> Figure:
    """The curve of each rate."""
    assert run.models is not None
    there = [words.rate_text(one.rate) for one in run.turning if one.start is not None]
    shared = {
        "response": plain_name(run.source.response),
        "knob": words.knob_name(run),
        "n": len(run.models),
    }
    caption = (
        say("pool_run.curves_reversal", rates=listing(there), **shared)
        if there
        else say("pool_run.curves_plain", **shared)
    )
    return slices_figure(run.models, caption, "curves", columns=2)


def rates_table(run: PoolRun) -> Table:
    """One row a rate: phases, best, smallest that meets the targets, confidence, where more hurts."""
    rates = sorted(float(rate) for rate in run.source.trials["rate"].dropna().unique())
    turning = {one.rate: one for one in run.turning}
    rows = [_rate_row(run, rate, turning.get(rate)) for rate in rates]
    caption = say(
        "pool_run.rates_caption",
        response=plain_name(run.source.response),
        knob=words.knob_name(run),
        certainty=next(iter(run.models.values())).certainty if run.models else CERTAINTY,
    )
    frame = pd.DataFrame(rows)
    return Table(
        frame, caption, numeric=[frame.columns[0]], id="answers", row_ids=[f"{rate:g}" for rate in rates]
    )


def _rate_row(run: PoolRun, rate: float, turning: Reversal | None) -> dict[str, str]:
    model = run.models[rate] if run.models and rate in run.models else None
    row: dict[str, str] = {say("pool_run.rate"): words.rate_text(rate)}
    row[say("pool_run.phases")] = phases_text(model) if model else "-"
    row[say("pool_run.best")] = setting_text(model, run.advice[rate]) if model else "-"
    row[say("pool_run.tied")] = tied_text(model, run.advice[rate]) if model else "-"
    if run.feasible is not None:
        found = run.feasible.smallest(rate)
        if found.pool is not None:
            text, sure = f"{found.pool:g}", words.sure(found.confidence)
        elif found.likely is not None:
            text = say("pool_run.likely", pool=f"{found.likely:g}")
            sure = words.sure(found.likely_confidence)
        else:
            text, sure = say("quantity.none"), "-"
        row[say("pool_run.smallest_head")] = text
        row[say("pool_run.confidence")] = sure
    row[say("pool_run.hurts")] = _beyond(turning)
    return row


def _beyond(turning: Reversal | None) -> str:
    """Beyond which size more hurts, with its interval where it has a width."""
    if turning is None or turning.start is None:
        return "-"
    start = f"{turning.start:g}"
    if turning.low == turning.high:
        return say("pool_run.beyond_alone", start=start)
    return say("pool_run.beyond", start=start, low=f"{turning.low:g}", high=f"{turning.high:g}")


def capacity_table(run: PoolRun, feasible: Feasibility) -> Table:
    """One row a pool: the highest rate it bears, its interval, and what gives way next."""
    lowest = words.rate_text(feasible.cells.rates[0])
    rows = []
    for pool in feasible.cells.pools:
        one = feasible.capacity(pool)
        heads = (
            say("pool_run.shown"),
            say("pool_run.interval", certainty=CERTAINTY),
            say("pool_run.limited"),
        )
        name = {say("pool_run.pool", knob=words.knob_name(run)): f"{pool:g}"}
        if one is None:
            rows.append({**name, **dict.fromkeys(heads, "-")})
            continue
        shown = say("pool_run.below_lowest", rate=lowest) if one.shown is None else words.rate_text(one.shown)
        if one.shown is not None and one.shown == feasible.cells.rates[-1]:
            shown = say("pool_run.at_least", rate=words.rate_text(one.shown))
        ends = [
            say("pool_run.below_lowest", rate=lowest) if end == 0 else words.rate_text(end)
            for end in (one.low, one.high)
        ]
        interval = ends[0] if one.low == one.high else say("quantity.range", start=ends[0], stop=ends[1])
        limited = plain_name(one.limited_by) if one.limited_by else "-"
        rows.append({**name, **dict(zip(heads, (shown, interval, limited), strict=True))})
    frame = pd.DataFrame(rows)
    caption = say("pool_run.capacity_caption", knob=words.knob_name(run), wanted=CONFIDENCE)
    ids = [f"{pool:g}" for pool in feasible.cells.pools]
    return Table(frame, caption, numeric=[frame.columns[0]], id="capacity", row_ids=ids)


def law_table(run: PoolRun) -> Table:
    """One row a cell: what is in the service at once against its threads."""
    law = run.law
    frame = pd.DataFrame(
        {
            say("pool_run.rate"): [words.rate_text(float(rate)) for rate in law["rate"]],
            say("pool_run.pool", knob=words.knob_name(run)): [f"{pool:g}" for pool in law["pool"]],
            say("pool_run.answered"): [
                number(float(rate), 0.01 * float(rate)) for rate in law["achieved_rate"]
            ],
            say("pool_run.in_flight"): [_rounded(value) for value in law["in_flight"]],
            say("pool_run.waiting"): [_rounded(value) for value in law["waiting"]],
            say("pool_run.busy"): [percent(float(value)) for value in law["utilisation"]],
            say("pool_run.state"): [say(f"pool_run.state_{state}") for state in law["state"]],
        }
    )
    caption = say("pool_run.law_caption", knob=words.knob_name(run), least=UNSTABLE)
    return Table(frame, caption, numeric=list(frame.columns[:6]), id="law")


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def warming(cold: ColdStart) -> list[int]:
    """The trials that warm up, the longest first."""
    there = [trial for trial, found in cold.warmups.items() if found.is_present]
    return sorted(there, key=lambda trial: -cold.warmups[trial].length_s)


def warmup_table(run: PoolRun) -> Table:
    """The trials with the longest warm-ups."""
    cold, trials = run.cold, run.source.trials.drop_duplicates("trial", keep="last").set_index("trial")
    rows = []
    for trial in warming(cold)[:MOST_TRIALS]:
        found = cold.warmups[trial]
        place: Any = trials.loc[trial] if trial in trials.index else None
        rows.append(
            {
                say("pool_run.warmup_trial"): f"{trial}",
                say("pool_run.pool", knob=words.knob_name(run)): "-"
                if place is None
                else f"{float(place[run.source.knob]):g}",
                say("pool_run.rate"): "-" if place is None else words.rate_text(float(place["rate"])),
                say("pool_run.warmup_length"): f"{found.length_s:.1f}",
                say("pool_run.warmup_interval"): say(
                    "quantity.range", start=f"{found.low_s:.1f}", stop=f"{found.high_s:.1f}"
                ),
                say("pool_run.warmup_probability"): percent(found.probability),
                say("pool_run.warmup_ratio"): f"{number(cold.first_ms[trial] / cold.steady_ms[trial])} ×",
                say("pool_run.warmup_effect"): f"{100 * found.mean_bias:+.1f} %",
                say("pool_run.warmup_matter"): say("pool_run.yes" if found.matters else "pool_run.no"),
            }
        )
    frame = pd.DataFrame(rows)
    return Table(frame, say("pool_run.warmup_caption"), numeric=list(frame.columns[:8]), id="warmup")


def settings_table(run: PoolRun) -> Table:
    """The table of final settings: the pool at each rate, the size not to exceed, how long to warm up."""
    rates = sorted(float(rate) for rate in run.source.trials["rate"].dropna().unique())
    rows = [
        _setting_row(run, rate, rates)
        for rate in [run.judged_rate, *(r for r in rates if r != run.judged_rate)]
    ]
    rows += [
        (
            say("pool_run.most"),
            words.pool_text(run, one.start),
            say("pool_run.why_most", rate=words.rate_text(one.rate)),
        )
        for one in run.turning
        if one.start is not None and one.rate == run.judged_rate
    ]
    if run.cold.advised_s > 0:
        rows.append((say("pool_run.warmup_row"), f"{run.cold.advised_s:.0f} s", say("pool_run.why_warmup")))
    columns = [say(f"pool_run.{name}") for name in ("component", "setting", "settings_reason")]
    return Table(pd.DataFrame(rows, columns=columns), say("pool_run.settings_caption"), id="settings")


def _setting_row(run: PoolRun, rate: float, rates: list[float]) -> tuple[str, str, str]:
    kind = "other"
    if rate == run.judged_rate and run.wanted is not None:
        kind = "wanted"
    elif rate == rates[-1]:
        kind = "highest"
    load = say(f"pool_run.load_{kind}", rate=words.rate_text(rate))
    if run.feasible is None:
        advice = run.advice.get(rate)
        best = advice.setting if advice else None
        return load, "-" if best is None else words.pool_text(run, float(best)), say("pool_run.why_fastest")
    found = run.feasible.smallest(rate)
    if found.pool is not None:
        return (
            load,
            words.pool_text(run, found.pool),
            say("pool_run.why_smallest", confidence=words.sure(found.confidence)),
        )
    if found.likely is not None:
        why = say("pool_run.why_likely", confidence=words.sure(found.likely_confidence))
        return load, words.pool_text(run, found.likely), why
    if not found.chance:
        return load, "-", say("pool_run.smallest_unknown", rate=words.rate_text(rate))
    pool, sure = words.nearest(run, found)
    return load, words.pool_text(run, pool), say("pool_run.why_best", confidence=words.sure(sure))


def cells_table(run: PoolRun) -> Table:
    """Every cell: the medians of what the targets bound, what is missed, and the confidence."""
    source, rows = run.source, []
    places = (
        source.trials[["rate", source.knob]]
        .drop_duplicates()
        .astype(float)
        .sort_values(["rate", source.knob])
    )
    for rate, pool in places.itertuples(index=False, name=None):
        trials = source.analysed[
            (source.analysed["rate"] == rate) & (source.analysed[source.knob].astype(float) == pool)
        ]
        row: dict[str, str] = {
            say("pool_run.rate"): words.rate_text(rate),
            say("pool_run.pool", knob=words.knob_name(run)): f"{pool:g}",
            say("pool_run.trials"): f"{len(trials)}",
        }
        if run.feasible is None:
            row[axis_label(source.response)] = (
                number(float(trials[source.response].median())) if len(trials) else "-"
            )
            rows.append(row)
            continue
        cell = run.feasible.cells.at(pool, rate)
        for one in run.feasible.objectives:
            name = f"{axis_label(one.column)} {'≤' if one.sense == 'at_most' else '≥'} {one.bound:,g}"
            value = cell.typical(one.column) if cell else float("nan")
            row[name] = (
                number(value, 0.01 * abs(value))
                if np.isfinite(value) and value
                else f"{value:g}".replace("nan", "-")
            )
        judged = run.feasible.judged.get((pool, rate))
        missed = run.feasible.missed((pool, rate)) if judged else ()
        row[say("pool_run.missed")] = (
            listing([plain_name(one.column) for one in missed])
            if missed
            else say("pool_run.none_missed")
            if judged
            else "-"
        )
        row[say("pool_run.confidence")] = words.sure(judged.confidence) if judged else "-"
        rows.append(row)
    frame = pd.DataFrame(rows)
    numeric = [name for name in frame.columns if name != say("pool_run.missed")]
    return Table(frame, say("pool_run.cells_caption"), numeric=numeric, id="cells")
