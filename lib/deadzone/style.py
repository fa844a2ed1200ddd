"""One palette and one figure style for the whole project.

A phase has the same colour, hatch and name in every figure and table. The hues are Okabe and Ito's
(2008), which readers with any common colour vision tell apart; colour is never the only carrier of
meaning, so each phase also has a hatch and is labelled in words.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from deadzone.language.messages import N_, say

PHASE_NAMES = {
    "linear": N_("linear"),
    "dead_zone": N_("dead zone"),
    "breakthrough": N_("breakthrough"),
    "plateau": N_("plateau"),
    "reversal": N_("reversal"),
}


PHASE_MEANINGS = {
    "linear": N_("paying: improves about in proportion"),
    "dead_zone": N_("does not help, or hurts, but a later range helps again"),
    "breakthrough": N_("far better than proportional: a threshold was crossed"),
    "plateau": N_("nothing more to gain"),
    "reversal": N_("worse and worse"),
}


@dataclass(frozen=True)
class PhaseStyle:
    """How one phase label is drawn and named."""

    label: str
    colour: str
    hatch: str

    @property
    def name(self) -> str:
        """The label in words, in the language spoken."""
        return say(PHASE_NAMES[self.label])

    @property
    def meaning(self) -> str:
        """What the label says of a phase, in the language spoken."""
        return say(PHASE_MEANINGS[self.label])


PHASE_STYLES = {
    phase_style.label: phase_style
    for phase_style in (
        PhaseStyle("linear", "#0072B2", ""),
        PhaseStyle("dead_zone", "#D55E00", "//"),
        PhaseStyle("breakthrough", "#009E73", ""),
        PhaseStyle("plateau", "#6B6B6B", ".."),
        PhaseStyle("reversal", "#AA3377", "\\\\"),
    )
}
"""The phases by their labels, in the order in which legends name them."""

INK = "#1F2933"
MUTED = "#52606D"
FIT_COLOUR = "#1F2933"
TRIAL_COLOUR = "#33658A"
OUTLIER_COLOUR = "#B00020"
RECOMMENDED_COLOUR = "#117A37"

BEFORE_COLOUR = "#B4BCC6"
AFTER_COLOUR = "#33658A"
LESS_COLOUR = "#2F6DB5"
MORE_COLOUR = "#C8581A"
"""Of two states and of what became less or more between them: blue and orange, which all readers
tell apart; a sign or a hatch says the same."""

WIDTH_IN = 6.38
"""Width of every figure of a report: that of the text on A4, so that letters of 8 points are of 8
points in print."""

LOG_RESPONSE_FACTOR = 3.0
"""Responses that span more than this are drawn on a log axis; below it a plain axis reads
easier."""

MOST_DRAWN = 5_000
"""More trials than this are one picture of points: a page would be of megabytes, which no browser
shows at once."""

RC_PARAMS: dict[str, Any] = {
    "axes.edgecolor": MUTED,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 11,
    "figure.facecolor": "white",
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "grid.color": "#E4E7EB",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "deadzone",
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
}
"""matplotlib settings; a fixed salt keeps the ids inside an SVG the same from run to run."""


@contextmanager
def figure_style() -> Iterator[None]:
    """The style of every figure, for the `with` block in which one is drawn.

    Only the settings of the style are put back: the block may be where a kernel loads its backend,
    which switches interactive drawing on for all figures after it.
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    plt.draw_if_interactive()  # loads the backend, which sets the figures of a notebook
    settings: Any = mpl.rcParams
    before = {name: settings[name] for name in RC_PARAMS}
    settings.update(RC_PARAMS)
    try:
        yield
    finally:
        settings.update(before)
