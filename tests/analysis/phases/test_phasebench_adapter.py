"""The adapter is the model that fit_phases uses, behind two arrays."""

import numpy as np
import pandas as pd
from benchmarks.phasebench_adapter import step_labels
from benchmarks.synthetic.curves import draw_tier

from deadzone import fit_phases


def test_the_adapter_and_fit_phases_agree():
    for curve in draw_tier("real", 4, 3):
        frame = pd.DataFrame({"knob": curve.x, "wall_s": curve.y})
        assert (
            tuple(step_labels(curve.x, curve.y)) == fit_phases(frame, "knob", "wall_s").step_labels
        )


def test_there_is_one_label_for_each_step():
    assert len(step_labels(np.array([4.0, 1.0, 2.0, 8.0]), np.array([3.0, 10.0, 5.0, 3.1]))) == 3
