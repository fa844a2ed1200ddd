"""The five phase labels and the thresholds that tell them apart.

The thresholds are parameters of `fit_phases`; these are the defaults, each with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from deadzone.errors import PhaseError, check_known, check_type
from deadzone.study.levels import is_number

LABELS: tuple[str, ...] = ("linear", "dead_zone", "breakthrough", "plateau", "reversal")
"""In the order of every array and every `p_<label>` column."""

LINEAR_ELASTICITY = 0.25
"""Below this, doubling the knob gains less than 16 % (2 ** -0.25): no longer paying in practice."""

BREAKTHROUGH_ELASTICITY = 2.0
"""Above this a step gains more than twice what perfect scaling would give, which adding capacity
alone cannot explain: something else was switched on."""

REVERSAL_ELASTICITY = -0.20
"""Below this, doubling the knob costs more than 15 %, the same as what must be gained to be paying:
harm, rather than a plateau that sags."""

PRACTICAL_TOLERANCE = 0.03
"""A setting counts as no worse than the best until it is shown to be worse by more than this. Below
3 % the next kernel or input moves the response more than the knob does, and without a tolerance
enough replicates would always end at the largest setting of a plateau that still gains a little."""

CERTAINTY = 0.90
"""Coverage of every interval of the model, unless the call says otherwise."""


@dataclass(frozen=True)
class Thresholds:
    """Where one label ends and the next begins, on the scale of the elasticity (dimensionless).

    They are soft: a label is inferred from the elasticity and its uncertainty together with its
    neighbours, so an elasticity a little beyond a threshold can still keep the label.
    """

    linear: float = LINEAR_ELASTICITY
    breakthrough: float = BREAKTHROUGH_ELASTICITY
    reversal: float = REVERSAL_ELASTICITY

    @classmethod
    def of(cls, given: Any) -> Thresholds:
        """Thresholds as a caller gives them: some by name, or None for the usual ones."""
        if isinstance(given, cls):
            return given
        named, known = given or {}, [one.name for one in fields(cls)]
        check_type(PhaseError, named, Mapping, "A dict of thresholds by name")
        for name in named:
            check_known(PhaseError, f"There is no threshold {name!r}", name, known, "They are")
        return cls(**named)

    def __post_init__(self) -> None:
        are_numbers = all(map(is_number, vars(self).values()))
        if not (are_numbers and self.reversal < 0.0 < self.linear < self.breakthrough):
            raise PhaseError(
                "Thresholds must keep the order reversal < 0 < linear < breakthrough; these are "
                f"reversal={self.reversal}, linear={self.linear}, breakthrough={self.breakthrough}."
            )
