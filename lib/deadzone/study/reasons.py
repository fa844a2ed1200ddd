"""Why an adaptive sweep measures what next, why it ends, and what is open then.

A run keeps the name of a reason and its figures (`recorded`), so that it can be said again in any
language, and in better words (`reason_of`).
"""

from collections.abc import Mapping
from typing import Any

from deadzone.language.messages import LANGUAGES, N_, Message, join, say, spoken

REASONS = {
    "opening": N_("The sweep begins with {n:count} of these levels over the range of {knob}."),
    "noise": N_("The levels of {knob} that take least time are repeated, to learn the noise."),
    "edge": N_("Trials fail at some levels of {knob}; its edge is looked for."),
    "most": N_("Trials at {levels} of {knob} are expected to add the most information per second."),
    "known": N_("The answer is {certainty:exact_percent} certain."),
    "not_worth": N_("No trial is worth its time: each adds less than {least:number} nats."),
    "all_failed": N_("All {n:count} trials failed, so Deadzone proposes no further one."),
    "unfitted": N_("No curve can be fitted: {problem}"),
    "open_label": N_(
        "What the phase of {knob} from {low} to {high} is ({probability:probability})."
    ),
    "open_joint": N_("Where between {low} and {high} of {knob} a phase begins."),
    "open_odd": N_("Whether {level} of {knob}, tried once, is odd or a short phase begins there."),
    "open_between": N_(
        "Whether a phase begins near {knob} {levels}, within {resolution:exact_percent}."
    ),
    "open_setting": N_(
        "The setting may lose {loss:percent}; you asked for {wanted:exact_percent} at most."
    ),
    "open_cheaper": N_("Whether {level} of {knob} is as good as the best."),
    "in_slice": N_("At {slice}: {said}"),
    "all_slices": N_("No trial is worth its time at any of {n:count} combinations of the others."),
    "budget_spent": N_("The time of {budget_s:count} s is spent after {n:count} trials."),
    "still_open": N_("Still open: {question}"),
    "as_long": N_("{n:count} trials took as long as the whole grid or are twice as many."),
    "next": N_("The next {n:count} trials would take about {cost_s:number} s."),
    "search": N_("The highest rate that meets the objectives is searched, least searched first."),
    "searches_done": N_("At each of {settings:count} settings {n:count} searches have ended."),
    "knobs_screen": N_("{n:count} trials tell which knobs matter."),
    "knobs_search": N_("The next {n:count} trials go where most is to be gained."),
    "knobs_confirm": N_("{n:count} trials compare the best cells with the baseline."),
    "knobs_along": N_("{n:count} trials go along the live knobs, the others as set."),
    "knobs_done": N_("The search is confirmed after {n:count} trials."),
    "knobs_open": N_("Which setting is the best; none is confirmed."),
    "open_search": N_(
        "{n} search at {setting} has not ended.", "{n} searches at {setting} have not ended."
    ),
}
"""By name."""


def reason(name: str, /, **values: Any) -> Message:
    """A reason in the language spoken. values: numbers, texts, or a reason that stands in it."""
    return say(REASONS[name], **values)


def recorded(message: Message) -> Any:
    """A reason as a run keeps it, its name and its figures; of several, one after the other, a
    list."""
    if message.text is None:
        return [recorded(part) for part in message.values["parts"]]
    values = {name: _plain(value) for name, value in message.values.items()}
    return {"reason": NAMES[message.text], **values}


def reason_of(record: Any) -> str:
    """A reason that a run keeps, in the language spoken.

    record: of `recorded`; or, in runs of Deadzone 0.1.0, sentences by language.
    """
    if isinstance(record, list):
        return join([reason_of(part) for part in record])
    if not isinstance(record, Mapping):
        return str(record)
    if "reason" not in record:
        return str(record.get(spoken()) or record.get(LANGUAGES[0], ""))
    values = {
        name: reason_of(value) if isinstance(value, dict | list) else value
        for name, value in record.items()
    }
    name = values.pop("reason")
    return (
        reason(name, **values) if name in REASONS else str(name)
    )  # as of a Deadzone that knows more reasons


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Message):
        return recorded(value)
    return value.item() if hasattr(value, "item") else value


NAMES: Mapping[object, str] = {text: name for name, text in REASONS.items()}
