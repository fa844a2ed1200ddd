"""The phase model behind the interface of a scorer: trials in, one label for each step out.

PYTHONPATH=benchmarks python score.py phasebench_adapter:step_labels
"""

import numpy as np

from deadzone.analysis.phases.inference import infer
from deadzone.analysis.phases.labels import decode, step_probabilities
from deadzone.analysis.phases.thresholds import LABELS, Thresholds


def step_labels(x: np.ndarray, y: np.ndarray) -> list[str]:
    """Label of each step between neighbouring levels, by the model `fit_phases` uses.

    x, y: shape (trials,), > 0; knob and response of each trial, y to minimise, in any order.
    Returns one label for each step between neighbouring levels of x.
    """
    levels, level = np.unique(np.asarray(x, dtype=float), return_inverse=True)
    posterior = infer(np.log(levels), np.log(np.asarray(y, dtype=float)), level, Thresholds())
    return [LABELS[k] for k in decode(step_probabilities(posterior.pieces, len(levels) - 1))]
