"""Quality gates: what must not get worse is tested, and the verdict says which response decided.

Method: non-inferiority by the confidence interval of the worsening (Piaggio et al. 2012, the CONSORT
statement): the gate holds if the one-sided 95 % limit of the worsening, between replicates after Welch,
stays below the margin, it fails if even the other limit lies above, else it is undecided. "No difference
was seen" is not enough: without figures a gate is not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy import stats

from deadzone.errors import ProfileError

LEVEL = 0.95
"""Probability with which a gate that holds is right, one-sided."""

HOLDS, FAILS, UNDECIDED, NOT_MEASURED = "holds", "fails", "undecided", "not measured"
SHIP, DO_NOT_SHIP = "ship", "do not ship"


@dataclass(frozen=True)
class Gate:
    """A response that must not get worse by more than a margin.

    before, after: its measurements, one a replicate, in `unit`; empty if it was not measured.
    margin: how much worse is still acceptable, >= 0, in `unit`. goal: "min" if less is better, or "max".
    """

    name: str
    unit: str
    margin: float
    goal: str = "min"
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What became of a gate. worsening, low, high: in its unit, None where not known; result: one of four."""

    gate: Gate
    result: str
    worsening: float | None = None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """The outcome as a sentence."""
        gate = self.gate
        allowed = f"worsening by up to {gate.margin:g} {gate.unit} is accepted"
        if self.worsening is None:
            return f"{gate.name}: not measured, so nothing is known of it ({allowed})."
        if self.low is None:
            return (
                f"{gate.name}: undecided; it got worse by {self.worsening:.4g} {gate.unit} in single measurements "
                f"or without any scatter ({allowed}); replicates would decide."
            )
        between = f"between {self.low:.4g} and {self.high:.4g} {gate.unit} worse"
        return f"{gate.name}: {self.result}; it is {between} (90 % interval), {allowed}."


@dataclass(frozen=True)
class Verdict:
    """ship, do not ship or undecided, with the outcomes that decided it."""

    verdict: str
    outcomes: tuple[Outcome, ...]

    def __str__(self) -> str:
        """The verdict with the responses that it rests on."""
        if not self.outcomes:
            return "undecided: no response that must not get worse was named, so none was tested."
        deciding = {SHIP: HOLDS, DO_NOT_SHIP: FAILS}.get(self.verdict)
        names = [o.gate.name for o in self.outcomes if deciding is None or o.result == deciding]
        if self.verdict == UNDECIDED:
            names = [o.gate.name for o in self.outcomes if o.result != HOLDS]
        why = {SHIP: "within its margin", DO_NOT_SHIP: "worse than its margin", UNDECIDED: "not decided"}
        return f"{self.verdict}: {why[self.verdict]}: {', '.join(names)}."


def judge(gates: Sequence[Gate]) -> Verdict:
    """Test every gate. One that fails forbids shipping; one that is not decided leaves it open.

    Raises ProfileError if a gate has a negative margin or an unknown goal.
    """
    outcomes = tuple(map(outcome_of, gates))
    results = {outcome.result for outcome in outcomes}
    if FAILS in results:
        return Verdict(DO_NOT_SHIP, outcomes)
    return Verdict(SHIP if results == {HOLDS} else UNDECIDED, outcomes)


def outcome_of(gate: Gate) -> Outcome:
    """Test one gate. Raises ProfileError if its margin is negative or its goal unknown."""
    if not gate.margin >= 0 or gate.goal not in ("min", "max"):
        raise ProfileError(f"Gate {gate.name}: the margin must be 0 or more, and the goal min or max.")
    if not gate.before or not gate.after:
        return Outcome(gate, NOT_MEASURED)
    sign = 1 if gate.goal == "min" else -1
    before, after = sign * np.array(gate.before), sign * np.array(gate.after)
    worsening = float(after.mean() - before.mean())
    spread = [side.var(ddof=1) / len(side) if len(side) > 1 else 0.0 for side in (before, after)]
    if min(len(before), len(after)) < 2 or sum(spread) == 0:
        return Outcome(gate, UNDECIDED, worsening)
    found = stats.ttest_ind(after, before, equal_var=False).confidence_interval(2 * LEVEL - 1)
    low, high = float(found.low), float(found.high)
    result = HOLDS if high <= gate.margin else FAILS if low > gate.margin else UNDECIDED
    return Outcome(gate, result, worsening, low, high)


def read_gates(path: Path) -> tuple[Gate, ...]:
    """Gates from a YAML file: by name `unit`, `margin`, `goal`, and the lists `before` and `after`.

    Raises ProfileError if the file cannot be read or a gate lacks its margin or unit.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path}: is not YAML: {' '.join(str(error).split())}.") from error
    if not isinstance(content, Mapping) or not content:
        raise ProfileError(
            f"{path}: name a response a key, such as `latency_p99_ms: {{unit: ms, margin: 5}}`."
        )
    return tuple(_gate(str(name), fields, path) for name, fields in content.items())


def _gate(name: str, fields: Any, path: Path) -> Gate:
    known = ("unit", "margin", "goal", "before", "after")
    if not isinstance(fields, Mapping) or not {"unit", "margin"} <= set(fields) <= set(known):
        raise ProfileError(f"{path}: {name} needs `unit` and `margin`, and may have {', '.join(known[2:])}.")
    try:
        sides = [tuple(map(float, fields.get(side) or ())) for side in ("before", "after")]
        gate = Gate(name, str(fields["unit"]), float(fields["margin"]), fields.get("goal", "min"), *sides)
    except (TypeError, ValueError) as error:
        raise ProfileError(f"{path}: {name}: {error}; margin and measurements are numbers.") from error
    if not np.isfinite([gate.margin, *gate.before, *gate.after]).all():
        raise ProfileError(f"{path}: {name}: margin and measurements must be finite numbers.")
    return gate
