"""Whether enough is known: what is still open of phases and setting, in sentences."""

from collections.abc import Iterator

import numpy as np

from deadzone.explaining.adaptive.gains import Coverage, Gains
from deadzone.explaining.phases.inference import Posterior
from deadzone.explaining.phases.intervals import curve_values
from deadzone.explaining.phases.labels import decode, runs, step_probabilities
from deadzone.explaining.phases.recommend import PRACTICAL_TOLERANCE
from deadzone.language.catalogue import Message, say
from deadzone.study.until_specs import UntilSpec

OPEN_SETTING = 0.05
"""Whether a level is as good as the best counts as open while one more trial tells so much about it [nats]."""


def open_questions(
    posterior: Posterior, coverage: Coverage, gains: Gains, names: list[str], knob: str, until: UntilSpec
) -> tuple[Message, ...]:
    """What is not known yet as well as is asked for; empty where a sweep may stop.

    names: of the listed levels, as they are written.
    """
    found: list[Message] = []
    if until.decide != "setting":
        found += _open_phases(posterior, coverage, names, knob, until)
    if until.decide != "phases":
        chosen, loss = expected_loss(posterior)
        if loss > until.loss:
            found.append(say("adaptive.open_setting", loss=loss, wanted=until.loss))
        cheaper = gains.setting[: coverage.measured[chosen] + 1]
        if (cheaper > OPEN_SETTING).any():
            found.append(say("adaptive.open_cheaper", knob=knob, level=names[int(np.argmax(cheaper))]))
    return tuple(found)


def _open_phases(
    posterior: Posterior, coverage: Coverage, names: list[str], knob: str, until: UntilSpec
) -> Iterator[Message]:
    measured = coverage.measured
    probability = step_probabilities(posterior.pieces, len(measured) - 1)
    labels = decode(probability)
    for first, stop, label in runs(labels):
        low, high = names[measured[first]], names[measured[stop]]
        sure = float(probability[first:stop, label].min())
        if sure < until.certainty:
            yield say("adaptive.open_label", knob=knob, low=low, high=high, probability=sure)
        if first:
            low_at, high_at = _joint(posterior, first, stop, label, until.certainty)
            below = measured[max(low_at - 1, 0)] + (low_at > 0)
            above = measured[min(high_at + 1, len(measured) - 1)] - (high_at < len(measured) - 1)
            if above - below > 2 * until.joint_levels:
                yield say("adaptive.open_joint", knob=knob, low=names[below], high=names[above])


def _joint(posterior: Posterior, first: int, stop: int, label: int, certainty: float) -> tuple[int, int]:
    """Measured levels (positions) between which a phase begins, with the certainty; as a joint's interval is stated."""
    pieces = posterior.pieces
    here = (pieces.label == label) & (pieces.start < stop) & (pieces.stop > first) & (pieces.start > 0)
    mass = np.bincount(pieces.start[here], pieces.weight[here], minlength=stop + 1)
    if mass.sum() <= 0:
        return first, first
    below = np.cumsum(mass) / mass.sum()
    tail = (1 - certainty) / 2
    return int(np.searchsorted(below, tail)), int(np.searchsorted(below, 1 - tail))


def expected_loss(posterior: Posterior) -> tuple[int, float]:
    """The setting (position among the measured levels), and what it is expected to lose to the best one beyond what does
    not matter in practice, a share.

    The setting is the cheapest whose curve is no more than that tolerance above the best. The loss is that to the one
    other level for which it is largest, for levels that share a phase are better or worse together.
    """
    from scipy.special import ndtr

    tolerance = np.log1p(PRACTICAL_TOLERANCE)
    spots = [curve_values(posterior.pieces, posterior.x, m) for m in range(len(posterior.x))]
    mean = np.array([np.average(value, weights=weight) for value, weight in spots])
    pairs = zip(spots, mean, strict=True)
    variance = np.array(
        [np.average((value - centre) ** 2, weights=weight) for (value, weight), centre in pairs]
    )
    chosen = int(np.flatnonzero(mean <= mean.min() + tolerance)[0])
    over = mean[chosen] - mean - tolerance
    spread = np.sqrt(np.maximum(variance[chosen] + variance, 1e-18))
    loss = over * ndtr(over / spread) + spread * np.exp(-0.5 * (over / spread) ** 2) / np.sqrt(2 * np.pi)
    loss[chosen] = 0.0
    return chosen, float(np.expm1(loss.max()))
