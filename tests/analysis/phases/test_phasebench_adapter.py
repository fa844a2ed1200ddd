"""The adapter is the model that fit_phases uses, behind two arrays."""

import pandas as pd
from benchmarks.phasebench_adapter import step_labels
from benchmarks.synthetic.curves import draw_tier

from deadzone.analysis.phases.fit import fit_phases


def test_the_adapter_and_fit_phases_agree():
    for curve in draw_tier("real", 2, 3):
        frame = pd.DataFrame({"knob": curve.x, "wall_s": curve.y})
        labels = fit_phases(frame, "knob", "wall_s").step_labels
        assert tuple(step_labels(curve.x, curve.y)) == labels
