"""Whether a curve has thresholds at all: phases against smooth laws, in words.

Judged by the difference of BIC (Schwarz 1978, Annals of Statistics 6, 461-464), half of which approximates the logarithm of a
Bayes factor; beyond 6 the evidence is strong (Kass and Raftery 1995, Journal of the American Statistical Association 90,
773-795). A response that saturates, y = y_inf (1 + k / x) as of batch and block sizes, is Amdahl's law in other words.
"""

import numpy as np
from scipy.special import stdtrit

from deadzone.explaining.phases.result import PhaseResult
from deadzone.explaining.phases.rivals import Rival, fit_rivals, phase_criteria
from deadzone.language.catalogue import Message, say, term

STRONG = 6.0
"""Differences of BIC below this decide nothing."""

SHARES = {"Amdahl's law": ("amdahl", "serial share"), "Universal Scalability Law": ("usl", "contention")}
"""The smooth laws, and the parameter of each by which it is known; one power law is a single phase."""


def shape(model: PhaseResult) -> Message | None:
    """Which of phases and smooth laws describes the curve, and by how much; None for a single phase, and where the data do not
    decide."""
    if len(model.phases) < 2:
        return None
    laws = [one for one in fit_rivals(model) if one.converged and one.name in SHARES]
    _, _, phases, _ = phase_criteria(model)
    if not laws or not np.isfinite(phases):
        return None
    best = min(laws, key=lambda one: one.bic)
    gain = phases - best.bic
    if abs(gain) < STRONG:
        return None
    key, parameter = SHARES[best.name]
    if gain < 0:
        return say("shape.pieces", law=term("law", best.name), bic=-gain)
    low, high = _interval(best, parameter, model)
    share = best.parameters[parameter]
    return say(f"shape.{key}", share=share, low=low, high=high, certainty=model.certainty, bic=gain)


def _interval(law: Rival, parameter: str, model: PhaseResult) -> tuple[float, float]:
    """Interval of a parameter from its standard error, by Student's t."""
    freedom = max(model.n_trials - law.n_parameters + 1, 1)
    reach = float(stdtrit(freedom, (1 + model.certainty) / 2)) * np.nan_to_num(law.std_errors[parameter])
    return max(law.parameters[parameter] - reach, 0.0), law.parameters[parameter] + reach
