"""A comparison as its users hold it: the result, with the ways to print it and draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadzone.explaining.compare.forest import forest_plot
from deadzone.explaining.compare.page import comparison_page
from deadzone.explaining.compare.result import ComparisonResult
from deadzone.explaining.page import Page, Paged

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison(Paged, ComparisonResult):
    """B against A, treatment by treatment and overall; its fields are those of `ComparisonResult`."""

    def plot(self) -> Figure:
        """Forest plot: the ratio of every treatment with its interval, and the overall one; a matplotlib figure."""
        return forest_plot(self)

    def page(self) -> Page:
        """Everything as a page."""
        return comparison_page(self)
