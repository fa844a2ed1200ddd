"""Both knobs of a grid together in a report: the map of which pays where, its regions, and what
they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from deadzone.analysis.phases.quantities import axis_label, plain_name
from deadzone.analysis.phases.thresholds import CERTAINTY
from deadzone.analysis.surfaces.result import PAYS, SurfaceResult
from deadzone.analysis.surfaces.wording import names, sentences, where_text
from deadzone.language.formats import number
from deadzone.language.messages import N_, _, join, say
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Block, Claim, Evidence, Figure, Prose, Table
from deadzone.report.document.drawing import new_figure
from deadzone.style import MUTED, RECOMMENDED_COLOUR

ARROWS = {
    "a": N_("→ {a} pays"),
    "b": N_("↑ {b} pays"),
    "either": N_("→↑ either pays"),
    "both": N_("↗ only both together pay"),
    "harm": N_("× more is harm"),
    "none": N_("· nothing pays"),
    "open": N_("? left open"),
}


SURFACE_REGIONS_TABLE = Layout(
    columns={
        N_("region"): "{where}",
        N_("what pays"): "{what}",
        N_("cells"): "{cells:,}",
        N_("elasticity of {a}"): "{a_elasticity:.2f}",
        N_("elasticity of {b}"): "{b_elasticity:.2f}",
        N_("probability"): "{probability:probability}",
    },
    caption=N_(
        "One region of cells where the same is shown to pay.",
        "{n} regions of cells where the same is shown to pay, the largest first.",
    ),
    ids="{region}",
    numeric=(2, 3, 4, 5),
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TINTS = ("#B9D6EE", "#F7D9A0", "#BFE3CF", "#DAC7EA", "#F3BDB4", "#E1E5EA", "#FFFFFF")
"""Of a cell by what pays there, in the order of PAYS, and of one left open; dark numbers can be
read on all of them, and an arrow says the same."""

CELL_HEIGHT_IN = 0.62

MARGIN_IN = 1.1

RIDGE = {"_low": ":", "_high": ":", "": "-"}
"""Lines of the ridge and of its interval, by the ends of their columns."""


def surface_blocks(result: SurfaceResult | None) -> list[Block]:
    """The map, the table of regions, and a sentence each; nothing without a surface."""
    if result is None:
        return []
    rests_on = (Evidence("surface"), Evidence("surface-regions"))
    said = tuple(Claim(sentence, rests_on) for sentence in sentences(result))
    return [_map(result), _regions(result), Prose(said)]


def _map(result: SurfaceResult) -> Figure:
    """The response at each cell with an arrow to where it pays, and the ridge."""
    from matplotlib.patches import Patch

    first, second = result.knobs
    fitted, pays = (
        result.cells.pivot(index=second, columns=first, values=name) for name in ("fitted", "pays")
    )
    pays = pays.map(result.part, na_action="ignore")
    kinds = dict(zip((*PAYS, ""), TINTS, strict=True))
    legend = {kind: say(ARROWS[kind or "open"], **names(result)) for kind in kinds}
    values = fitted.to_numpy(float)
    with new_figure(MARGIN_IN + CELL_HEIGHT_IN * fitted.shape[0]) as (drawing, ax):
        for place, kind in np.ndenumerate(pays.to_numpy(object)):
            known = isinstance(kind, str)
            _cell(ax, place, float(values[place]), kinds[kind] if known else "none",
                  legend[kind].split(" ")[0] if known else "")  # fmt: skip
        ax.set_xlim(-0.5, fitted.shape[1] - 0.5)
        ax.set_ylim(-0.5, fitted.shape[0] - 0.5)
        ax.set(
            xlabel=axis_label(first),
            ylabel=axis_label(second),
            title=_("Which of {a} and {b} pays where", **names(result)),
        )
        ax.grid(visible=False)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        _draw_ridge(ax, result, fitted)
        shown = [kind for kind in kinds if (pays == kind).any(axis=None)]
        handles = [
            Patch(facecolor=kinds[kind], edgecolor=MUTED, linewidth=0.5, label=legend[kind])
            for kind in shown
        ]
        drawing.legend(handles=handles, loc="outside lower left", ncols=3, fontsize=8)
        ax.set_xticks(range(fitted.shape[1]), result.grid.names[0])
        ax.set_yticks(range(fitted.shape[0]), result.grid.names[1])
    words = sentences(result)
    caption = _(
        "{family} Above the line, the ridge, raising {b} gains nothing (dotted: its "
        "{certainty:percent} interval).",
        family=words[0],
        certainty=CERTAINTY,
        **names(result),
    )
    shape = _(
        "A map of {response} over {a} (across) and {b} (up); an arrow in each cell points to where "
        "it pays. {said}",
        response=plain_name(result.response),
        said=join(words),
        **names(result),
    )
    return Figure.of(drawing, caption, shape, id="surface")


def _draw_ridge(ax: Axes, result: SurfaceResult, fitted: pd.DataFrame) -> None:
    """The ridge as steps between cells, with its interval."""
    for end, style in RIDGE.items():
        at = (
            result.ridge.set_index(result.knobs[0])[result.knobs[1] + end]
            .reindex(fitted.columns)
            .to_numpy(float)
        )
        edge = np.where(np.isnan(at), np.nan, np.searchsorted(fitted.index, at) + 0.5)
        ax.stairs(
            edge,
            np.arange(len(at) + 1) - 0.5,
            baseline=None,
            color=RECOMMENDED_COLOUR,
            linestyle=style,
            linewidth=2.6 if style == "-" else 1.4,
            zorder=5,
            clip_on=False,
        )


def _cell(ax: Axes, place: tuple[int, ...], value: float, colour: str, note: str) -> None:
    """A tinted cell with its number, and below it a note."""
    from matplotlib.patches import Rectangle

    i, j = place
    ax.add_patch(
        Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=1)
    )
    ax.text(j, i + (0.17 if note else 0), number(value), ha="center", va="center", fontsize=10,
            color=MUTED if np.isnan(value) else "#1F2934")  # fmt: skip
    if note:
        size = 7.5 if len(note) > 2 else 12
        ax.text(j, i - 0.22, note, ha="center", va="center", fontsize=size, color="#1F2934")


def _regions(result: SurfaceResult) -> Table:
    """One row a region: where, what pays, cells, elasticities and how sure that is."""
    rows = [
        {
            **row,
            "a_elasticity": row[f"{result.knobs[0]}_elasticity"],
            "b_elasticity": row[f"{result.knobs[1]}_elasticity"],
            "what": say(ARROWS[result.part(row["pays"])], **names(result)),
            "where": where_text(result, row["region"]),
        }
        for row in result.regions.to_dict("records")
    ]
    return Table.of(SURFACE_REGIONS_TABLE, rows, "surface-regions", n=len(rows), **names(result))
