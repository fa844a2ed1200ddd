"""Both knobs of a grid together in a report: the map of which pays where, its regions, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deadzone.analysis.phases.quantities import plain_name
from deadzone.analysis.phases.thresholds import CERTAINTY
from deadzone.analysis.surfaces.result import PAYS, SurfaceResult
from deadzone.analysis.surfaces.wording import names, sentences, where_text
from deadzone.language.catalogue import join, say
from deadzone.report.document.display import Block, Claim, Evidence, Figure, Prose, Table
from deadzone.report.figures.heat_map import heat_map
from deadzone.style import MUTED, RECOMMENDED_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TINTS = ("#B9D6EE", "#F7D9A0", "#BFE3CF", "#DAC7EA", "#F3BDB4", "#E1E5EA", "#FFFFFF")
"""Of a cell by what pays there, in the order of PAYS, and of one left open; dark numbers can be read on all of them, and an arrow says
the same."""

RIDGE = {"_low": ":", "_high": ":", "": "-"}
"""Lines of the ridge and of its interval, by the ends of their columns."""


def surface_blocks(result: SurfaceResult | None) -> list[Block]:
    """The map, the table of regions, and a sentence each; nothing without a surface."""
    if result is None:
        return []
    rests_on = (Evidence("surface"), Evidence("surface-regions"))
    said = tuple(Claim(one, rests_on) for one in sentences(result))
    return [_map(result), _regions(result), Prose(said)]


def _map(result: SurfaceResult) -> Figure:
    """The response at each cell with an arrow to where it pays, and the ridge."""
    from matplotlib.patches import Patch

    first, second = result.knobs
    fitted, pays = (result.cells.pivot(index=second, columns=first, values=one) for one in ("fitted", "pays"))
    pays = pays.map(result.part, na_action="ignore")
    kinds = dict(zip((*PAYS, ""), TINTS, strict=True))
    said = {one: say(f"surface.arrow_{one or 'open'}", **names(result)) for one in kinds}

    def finish(ax: Axes) -> None:
        for end, style in RIDGE.items():
            at = result.ridge.set_index(first)[second + end].reindex(fitted.columns).to_numpy(float)
            edge = np.where(np.isnan(at), np.nan, np.searchsorted(fitted.index, at) + 0.5)
            ax.stairs(edge, np.arange(len(at) + 1) - 0.5, baseline=None, color=RECOMMENDED_COLOUR, linestyle=style,
                      linewidth=2.6 if style == "-" else 1.4, zorder=5, clip_on=False)  # fmt: skip
        shown = [one for one in kinds if (pays == one).any(axis=None)]
        handles = [
            Patch(facecolor=kinds[one], edgecolor=MUTED, linewidth=0.5, label=said[one]) for one in shown
        ]
        ax.figure.legend(handles=handles, loc="outside lower left", ncols=3, fontsize=8)
        ax.set_xticks(range(fitted.shape[1]), result.grid.names[0])
        ax.set_yticks(range(fitted.shape[0]), result.grid.names[1])

    words = sentences(result)
    return heat_map(
        fitted,
        say("surface.caption", family=words[0], certainty=CERTAINTY, **names(result)),
        say("surface.described", response=plain_name(result.response), said=join(words), **names(result)),
        "surface", notes=pays.replace({one: text.split(" ")[0] for one, text in said.items()}).fillna(""),
        title=say("surface.title", **names(result)), tints=pays.replace(kinds).to_numpy(object), finish=finish,
    )  # fmt: skip


def _regions(result: SurfaceResult) -> Table:
    """One row a region: where, what pays, cells, elasticities and how sure that is."""
    rows = [
        {
            **row,
            "a_elasticity": row[f"{result.knobs[0]}_elasticity"],
            "b_elasticity": row[f"{result.knobs[1]}_elasticity"],
            "what": say(f"surface.arrow_{result.part(row['pays'])}", **names(result)),
            "where": where_text(result, row["region"]),
        }
        for row in result.regions.to_dict("records")
    ]
    return Table.of("sweep.surface_regions", rows, "surface-regions", n=len(rows), **names(result))
