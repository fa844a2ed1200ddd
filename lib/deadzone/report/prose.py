"""The sentences of a sweep's report, made from the numbers; each can also say that the data show no such thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadzone.phases.candidates import level_text
from deadzone.phases.quantities import percent, plain_name
from deadzone.report.display import Prose
from deadzone.report.source import Source
from deadzone.report.tables import improvement
from deadzone.style import PHASE_STYLES

if TYPE_CHECKING:
    from deadzone.phases.model import PhaseModel
    from deadzone.phases.recommend import Recommendation

CORES_TOLERANCE_LEVELS = 1
"""The bend of a curve of CPU limits is expected at the number of cores, within one level of the sweep."""


def heading(text: str) -> Prose:
    """The heading of a section."""
    return Prose((), heading=text)


def title(source: Source) -> Prose:
    """Title, question, and what a reader must know before anything else."""
    asked = (source.question,) if source.question else ()
    return Prose((*asked, *source.doubts), heading=source.title, level=1, kind="title")


def verdict(source: Source, model: PhaseModel, advice: Recommendation) -> Prose:
    """The recommendation with its reason and its caveats."""
    return Prose((advice.reason, *advice.caveats), heading="Verdict", kind="verdict")


def phases_in_words(model: PhaseModel) -> Prose:
    """One sentence a phase."""
    return Prose(tuple(_phase(model, row) for row in model.phases.to_dict("records")))


def _phase(model: PhaseModel, phase: dict[str, float | str]) -> str:
    start, stop = float(phase["start"]), float(phase["stop"])
    style = PHASE_STYLES[str(phase["label"])]
    gain = improvement(model, start, stop)
    change = f"{percent(abs(gain))} {'better' if gain >= 0 else 'worse'}"
    return (
        f"{level_text(model, start)} to {level_text(model, stop)} is {style.name} ({style.meaning}): "
        f"{plain_name(model.response)} ends {change}, with an elasticity of {float(phase['elasticity']):.2f} "
        f"({model.certainty:.0%} interval {float(phase['elasticity_low']):.2f} to {float(phase['elasticity_high']):.2f})."
    )


def cores_check(source: Source, model: PhaseModel) -> Prose | None:
    """Whether the curve bends at the machine's number of cores, as more quota than cores must buy nothing."""
    cores = source.provenance.get("cores_usable")
    levels = [float(level) for level in model.levels["level"]]
    if model.knob != "cpu_limit" or not cores or not min(levels) < cores < max(levels):
        return None
    last = model.phases.iloc[-1]
    if last["label"] != "plateau":
        return Prose(
            (f"The machine has {cores} cores, so a plateau is expected beyond {cores}; the data show none.",),
            kind="check",
        )
    at = min(range(len(levels)), key=lambda i: abs(levels[i] - cores))
    begins = min(range(len(levels)), key=lambda i: abs(levels[i] - float(last["start"])))
    start = level_text(model, float(last["start"]))
    if abs(at - begins) <= CORES_TOLERANCE_LEVELS:
        return Prose(
            (
                f"The plateau begins at {start} cores, within one level of the machine's {cores}: more than it has buys nothing.",
            ),
            kind="check",
        )
    side = "below" if begins < at else "above"
    return Prose(
        (
            f"The plateau begins at {start} cores, {side} the machine's {cores}: "
            + (
                "the program cannot use them all." if begins < at else "something other than cores limits it."
            ),
        ),
        kind="check",
    )


def warnings(model: PhaseModel) -> Prose | None:
    """What the fit itself warns of; None if there is nothing."""
    return Prose(model.warnings, heading="Warnings", level=3, kind="warnings") if model.warnings else None


def reproduce(source: Source) -> Prose:
    """The command that makes this report again."""
    if source.study is None:
        command = f"deadzone fit TABLE --knob {source.knob} --response {source.response} --goal {source.goal}"
    else:
        command = f"deadzone run {source.name}   (this run's report alone: deadzone report {source.run_id})"
    return Prose((command,), heading="Reproduce", level=3, kind="command")
