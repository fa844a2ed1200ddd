"""An attribution as its users hold it: the result, with the ways to ask it, print it and draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadzone.explaining.attribution import wording
from deadzone.explaining.attribution.page import attribution_page, waterfall
from deadzone.explaining.attribution.result import AttributionResult
from deadzone.explaining.page import Page, Paged
from deadzone.language.catalogue import Message

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Attribution(Paged, AttributionResult):
    """Why the slow environment is slow, hypothesis by hypothesis; its fields are those of `AttributionResult`."""

    def verdict(self) -> Message:
        """The whole verdict in a sentence or two."""
        return wording.verdict(self)

    def summary(self) -> str:
        """Everything as a page of text."""
        return str(self)

    def plot(self) -> Figure:
        """Waterfall from the fast response, part by part, to the slow one; a matplotlib figure."""
        return waterfall(self)

    def page(self) -> Page:
        """Everything as a page."""
        return attribution_page(self)
