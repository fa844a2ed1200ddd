"""Both knobs of a grid together in a report: the map of which pays where, its regions, and what they say."""

import numpy as np

from deadzone.explaining.phases.quantities import plain_name
from deadzone.explaining.phases.thresholds import CERTAINTY
from deadzone.explaining.surfaces.result import PAYS, SurfaceResult
from deadzone.explaining.surfaces.wording import level_text, sentences, where_text
from deadzone.language.catalogue import join, say
from deadzone.reports.document.display import Block, Claim, Evidence, Figure, Prose, Table
from deadzone.reports.document.drawing import new_figure
from deadzone.reports.figures.heat_map import MARGIN_IN, NOTED_HEIGHT_IN, draw_cells
from deadzone.style import INK, RECOMMENDED_COLOUR

COLOURS = dict(
    zip(
        (*PAYS, ""),
        ("#B9D6EE", "#F7D9A0", "#BFE3CF", "#DAC7EA", "#F3BDB4", "#E1E5EA", "#FFFFFF"),
        strict=True,
    )
)
"""Tints of a cell by what pays there; dark numbers can be read on all of them, and an arrow says the same."""

LEGEND_IN = 0.5


def surface_blocks(result: SurfaceResult | None) -> list[Block]:
    """The map, the table of regions, and a sentence each; nothing without a surface."""
    if result is None:
        return []
    said = tuple(Claim(one, (Evidence("surface"), Evidence("surface-regions"))) for one in sentences(result))
    return [surface_figure(result), surface_table(result), Prose(said)]


def surface_figure(result: SurfaceResult) -> Figure:
    """The response at each cell with an arrow to where it pays, and the ridge."""
    from matplotlib.patches import Patch

    names = dict(zip("ab", map(plain_name, result.knobs), strict=True))
    cells = result.cells.pivot(index="b", columns="a", values="fitted").rename_axis(
        index=result.knobs[1], columns=result.knobs[0]
    )
    pays = result.cells.pivot(index="b", columns="a", values="pays").to_numpy(object)
    arrows = {one: say(f"surface.arrow_{one or 'open'}", **names) for one in COLOURS}
    notes = np.vectorize(lambda one: arrows[one].split(" ")[0] if one in arrows else "", otypes=[object])(
        pays
    )
    shown = [one for one in COLOURS if (pays == one).any()]
    with new_figure(MARGIN_IN + LEGEND_IN + NOTED_HEIGHT_IN * len(cells)) as (drawing, ax):
        draw_cells(ax, cells, lambda at: COLOURS[pays[at]], np.full(cells.shape, False), notes)
        for column, style in (("b_low", ":"), ("b_high", ":"), ("b", "-")):
            at = result.ridge.set_index("a")[column].reindex(cells.columns)
            edge = np.where(at.isna(), np.nan, np.searchsorted(cells.index, at) + 0.5)
            ax.stairs(edge, np.arange(len(edge) + 1) - 0.5, baseline=None, color=RECOMMENDED_COLOUR, linestyle=style,
                      linewidth=2.6 if style == "-" else 1.4, zorder=5, clip_on=False)  # fmt: skip
        ax.set_xticks(range(cells.shape[1]), [level_text(result, 0, one) for one in cells.columns])
        ax.set_yticks(range(cells.shape[0]), [level_text(result, 1, one) for one in cells.index])
        handles = [
            Patch(facecolor=COLOURS[one], edgecolor=INK, linewidth=0.5, label=arrows[one]) for one in shown
        ]
        drawing.legend(handles=handles, loc="outside lower left", ncols=3, fontsize=8)
        ax.set_title(say("surface.title", **names))
    said = sentences(result)
    caption = say("surface.caption", family=said[0], certainty=CERTAINTY, **names)
    described = say("surface.described", response=plain_name(result.response), said=join(said), **names)
    return Figure.of(drawing, caption, described, id="surface")


def surface_table(result: SurfaceResult) -> Table:
    """One row a region: where, what pays, cells, elasticities and how sure that is."""
    names = dict(zip("ab", map(plain_name, result.knobs), strict=True))
    rows = [
        {
            **row,
            "what": say(f"surface.arrow_{row['pays']}", **names),
            "where": where_text(result, row["region"]),
        }
        for row in result.regions.to_dict("records")
    ]
    heads = {knob: say("surface.elasticity", name=name) for knob, name in names.items()}
    return Table.of("sweep.surface_regions", rows, "surface-regions", n=len(rows), **heads)
