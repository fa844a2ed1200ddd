"""The axis of a figure of amounts: round numbers in the unit that people read, 200 KiB and not 195.312 KiB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadzone.explaining.profiles.units import step_of, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TICKS = 7


def in_units(ax: Axes, unit: str, size: float) -> None:
    """Give the horizontal axis round ticks. unit: of the data. size: the amount whose size chooses the unit shown."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    step = step_of(unit, size)
    low, high = ax.get_xlim()
    inside = MaxNLocator(MOST_TICKS, steps=[1, 2, 2.5, 5, 10]).tick_values(low / step, high / step)
    ax.xaxis.set_major_locator(
        FixedLocator([value * step for value in inside if low <= value * step <= high])
    )
    ax.xaxis.set_major_formatter(lambda value, _: tick(value, unit, size))
