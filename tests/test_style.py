"""The palette: every phase has a look of its own, and everything can be read on white."""

from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib.colors import to_rgb

from deadzone import style
from deadzone.analysis.phases.thresholds import LABELS

GRAPHICS_CONTRAST, TEXT_CONTRAST = 3.0, 4.5
"""Least contrast ratios of WCAG 2.2, success criteria 1.4.11 and 1.4.3."""


def luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast_on_white(colour: str) -> float:
    return 1.05 / (luminance(colour) + 0.05)


def test_every_phase_has_a_style_and_no_other():
    assert set(style.PHASE_STYLES) == set(LABELS)


@pytest.mark.parametrize("label", LABELS)
def test_a_phase_stands_out_from_the_page(label: str):
    assert contrast_on_white(style.PHASE_STYLES[label].colour) >= GRAPHICS_CONTRAST


@pytest.mark.parametrize(("a", "b"), list(combinations(LABELS, 2)))
def test_two_phases_differ_in_more_than_a_shade(a: str, b: str):
    one, other = (to_rgb(style.PHASE_STYLES[label].colour) for label in (a, b))
    assert sum(abs(x - y) for x, y in zip(one, other, strict=True)) > 0.4


@pytest.mark.parametrize(
    "colour", [style.INK, style.MUTED, style.OUTLIER_COLOUR, style.RECOMMENDED_COLOUR]
)
def test_text_and_marks_can_be_read(colour: str):
    assert contrast_on_white(colour) >= TEXT_CONTRAST
