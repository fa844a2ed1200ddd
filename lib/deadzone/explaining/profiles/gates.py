"""Quality gates: what must not get worse is tested, and the verdict says which response decided.

The test of one response is that of `deadzone compare`: non-inferiority by ranks against a margin (see
`deadzone.explaining.compare.non_inferiority`). "No difference was seen" is not enough, and without figures a gate is not
measured; either leaves the verdict open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pydantic import FiniteFloat, TypeAdapter, ValidationError

from deadzone.errors import ProfileError
from deadzone.explaining.compare.non_inferiority import NOT_WORSE, WORSE, NonInferiority, non_inferior
from deadzone.explaining.compare.verdicts import CONFIDENCE
from deadzone.explaining.hypothesis_tests.holm import all_of
from deadzone.explaining.phases.quantities import axis_label
from deadzone.explaining.profiles.causes import read_yaml
from deadzone.language.catalogue import say, spoken
from deadzone.language.formats import percent
from deadzone.study.profile_specs import GateSpec

NOT_MEASURED = "not measured"
SHIP, DO_NOT_SHIP, UNDECIDED = "ship", "do not ship", "undecided"

SIDES = ("before", "after")


@dataclass(frozen=True)
class Outcome:
    """What became of a gate. tested: None where the response was not measured on both sides."""

    name: str
    gate: GateSpec
    tested: NonInferiority | None = None

    @property
    def result(self) -> str:
        """not worse, worse, undecided, or not measured."""
        return self.tested.verdict if self.tested else NOT_MEASURED

    @property
    def margin(self) -> str:
        """The margin as people write it, a percentage unless it is absolute."""
        return f"{self.gate.margin:g}" if self.gate.absolute else percent(self.gate.margin, spoken())

    def __str__(self) -> str:
        """The outcome as a sentence."""
        if self.tested:
            return str(self.tested)
        return say("profile_gate.not_measured", name=axis_label(self.name), margin=self.margin)


@dataclass(frozen=True)
class Verdict:
    """ship, do not ship or undecided, with the outcomes that decided it."""

    verdict: str
    outcomes: tuple[Outcome, ...]

    @property
    def deciding(self) -> tuple[Outcome, ...]:
        """The gates that the verdict rests on."""
        wanted = {SHIP: {NOT_WORSE}, DO_NOT_SHIP: {WORSE}}.get(self.verdict)
        return tuple(
            one for one in self.outcomes if (one.result in wanted if wanted else one.result != NOT_WORSE)
        )

    def __str__(self) -> str:
        """The verdict with the responses that it rests on."""
        if not self.outcomes:
            return say("profile_gate.none")
        names = ", ".join(axis_label(one.name) for one in self.deciding)
        return say(f"profile_gate.{self.verdict.replace(' ', '_')}", names=names)


def judge(
    gates: Mapping[str, GateSpec],
    before: pd.DataFrame,
    after: pd.DataFrame,
    names: tuple[str, str] = SIDES,
    factors: Sequence[str] = (),
) -> Verdict:
    """Test every gate. Shipping needs all of them (see `hypothesis_tests.holm`); one that fails forbids it, each at the
    confidence of its own test, for to hold back wrongly does no harm; one that is not decided leaves it open.

    before, after: tidy tables, one row a trial, with a column for each gate that was measured; trials of the same
    blocks of one run are compared within their blocks. factors: columns whose levels make a treatment, such as the
    load; by default those found in both tables.

    Raises CompareError if a column holds what cannot be compared.
    """
    outcomes = tuple(_outcome(name, gate, before, after, names, factors) for name, gate in gates.items())
    if any(outcome.result == WORSE for outcome in outcomes):
        return Verdict(DO_NOT_SHIP, outcomes)
    harmful = [outcome.tested.p_value if outcome.tested else 1.0 for outcome in outcomes]
    return Verdict(SHIP if harmful and all_of(harmful) <= 1 - CONFIDENCE else UNDECIDED, outcomes)


def _outcome(
    name: str,
    gate: GateSpec,
    before: pd.DataFrame,
    after: pd.DataFrame,
    names: tuple[str, str],
    factors: Sequence[str],
) -> Outcome:
    if not all(name in side and side[name].notna().any() for side in (before, after)):
        return Outcome(name, gate)
    tested = non_inferior(
        before, after, name, gate.margin, absolute=gate.absolute, goal=gate.goal, names=names, factors=factors
    )
    return Outcome(name, gate, tested)


class _GateMeasured(GateSpec):
    """A gate with its measurements, one a replicate."""

    before: tuple[FiniteFloat, ...] = ()
    after: tuple[FiniteFloat, ...] = ()


def read_gates(path: Path) -> tuple[dict[str, GateSpec], pd.DataFrame, pd.DataFrame]:
    """Gates from a YAML file, as in a study, each with the lists `before` and `after` of its measurements.

    Returns the gates by name and the tables before and after, with a column for each gate.
    Raises ProfileError if the file cannot be read or a gate is not as it should be.
    """
    content = read_yaml(path)
    if not isinstance(content, Mapping) or not content:
        raise ProfileError(
            f"{path}: name a response a key, such as `latency_p99_ms: {{margin: 0.05, before: [...], after: [...]}}`."
        )
    try:
        read = TypeAdapter(dict[str, _GateMeasured]).validate_python({str(k): v for k, v in content.items()})
    except ValidationError as error:
        first = error.errors()[0]
        where, said = ".".join(map(str, first["loc"])), first["msg"].partition(" or instance")[0]
        raise ProfileError(f"{path}: {where}: {said[0].lower()}{said[1:]}.") from error
    before, after = (
        pd.DataFrame({name: pd.Series(getattr(one, side), dtype=float) for name, one in read.items()})
        for side in SIDES
    )
    gates = {name: GateSpec.model_validate(one.model_dump(exclude=set(SIDES))) for name, one in read.items()}
    return gates, before, after
