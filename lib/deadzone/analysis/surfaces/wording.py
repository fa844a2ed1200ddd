"""The sentences about a surface: which family it is of, what pays in each region, and how far to
raise the second knob with the first."""

from itertools import groupby

from deadzone.analysis.phases.quantities import listing, plain_name, setting
from deadzone.analysis.phases.thresholds import CERTAINTY
from deadzone.analysis.surfaces.result import SurfaceResult
from deadzone.language.messages import N_, Message, _, ngettext, say
from deadzone.study.levels import plain_number

FAMILIES = {
    "minimum": N_("The scarcer of {a} and {b} decides ({probability:probability})."),
    "additive": N_(
        "{a} and {b} each bring their own share, wherever the other stands "
        "({probability:probability})."
    ),
    "free": N_(
        "What {a} gains depends on {b} in another way than through the scarcer of the two "
        "(probability {probability:probability})."
    ),
    "no_family": N_(
        "Whether the scarcer of {a} and {b} decides, or each brings its own share, is not shown."
    ),
}


REGIONS = {
    "a": N_(
        "{where}: raising {a} pays (elasticity {gain_a:.2f}), raising {b} alone brings nothing as "
        "far as it was measured."
    ),
    "b": N_(
        "{where}: raising {b} pays (elasticity {gain_b:.2f}), raising {a} alone brings nothing as "
        "far as it was measured."
    ),
    "either": N_("{where}: either pays ({a} with elasticity {gain_a:.2f}, {b} with {gain_b:.2f})."),
    "both": N_("{where}: neither pays alone, {a} and {b} have to be raised together."),
    "harm": N_("{where}: more is harm (elasticity {gain_a:.2f} of {a}, {gain_b:.2f} of {b})."),
    "none": N_("{where}: nothing measured pays any more."),
}


MOST_REGIONS = 6
"""Of more regions the largest have a sentence; the table has them all."""


def names(result: SurfaceResult) -> dict[str, str]:
    """Both knobs in words."""
    return {"a": plain_name(result.knobs[0]), "b": plain_name(result.knobs[1])}


def where_text(result: SurfaceResult, region: int) -> str:
    """The cells of a region in words, levels of the first knob with the same stretch of the second
    together."""
    cells = result.cells[result.cells["region"] == region]
    first, second = result.knobs
    spans = enumerate(cells.groupby(first)[second].agg(["min", "max"]).to_records().tolist())
    level = {value: i for i, value in enumerate(result.grid.levels[0])}
    runs = [
        [row for _, row in rows]
        for _, rows in groupby(spans, lambda at: (level[at[1][0]] - at[0], at[1][1:]))
    ]
    return listing([_block(result, (run[0][0], run[-1][0]), run[0][1:]) for run in runs])


def _block(result: SurfaceResult, a: tuple[float, float], b: tuple[float, float]) -> str:
    return _("{a} with {b}", a=_stretch(result, 0, *a), b=_stretch(result, 1, *b))


def _stretch(result: SurfaceResult, knob: int, start: float, stop: float) -> str:
    """A stretch of levels: `1 core to 4 cores`, `pool size 8`."""
    written = dict(zip(result.grid.levels[knob], result.grid.names[knob], strict=True))
    first, last = (
        setting(
            plain_number(value) if written[value][-1].isdigit() else written[value],
            result.knobs[knob],
        )
        for value in (start, stop)
    )
    return first if start == stop else _("{start} to {stop}", start=first, stop=last)


def _ridge(result: SurfaceResult) -> list[Message]:
    """How far the second knob pays at each level of the first."""
    rows = result.ridge.to_records(index=False).tolist()
    if len({row[1] for row in rows}) == 1 and not any(row[-1] for row in rows):
        return [
            _(
                "Whatever {a}: raising {b} beyond {level} brings nothing.",
                level=_stretch(result, 1, *rows[0][1:2] * 2),
                **names(result),
            )
        ]
    pairs = [_block(result, (a, a), (b, b)) for a, b, *_, to_the_end in rows if not to_the_end]
    ends = [_stretch(result, 0, a, a) for a, *_, to_the_end in rows if to_the_end]
    figures = {
        N_(
            "Raise them together: {where}; beyond that, raising {b} alone brings nothing as far as "
            "it was measured."
        ): pairs,
        N_("At {where}, raising {b} pays to the end of what was measured."): ends,
    }
    return [
        say(key, where=listing(where), **names(result)) for key, where in figures.items() if where
    ]


def sentences(result: SurfaceResult | None) -> list[Message]:
    """The family, a sentence a region, how many cells are left open, and the ridge; nothing without
    a surface."""
    if result is None:
        return []
    chance = result.families[result.family]
    kind = result.family if chance >= CERTAINTY else "no_family"
    sentences = [say(FAMILIES[kind], probability=chance, **names(result))]
    for row in result.regions.head(MOST_REGIONS).to_dict("records"):
        gains = {
            f"gain_{part}": row[f"{knob}_elasticity"]
            for part, knob in zip("ab", result.knobs, strict=True)
        }
        where = where_text(result, row["region"])
        sentences.append(
            say(REGIONS[result.part(row["pays"])], where=where, **names(result), **gains)
        )
    if n := int((result.cells["pays"] == "").sum()):
        sentences.append(
            ngettext(
                "{n} of {all} cells is left open: what pays there is not shown, or nothing was "
                "measured further.",
                "{n} of {all} cells are left open: what pays there is not shown, or nothing was "
                "measured further.",
                n=n,
                all=len(result.cells),
            )
        )
    return [*sentences, *_ridge(result)]
