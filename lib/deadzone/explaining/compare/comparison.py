"""A comparison as its users hold it: the result, with the ways to print it and draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadzone.explaining.compare.forest import forest_plot
from deadzone.explaining.compare.page import comparison_html, comparison_text
from deadzone.explaining.compare.result import ComparisonResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison(ComparisonResult):
    """B against A, treatment by treatment and overall; its fields are those of `ComparisonResult`."""

    def plot(self) -> Figure:
        """Forest plot: the ratio of every treatment with its interval, and the overall one; a matplotlib figure."""
        return forest_plot(self)

    def __str__(self) -> str:
        return comparison_text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return comparison_html(self)
