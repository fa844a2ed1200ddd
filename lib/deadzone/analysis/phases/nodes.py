"""The node as a blocking factor: trials of one curve that ran on several machines of a cluster.

Machines differ, so ln(response) = level + node, the additive model of a block design (Montgomery,
Design and Analysis of Experiments, chapter 4; incomplete blocks are told apart as long as levels
and nodes hang together). What a node is faster or slower by is taken off its trials before the
curve is fitted. Far-off trials have no say in it.
"""

import numpy as np

FAR_OFF = 4.0
"""Residuals beyond this many robust standard deviations do not take part."""

PASSES = 3
"""Fits, each without the trials that the one before found far off; the third changes nothing any
more."""


def node_effects(level: np.ndarray, node: np.ndarray, value: np.ndarray) -> np.ndarray | None:
    """What each trial differs by for the node it ran on, in ln(response), mean 0, shape (trials,);
    None where the design cannot tell nodes from levels.

    level: shape (trials,), position of each trial's level. node: shape (trials,), names. value:
    shape (trials,).
    """
    _, code = np.unique(node.astype(str), return_inverse=True)
    columns = np.hstack([_indicators(level), _indicators(code)[:, 1:]])
    keep = np.ones(len(value), dtype=bool)
    for _ in range(PASSES):
        if np.linalg.matrix_rank(columns[keep]) < columns.shape[1]:
            return None
        coefficients = np.linalg.lstsq(columns[keep], value[keep], rcond=None)[0]
        residual = value - columns @ coefficients
        freedom = max(int(keep.sum()) - columns.shape[1], 1)
        scale = 1.4826 * np.median(np.abs(residual[keep])) * np.sqrt(keep.sum() / freedom)
        keep = np.abs(residual) <= FAR_OFF * max(float(scale), 1e-12)
    effect = np.concatenate([[0.0], coefficients[int(level.max()) + 1 :]])[code]
    return np.asarray(effect - effect.mean())


def _indicators(code: np.ndarray) -> np.ndarray:
    return np.asarray(np.eye(int(code.max()) + 1)[code])
