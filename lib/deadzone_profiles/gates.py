"""Quality gates: what must not get worse, each judged as the claim that it does not, and whether to
ship.

"No difference was seen" is not enough, and without figures a gate is not measured; either leaves it
open.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import FiniteFloat, TypeAdapter, ValidationError

from deadzone.analysis.claims.judging import ClaimVerdict, judge
from deadzone.analysis.claims.measured import Measured
from deadzone.analysis.phases.quantities import axis_label
from deadzone.errors import ProfileError
from deadzone.language.messages import N_, say
from deadzone.plugins import _
from deadzone.study.claims_of_study import gate
from deadzone.study.loading import yaml_in
from deadzone.study.profile_specs import GateSpec

GATE_VERDICTS = {
    "ship": N_("ship, for these are shown to be no worse than their margin: {names}."),
    "do not ship": N_("do not ship, for these are worse by more than their margin: {names}."),
    "undecided": N_("undecided, for these are not decided: {names}."),
}


SIDE = "side"
SIDES = ("before", "after")


@dataclass(frozen=True)
class Shipping:
    """Whether to ship, by the gates. gates: by response, each judged."""

    gates: Mapping[str, ClaimVerdict]

    @property
    def verdict(self) -> Literal["ship", "do not ship", "undecided"]:
        """Shipping needs all gates, one that fails forbids it, and one that is not decided leaves
        it open."""
        verdicts = {gate.verdict for gate in self.gates.values()}
        if "contradicted" in verdicts:
            return "do not ship"
        return "ship" if verdicts == {"supported"} else "undecided"

    def __str__(self) -> str:
        """The verdict with the responses that it rests on."""
        if not self.gates:
            return _(
                "undecided, for no response that must not get worse was named, so none was tested."
            )
        decided = {"ship": ("supported",), "do not ship": ("contradicted",)}
        wanted = decided.get(self.verdict, ("undecided", "partly", "not_measured"))
        names = [axis_label(name) for name, gate in self.gates.items() if gate.verdict in wanted]
        return say(GATE_VERDICTS[self.verdict], names=", ".join(names))

    def to_dict(self) -> dict[str, Any]:
        """The verdict and every gate as plain values for JSON."""
        gates = [{"gate": name, **gate.to_dict()} for name, gate in self.gates.items()]
        return {"verdict": self.verdict, "text": str(self), "gates": gates}


def judge_tables(
    gates: Mapping[str, GateSpec], before: pd.DataFrame, after: pd.DataFrame
) -> Shipping:
    """Whether to ship, by tables before and after: one row a trial, a column for each gate that was
    measured."""
    trials = pd.concat(
        [table.assign(**{SIDE: name}) for name, table in zip(SIDES, (before, after), strict=True)]
    )
    measured = Measured(trials, "", "min", SIDE, {SIDE: SIDES}, lambda _: None)
    verdicts = judge([gate(name, spec, *SIDES) for name, spec in gates.items()], measured)
    return Shipping(dict(zip(gates, verdicts, strict=True)))


class _GateMeasured(GateSpec):
    """A gate with its measurements, one a replicate."""

    before: tuple[FiniteFloat, ...] = ()
    after: tuple[FiniteFloat, ...] = ()


def read_gates(path: Path) -> tuple[dict[str, GateSpec], pd.DataFrame, pd.DataFrame]:
    """Gates from a YAML file, as in a study, each with the lists `before` and `after` of its
    measurements.

    Returns the gates by name and the tables before and after, with a column for each gate.
    Raises StudyError if the file cannot be read, ProfileError if a gate is not as it should be.
    """
    content = yaml_in(path)
    if not isinstance(content, Mapping) or not content:
        raise ProfileError(
            f"{path}: name a response a key, such as `latency_p99_ms: {{margin: 0.05, before: "
            "[...], after: [...]}`."
        )
    try:
        read = TypeAdapter(dict[str, _GateMeasured]).validate_python(
            {str(k): v for k, v in content.items()}
        )
    except ValidationError as error:
        first = error.errors()[0]
        where, problem = ".".join(map(str, first["loc"])), first["msg"].partition(" or instance")[0]
        raise ProfileError(f"{path}: {where}: {problem[0].lower()}{problem[1:]}.") from error
    before, after = (
        pd.DataFrame(
            {name: pd.Series(getattr(gate, side), dtype=float) for name, gate in read.items()}
        )
        for side in SIDES
    )
    gates = {
        name: GateSpec.model_validate(gate.model_dump(exclude=set(SIDES)))
        for name, gate in read.items()
    }
    return gates, before, after
