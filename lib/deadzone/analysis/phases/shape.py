"""Whether a curve has thresholds at all: chains of pieces against smooth laws, in words, by their
posterior probabilities.

A response that saturates, y = y_inf (1 + k / x) as of batch and block sizes, is Amdahl's law in
other words.
"""

from deadzone.analysis.phases.result import PhaseResult
from deadzone.language.messages import N_, Message, _, say

FITS = {
    "Amdahl's law": N_(
        "The gain fades smoothly, as Amdahl's law with a serial share of {share:percent} "
        "({certainty:percent} interval {share_low:percent} to {share_high:percent}) has it. There "
        "is no threshold, and where the phases meet is a matter of degree (probability "
        "{probability:probability})."
    ),
    "Universal Scalability Law": N_(
        "The gain fades smoothly, as the Universal Scalability Law with a contention of "
        "{share:percent} ({certainty:percent} interval {share_low:percent} to "
        "{share_high:percent}) has it. There is no threshold, and where the phases meet is a "
        "matter of degree (probability {probability:probability})."
    ),
}


LAW_NAMES = {
    "Amdahl's law": N_("Amdahl's law"),
    "Universal Scalability Law": N_("Universal Scalability Law"),
}


SURE = 0.95
"""Below this probability the data do not decide between smooth laws and pieces."""


def shape(model: PhaseResult) -> Message | None:
    """Whether the curve fades smoothly, by which law and with what parameter, or is better
    described by its phases. None where the data do not decide, and of a single phase in which the
    knob does not pay."""
    is_single = len(model.phases) == 1
    if model.laws.empty or (is_single and model.phases["label"].iloc[0] != "linear"):
        return None
    best = model.laws.iloc[int(model.laws["log_probability"].argmax())]
    smooth = model.smooth_probability
    if smooth >= SURE:
        facts = {name: best[name] for name in ("share", "share_low", "share_high")}
        return say(FITS[best["law"]], **facts, certainty=model.certainty, probability=smooth)
    if not is_single and smooth <= 1 - SURE:
        return _(
            "No smooth law describes it as well: the best, {law}, has a probability of "
            "{probability:probability}.",
            law=say(LAW_NAMES[best["law"]]),
            probability=smooth,
        )
    return None
