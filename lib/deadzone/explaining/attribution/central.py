"""The mean of the middle half of the trials, with what each part of the response contributes to it.

Trials are ordered by their response and a quarter is left out at either end (the midmean; Tukey 1977, Exploratory Data
Analysis): a stalled trial does not decide, and since every part is averaged over the same trials, the parts of a
difference still add up to it exactly, as those of medians would not.
"""

import numpy as np

DRAWS = 2_000
SEED = 1977
"""Of the bootstrap; fixed, so that the same trials always give the same interval."""


def midmean(values: np.ndarray, response: np.ndarray) -> np.ndarray:
    """Means over the middle half of the trials by their response.

    values: shape (trials, parts). response: shape (trials,). Returns shape (parts,).
    """
    return np.asarray(_middle(values[None], response[None])[0])


def drawn(values: np.ndarray, response: np.ndarray, stream: int) -> np.ndarray:
    """Midmeans of bootstrap resamples, shape (DRAWS, parts); nan where there is a single trial.

    values, response: as above. stream: number of the random stream, one for each independent sample.
    """
    n = len(response)
    if n < 2:
        return np.full((DRAWS, values.shape[1]), np.nan)
    rng = np.random.default_rng(np.random.SeedSequence(SEED).spawn(stream + 1)[stream])
    chosen = rng.integers(0, n, (DRAWS, n))
    return _middle(values[chosen], response[chosen])


def _middle(values: np.ndarray, response: np.ndarray) -> np.ndarray:
    """values: shape (draws, trials, parts); response: shape (draws, trials)."""
    n = response.shape[1]
    left_out = n // 4
    order = np.argsort(response, axis=1, kind="stable")[:, left_out : n - left_out]
    return np.asarray(np.take_along_axis(values, order[:, :, None], axis=1).mean(axis=1))
