"""The tables and figures of a load test's report."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from deadzone.explaining.capacity.cold_start import ColdStart
from deadzone.explaining.capacity.feasibility import CERTAINTY, CONFIDENCE, HOPELESS, Feasibility
from deadzone.explaining.capacity.littles_law import UNSTABLE
from deadzone.explaining.capacity.reversal import Reversal
from deadzone.explaining.mechanisms.wording import limits
from deadzone.explaining.phases.quantities import axis_label, listing, number, plain_name
from deadzone.language.catalogue import join, say
from deadzone.reports.document.display import Figure, Table
from deadzone.reports.document.drawing import new_figure
from deadzone.reports.figures.curves import in_words, slices_figure
from deadzone.reports.figures.heat_map import grid, heat_map, number_text
from deadzone.reports.sweep.figures import draw_account
from deadzone.reports.thread_pool import run_words as words
from deadzone.reports.thread_pool.pool_run import PoolRun

TIME_HEIGHT_IN, TITLE_PAD = 2.2, 30.0
"""Height of a panel [in]; its title stands above its legend [pt]."""

MOST_TRIALS = 12
"""Trials that the table of warm-ups lists; the rest behave like them and are counted in the text."""


def map_figure(run: PoolRun) -> Figure:
    """The heat map of the response, the feasible region outlined, each cell with its confidence or what it misses."""
    source = run.source
    trials = source.analysed.astype({source.knob: float, "rate": float})
    cells = grid(trials, source.knob, "rate", source.response)
    words_of = [
        say("pool_run.map_words", rate=f"{rate:,g}", cells=", ".join(
            f"{pool:g} = {number_text(float(value))}" for pool, value in row.items()))
        for rate, row in cells.iterrows()
    ]  # fmt: skip
    region = notes = None
    caption = say("pool_run.map_caption_plain", response=plain_name(source.response))
    title = "pool_run.map_title_plain"
    if run.feasible is not None:
        confidence, region = run.feasible.confidence, run.feasible.is_region
        cells, notes = cells.reindex_like(confidence), _notes(run.feasible, confidence)
        caption = say("pool_run.map_caption", met=int(region.to_numpy().sum()),
                      n=int(confidence.notna().to_numpy().sum()), wanted=CONFIDENCE)  # fmt: skip
        title = "pool_run.map_title"
    return heat_map(
        cells, caption, join([caption, *words_of]), "map",
        inside=region, notes=notes, title=say(title, response=axis_label(source.response)),
    )  # fmt: skip


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
    key = "pool_run.curves_reversal" if there else "pool_run.curves_plain"
    caption = say(key, rates=listing(there) if there else "", n=len(run.models), **words.names_of(run))
    return slices_figure(run.models, caption, "curves", columns=2)


def time_figure(run: PoolRun) -> Figure:
    """Where the time of a request goes at each size, rate by rate."""
    sizes, n = sorted(run.source.analysed[run.source.knob].astype(float).unique()), len(run.why)
    with new_figure(TIME_HEIGHT_IN * n, n, sharex=True, squeeze=False) as (drawing, axes):
        for ax, (rate, found) in zip(axes[:, 0], run.why.items(), strict=True):
            draw_account(run.at(rate), found.model, ax)
            ax.set_xscale("log")
            ax.set_xticks(sizes, [f"{size:g}" for size in sizes], minor=False)
            ax.minorticks_off()
            ax.set_title(say("pool_run.load_other", rate=words.rate_text(rate)), pad=TITLE_PAD)
        axes[-1, 0].set_xlabel(axis_label(run.source.knob))
    caption = say("pool_run.time_caption", **words.names_of(run))
    return Figure.of(drawing, caption, join([caption, *words.why_sentences(run)]), id="time")


def rates_table(run: PoolRun) -> Table:
    """One row a rate: phases, best, smallest that meets the targets, confidence, where more hurts."""
    turning = {one.rate: one for one in run.turning}
    return Table.of(
        "thread_pool.answers",
        [_rate_row(run, rate, turning.get(rate)) for rate in _rates(run)],
        certainty=next(iter(run.models.values())).certainty if run.models else CERTAINTY,
        is_bounded=run.feasible is not None,
        is_explained=bool(run.why),
        **words.names_of(run),
    )


def _rates(run: PoolRun) -> list[float]:
    return sorted(float(rate) for rate in run.source.trials["rate"].dropna().unique())


def _rate_row(run: PoolRun, rate: float, turning: Reversal | None) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(("phases", "best", "tied", "limits"), "-")
    row |= {"rate": rate, "hurts": _beyond(turning)}
    if run.models and rate in run.models:
        row |= in_words(run.models[rate], run.advice[rate])
    if why := run.why.get(rate):
        row["limits"] = join([limits(why, n) for n in range(len(why.model.phases))], "; ")
    if run.feasible is not None:
        found = run.feasible.smallest(rate)
        pool = found.likely if found.pool is None else found.pool
        row |= {"smallest": say("quantity.none"), "confidence": "-"}
        if pool is not None:
            size = f"{pool:g}" if pool == found.pool else say("pool_run.likely", pool=f"{pool:g}")
            row |= {"smallest": size, "confidence": words.sure(found.sure[pool])}
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
    rows = [{"pool": pool, **_borne(feasible, pool)} for pool in feasible.cells.pools]
    knob = plain_name(run.source.knob)
    return Table.of("thread_pool.capacity", rows, knob=knob, wanted=CONFIDENCE, certainty=CERTAINTY)


def _borne(feasible: Feasibility, pool: float) -> dict[str, str]:
    """What a pool bears in words."""
    one, rates = feasible.capacity(pool), feasible.cells.rates
    if one is None:
        return {"shown": "-", "interval": "-", "limited": "-"}
    low, high, shown = (
        words.rate_text(end) if end else say("pool_run.below_lowest", rate=words.rate_text(rates[0]))
        for end in (one.low, one.high, one.shown)
    )
    return {
        "shown": say("pool_run.at_least", rate=shown) if one.shown == rates[-1] else shown,
        "interval": low if one.low == one.high else say("quantity.range", start=low, stop=high),
        "limited": plain_name(one.limited_by) if one.limited_by else "-",
    }


def law_table(run: PoolRun) -> Table:
    """One row a cell: what is in the service at once against its threads."""
    rows = [
        {
            **row,
            "answered": number(row["achieved_rate"], 0.01 * row["achieved_rate"]),
            "at_once": number_text(row["in_flight"]),
            "queued": number_text(row["waiting"]),
        }
        for row in run.law.to_dict("records")
    ]
    return Table.of("thread_pool.law", rows, knob=plain_name(run.source.knob), least=UNSTABLE)


def warming(cold: ColdStart) -> list[int]:
    """The trials that warm up, the longest first."""
    there = [trial for trial, found in cold.warmups.items() if found.is_present]
    return sorted(there, key=lambda trial: -cold.warmups[trial].length_s)


def warmup_table(run: PoolRun) -> Table:
    """The trials with the longest warm-ups."""
    cold, trials = run.cold, run.source.trials.drop_duplicates("trial", keep="last").set_index("trial")
    rows = []
    for trial in warming(cold)[:MOST_TRIALS]:
        found, place = cold.warmups[trial], trials.reindex([trial]).iloc[0]
        ends = {"start": f"{found.low_s:.1f}", "stop": f"{found.high_s:.1f}"}
        rows.append(
            {
                "trial": trial,
                "pool": "-" if pd.isna(place["rate"]) else f"{float(place[run.source.knob]):g}",
                "rate": "-" if pd.isna(place["rate"]) else words.rate_text(float(place["rate"])),
                "found": found,
                "interval": say("quantity.range", **ends),
                "ratio": cold.first_ms[trial] / cold.steady_ms[trial],
                "bias": 100 * found.mean_bias,
                "matters": "yes" if found.matters else "no",
            }
        )
    return Table.of("thread_pool.warmup", rows, knob=plain_name(run.source.knob))


def settings_table(run: PoolRun) -> Table:
    """The table of final settings: the pool at each rate, the size not to exceed, how long to warm up."""
    rates = _rates(run)
    order = [run.judged_rate, *(rate for rate in rates if rate != run.judged_rate)]
    rows = [_setting_row(run, rate, rates) for rate in order]
    for one in run.turning:
        if one.start is not None and one.rate == run.judged_rate:
            why = say("pool_run.why_most", rate=words.rate_text(one.rate))
            rows.append((say("pool_run.most"), words.pool_text(run, one.start), why))
    if run.cold.advised_s > 0:
        rows.append((say("pool_run.warmup_row"), f"{run.cold.advised_s:.0f} s", say("pool_run.why_warmup")))
    return Table.of("thread_pool.settings", settings_rows(rows))


def settings_rows(rows: Sequence[tuple[str, str, str]]) -> list[dict[str, str]]:
    """Rows of a table of settings. rows: component, setting, and why."""
    return [dict(zip(("component", "setting", "why"), row, strict=True)) for row in rows]


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
    if not found.sure:
        return load, "-", say("pool_run.smallest_unknown", rate=words.rate_text(rate))
    key, pool = found.named
    why = say(f"pool_run.why_{key}", confidence=words.sure(found.sure[pool]))
    return load, words.pool_text(run, pool), why


def cells_table(run: PoolRun) -> Table:
    """Every cell: the medians of what the targets bound, what is missed, and the confidence."""
    source, rows = run.source, []
    where = ["rate", source.knob]
    places, analysed = source.trials[where].drop_duplicates().astype(float), source.analysed
    for rate, pool in places.sort_values(where).itertuples(index=False, name=None):
        trials = analysed[(analysed[where].astype(float) == [rate, pool]).all(axis=1)]
        row: dict[str, str] = {
            say("pool_run.rate"): words.rate_text(rate),
            say("pool_run.pool", knob=plain_name(run.source.knob)): f"{pool:g}",
            say("pool_run.trials"): f"{len(trials)}",
        }
        if run.feasible is None:
            row[axis_label(source.response)] = number(float(trials[source.response].median()))
        else:
            row |= _against_targets(run.feasible, pool, rate)
        rows.append(row)
    frame = pd.DataFrame(rows)
    numeric = [name for name in frame.columns if name != say("pool_run.missed")]
    return Table(frame, say("pool_run.cells_caption"), numeric=numeric, id="cells")


def _against_targets(feasible: Feasibility, pool: float, rate: float) -> dict[str, str]:
    """What a cell's typical trial gave of all that the targets bound, what it misses, and the confidence."""
    cell, judged, told = feasible.cells.at(pool, rate), feasible.judged.get((pool, rate)), {}
    for one in feasible.objectives:
        value = cell.typical(one.column) if cell else float("nan")
        name = f"{axis_label(one.column)} {'≤' if one.sense == 'at_most' else '≥'} {one.bound:,g}"
        told[name] = number(value, 0.01 * abs(value))
    missed = [plain_name(one.column) for one in feasible.missed((pool, rate))] if judged else ["-"]
    told[say("pool_run.missed")] = listing(missed or [say("pool_run.none_missed")])
    told[say("pool_run.confidence")] = words.sure(judged.confidence) if judged else "-"
    return told
