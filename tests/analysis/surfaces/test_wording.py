"""What is said of a surface: stretches of levels that lie side by side are said together, others
are not."""

import numpy as np
import pandas as pd

from deadzone.analysis.surfaces.fitting import fit_surface
from deadzone.analysis.surfaces.wording import MOST_REGIONS, sentences, where_text


def surface():
    """Only the limit pays; four limits by three numbers of threads."""
    rng = np.random.default_rng(3)
    rows = [
        (a, b, 10 / a * np.exp(0.01 * rng.standard_normal()))
        for a in (1, 2, 4, 8)
        for b in (1, 2, 4)
        for _ in range(3)
    ]
    return fit_surface(
        pd.DataFrame(rows, columns=["cpu_limit", "threads", "wall_s"]),
        ("cpu_limit", "threads"),
        "wall_s",
    )


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_levels_with_the_same_stretch_are_said_together():
    assert plain(where_text(surface(), 1)) == "1 core to 4 cores with 1 thread to 4 threads"


def test_levels_that_are_apart_are_said_apart():
    result = surface()
    result.cells.loc[result.cells[result.knobs[0]] == 2, "region"] = 7
    said = plain(where_text(result, 1))
    assert said == "1 core with 1 thread to 4 threads and 4 cores with 1 thread to 4 threads"


def test_a_knob_that_brings_nothing_is_said_so_once():
    said = [plain(one) for one in sentences(surface())]
    assert "raising CPU limit pays" in said[1] and "raising threads alone brings nothing" in said[1]
    assert said[-1] == "Whatever CPU limit: raising threads beyond 1 thread brings nothing."
    assert len(said) <= MOST_REGIONS + 3


def test_without_a_surface_nothing_is_said():
    assert sentences(None) == []
