"""The sentences about a surface: which family it is of, what pays in each region, and how far to raise the second knob with the first."""

from itertools import groupby

from deadzone.analysis.phases.quantities import listing, plain_name, setting
from deadzone.analysis.phases.thresholds import CERTAINTY
from deadzone.analysis.surfaces.result import SurfaceResult
from deadzone.language.catalogue import Message, say
from deadzone.study.levels import plain_number

MOST_REGIONS = 6
"""Of more regions the largest have a sentence; the table has them all."""


def names(result: SurfaceResult) -> dict[str, str]:
    """Both knobs in words."""
    return {"a": plain_name(result.knobs[0]), "b": plain_name(result.knobs[1])}


def where_text(result: SurfaceResult, region: int) -> str:
    """The cells of a region in words, levels of the first knob with the same stretch of the second together."""
    cells = result.cells[result.cells["region"] == region]
    first, second = result.knobs
    spans = enumerate(cells.groupby(first)[second].agg(["min", "max"]).to_records().tolist())
    level = {one: i for i, one in enumerate(result.grid.levels[0])}
    runs = [
        [row for _, row in rows]
        for _, rows in groupby(spans, lambda at: (level[at[1][0]] - at[0], at[1][1:]))
    ]
    return listing([_block(result, (run[0][0], run[-1][0]), run[0][1:]) for run in runs])


def _block(result: SurfaceResult, a: tuple[float, float], b: tuple[float, float]) -> str:
    return say("surface.block", a=_stretch(result, 0, *a), b=_stretch(result, 1, *b))


def _stretch(result: SurfaceResult, knob: int, start: float, stop: float) -> str:
    """A stretch of levels: `1 core to 4 cores`, `pool size 8`."""
    written = dict(zip(result.grid.levels[knob], result.grid.names[knob], strict=True))
    first, last = (
        setting(plain_number(one) if written[one][-1].isdigit() else written[one], result.knobs[knob])
        for one in (start, stop)
    )
    return first if start == stop else say("quantity.range", start=first, stop=last)


def _ridge(result: SurfaceResult) -> list[Message]:
    """How far the second knob pays at each level of the first."""
    rows = result.ridge.to_records(index=False).tolist()
    if len({row[1] for row in rows}) == 1 and not any(row[-1] for row in rows):
        return [say("surface.ridge_same", level=_stretch(result, 1, *rows[0][1:2] * 2), **names(result))]
    pairs = [_block(result, (a, a), (b, b)) for a, b, *_, to_the_end in rows if not to_the_end]
    ends = [_stretch(result, 0, a, a) for a, *_, to_the_end in rows if to_the_end]
    said = {"surface.ridge": pairs, "surface.ridge_open": ends}
    return [say(key, where=listing(where), **names(result)) for key, where in said.items() if where]


def sentences(result: SurfaceResult | None) -> list[Message]:
    """The family, a sentence a region, how many cells are left open, and the ridge; nothing without a surface."""
    if result is None:
        return []
    chance = result.families[result.family]
    kind = result.family if chance >= CERTAINTY else "no_family"
    said = [say(f"surface.{kind}", probability=chance, **names(result))]
    for row in result.regions.head(MOST_REGIONS).to_dict("records"):
        gains = {
            f"gain_{part}": row[f"{knob}_elasticity"] for part, knob in zip("ab", result.knobs, strict=True)
        }
        where = where_text(result, row["region"])
        said.append(say(f"surface.{result.part(row['pays'])}", where=where, **names(result), **gains))
    if n := int((result.cells["pays"] == "").sum()):
        said.append(say("surface.open", n=n, all=len(result.cells)))
    return [*said, *_ridge(result)]
