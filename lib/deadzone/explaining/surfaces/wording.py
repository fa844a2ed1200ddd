"""The sentences about a surface: which family it is of, what pays in each region, and how far to raise the second knob with the first."""

from itertools import groupby

import pandas as pd

from deadzone.explaining.phases.quantities import (
    level_number,
    listing,
    plain_name,
    setting,
    unit_name,
    unit_of,
)
from deadzone.explaining.surfaces.result import SurfaceResult
from deadzone.language.catalogue import Message, join, say

MOST_REGIONS = 6
"""Of more regions the largest have a sentence; the table has them all."""


def level_text(result: SurfaceResult, knob: int, level: float) -> str:
    """A level as it is written, without its unit. knob: 0 or 1."""
    written = result.grid.names[knob][int(abs(result.grid.levels[knob] - level).argmin())]
    return (
        level_number(level, result.knobs[knob])
        if written[:1].isdigit() and written[-1:].isdigit()
        else written
    )


def levels_text(result: SurfaceResult, knob: int, start: float, stop: float) -> str:
    """A stretch of levels in words: `1 to 4 cores`, `pool size 8`."""
    column, ends = result.knobs[knob], [level_text(result, knob, one) for one in (start, stop)]
    text = ends[0] if start == stop else say("quantity.range", start=ends[0], stop=ends[1])
    if not unit_of(column):
        return say("quantity.named", name=plain_name(column), value=text)
    one = setting(stop, column) if start == stop and ends[1][-1:].isdigit() else ""
    return one or say("quantity.setting", value=text, unit=unit_name(column, stop))


def where_text(result: SurfaceResult, region: int) -> str:
    """The cells of a region, levels of the first knob with the same stretch of the second together."""
    cells = result.cells[result.cells["region"] == region]
    spans = cells.groupby("a")["b"].agg(["min", "max"]).itertuples(name=None)
    runs = [list(rows) for _, rows in groupby(spans, key=lambda row: row[1:])]
    return listing([
        say("surface.block", a=levels_text(result, 0, run[0][0], run[-1][0]), b=levels_text(result, 1, *run[0][1:]))
        for run in runs
    ])  # fmt: skip


def region_text(result: SurfaceResult, row: pd.Series) -> Message:
    """What pays in a region. row: of `result.regions`."""
    names = dict(zip("ab", map(plain_name, result.knobs), strict=True))
    where = where_text(result, int(row["region"]))
    gains = {"gain_a": row["a_elasticity"], "gain_b": row["b_elasticity"]}
    return say(f"surface.{row['pays']}", where=where, **names, **gains)


def ridge_text(result: SurfaceResult) -> Message:
    """How far the second knob pays at each level of the first."""
    names = dict(zip("ab", map(plain_name, result.knobs), strict=True))
    rows = list(result.ridge.itertuples())
    pairs = [
        say("surface.block", a=levels_text(result, 0, row.a, row.a), b=levels_text(result, 1, row.b, row.b))
        for row in rows
        if not row.to_the_end
    ]
    open_ended = [levels_text(result, 0, row.a, row.a) for row in rows if row.to_the_end]
    if len({row.b for row in rows}) == 1 and pairs and not open_ended:
        return say("surface.ridge_same", b_level=levels_text(result, 1, rows[0].b, rows[0].b), **names)
    said = [say("surface.ridge", pairs=listing(pairs), **names)] if pairs else []
    return join(
        [*said, *([say("surface.ridge_open", where=listing(open_ended), **names)] if open_ended else [])]
    )


def sentences(result: SurfaceResult | None) -> list[Message]:
    """The family, a sentence a region, how many cells are left open, and the ridge; nothing without a surface."""
    if result is None:
        return []
    names = dict(zip("ab", map(plain_name, result.knobs), strict=True))
    chance = result.families[result.family]
    said = [say(f"surface.{result.family}", probability=chance, **names)]
    said += [region_text(result, row) for _, row in result.regions.head(MOST_REGIONS).iterrows()]
    if n := int((result.cells["pays"] == "").sum()):
        said.append(say("surface.open", n=n, all=len(result.cells)))
    return [*said, ridge_text(result)] if len(result.ridge) else said
