"""Frames and values as JSON has them: plain numbers, strings and lists."""

import math
from typing import Any

import pandas as pd


def records(frame: pd.DataFrame, whole: bool = False) -> list[dict[str, Any]]:
    """The rows of a frame as dictionaries by column name, every value made `plain`."""
    return [
        {str(name): plain(value, whole) for name, value in row.items()}
        for row in frame.astype(object).to_dict(orient="records")
    ]


def plain(value: Any, whole: bool = False) -> Any:
    """A value without a type of numpy's, and no `Message`; a number that is unknown or infinite is
    None.

    whole: write 4.0 as 4.
    """
    if isinstance(value, str):
        return str(value)
    item = value.item() if hasattr(value, "item") else value
    if item is pd.NA or (isinstance(item, float) and not math.isfinite(item)):
        return None
    return (
        int(item)
        if whole and isinstance(item, float) and item.is_integer() and abs(item) < 2**53
        else item
    )
