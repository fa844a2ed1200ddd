from __future__ import annotations

from itertools import combinations

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


def test_phases_stand_out_from_the_page_and_each_other_and_text_can_be_read():
    colours = [style.PHASE_STYLES[label].colour for label in LABELS]
    assert min(map(contrast_on_white, colours)) >= GRAPHICS_CONTRAST
    for one, other in combinations(map(to_rgb, colours), 2):
        assert sum(abs(x - y) for x, y in zip(one, other, strict=True)) > 0.4
    written = [style.INK, style.MUTED, style.OUTLIER_COLOUR, style.RECOMMENDED_COLOUR]
    assert min(map(contrast_on_white, written)) >= TEXT_CONTRAST
