"""Whether a curve has thresholds at all: phases against smooth laws, in words.

Judged by the difference of BIC (Schwarz 1978, Annals of Statistics 6, 461-464), half of which approximates the logarithm of a
Bayes factor; beyond 6 the evidence is strong, beyond 10 very strong (Kass and Raftery 1995, Journal of the American Statistical Association 90,
773-795). A response that saturates, y = y_inf (1 + k / x) as of batch and block sizes, is Amdahl's law in other words.
"""

import numpy as np
from scipy.special import stdtrit

from deadzone.explaining.phases.result import PhaseResult
from deadzone.explaining.phases.rivals import Rival, fit_rivals, phase_criteria
from deadzone.language.catalogue import Message, say, term

STRONG, VERY_STRONG = 6.0, 10.0
"""Differences of BIC below the first decide nothing; phases must be better by the second, for their curve is an average over
segmentations and has more freedom than its parameters say."""

LINE = "one power law"
SHARES = {"Amdahl's law": ("amdahl", "serial share"), "Universal Scalability Law": ("usl", "contention")}
"""The smooth laws, and the parameter of each by which it is known; the power law is a single phase."""


def shape(model: PhaseResult) -> Message | None:
    """Whether the curve fades smoothly, against a straight line where it is a single phase, else against its phases, or is better
    described by phases; with the difference of BIC. None where the data do not decide."""
    is_single = len(model.phases) == 1
    if is_single and model.phases["label"].iloc[0] != "linear":
        return None
    laws = {one.name: one for one in fit_rivals(model) if one.converged}
    smooth = [laws[name] for name in SHARES if name in laws]
    reference = laws[LINE].bic if is_single and LINE in laws else phase_criteria(model)[2]
    if not smooth or not np.isfinite(reference):
        return None
    best = min(smooth, key=lambda one: one.bic)
    gain = reference - best.bic
    if gain >= STRONG:
        key, parameter = SHARES[best.name]
        low, high = _interval(best, parameter, model)
        share = best.parameters[parameter]
        return say(f"shape.{key}", share=share, low=low, high=high, certainty=model.certainty, bic=gain)
    if not is_single and -gain >= VERY_STRONG:
        return say("shape.pieces", law=term("law", best.name), bic=-gain)
    return None


def _interval(law: Rival, parameter: str, model: PhaseResult) -> tuple[float, float]:
    """Interval of a parameter from its standard error, by Student's t."""
    freedom = max(model.n_trials - law.n_parameters + 1, 1)
    reach = float(stdtrit(freedom, (1 + model.certainty) / 2)) * np.nan_to_num(law.std_errors[parameter])
    return max(law.parameters[parameter] - reach, 0.0), law.parameters[parameter] + reach
