"""The surface over two knobs as its users hold it: the result of a fit, with the ways to ask it,
print it and draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deadzone.analysis.phases.quantities import axis_label
from deadzone.analysis.surfaces.result import SurfaceResult
from deadzone.analysis.surfaces.wording import sentences
from deadzone.errors import PhaseError
from deadzone.language.formats import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Surface(SurfaceResult):
    """Which of two knobs pays where; its fields are those of `SurfaceResult`."""

    def predict(self, first: Any, second: Any) -> np.ndarray:
        """The fitted response at measured cells, in its unit. first, second: levels of the knobs,
        shape (n,).

        Raises PhaseError for a cell that was not measured: a surface says nothing between its
        levels.
        """
        fitted = self.cells.set_index([*self.knobs])["fitted"]
        asked = [*zip(np.atleast_1d(first), np.atleast_1d(second), strict=True)]
        for cell in asked:
            if cell not in fitted.index:
                sentence = ", ".join(
                    f"{name} = {level:g}" for name, level in zip(self.knobs, cell, strict=True)
                )
                raise PhaseError(f"The cell {sentence} was not measured.")
        return fitted.loc[asked].to_numpy(float)

    def summary(self) -> str:
        """The family of the surface, what pays in each region, and the ridge, a sentence a line."""
        return "\n".join(map(str, sentences(self)))

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw the fitted response of every cell, and the ridge beyond which the second knob brings
        nothing; returns the axes.

        ax: axes to draw into, by default new ones. style: of the cells, such as `cmap`; `color` and
        `label` are of the ridge.
        """
        import matplotlib.pyplot as plt

        ax = plt.subplots(layout="constrained")[1] if ax is None else ax
        first, second = self.knobs
        grid = self.cells.pivot(index=second, columns=first, values="fitted")
        of_ridge = {"color": style.pop("color", "black"), "label": style.pop("label", "ridge")}
        shades = {"cmap": "Blues", "aspect": "auto", "origin": "lower", **style}
        ax.imshow(np.log(grid.to_numpy(float)), **shades)
        for (row, column), value in np.ndenumerate(grid.to_numpy(float)):
            if np.isfinite(value):
                ax.text(column, row, number(value), ha="center", va="center", fontsize=8)
        ends = self.ridge.set_index(first)[second].reindex(grid.columns).to_numpy(float)
        edge = np.where(np.isnan(ends), np.nan, np.searchsorted(grid.index, ends) + 0.5)
        ax.stairs(edge, np.arange(len(edge) + 1) - 0.5, baseline=None, linewidth=2, **of_ridge)
        ax.set_xticks(range(grid.shape[1]), self.grid.names[0])
        ax.set_yticks(range(grid.shape[0]), self.grid.names[1])
        ax.set(xlabel=axis_label(first), ylabel=axis_label(second), title=axis_label(self.response))
        return ax

    def __repr__(self) -> str:
        return (
            f"Surface({self.response} over {self.knobs[0]} and {self.knobs[1]}: {len(self.cells)} "
            f"cells, {self.family})"
        )

    def _repr_html_(self) -> str:
        return str(self.regions.to_html(index=False))
