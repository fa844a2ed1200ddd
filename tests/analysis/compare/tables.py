"""Tables to compare, made from a seed."""

import numpy as np
import pandas as pd


def table(factor=1.0, *, seed=1, n=8, noise=0.01, levels=(1, 2, 4), run_id=None, response="wall_s"):
    """Trials of a knob in randomised blocks: response 10 / level * factor, with noise."""
    rng = np.random.default_rng(seed)
    cells = [(block, level) for block in range(n) for level in levels]
    frame = pd.DataFrame(cells, columns=["block", "threads"])
    frame.insert(0, "run_id", run_id or f"run-{seed}")
    scatter = np.exp(noise * rng.standard_normal(len(frame)))
    return frame.assign(**{response: 10 / frame["threads"] * factor * scatter})


def warns(result, *texts):
    """Whether one of the warnings of a comparison has all these texts."""
    return any(all(text in warning for text in texts) for warning in result.warnings)


def samples(a, b, response="wall_s"):
    """Two tables without factors from plain numbers."""
    return pd.DataFrame({response: a}, dtype=float), pd.DataFrame({response: b}, dtype=float)
