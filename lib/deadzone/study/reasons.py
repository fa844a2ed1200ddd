"""Why an adaptive sweep measures what next, why it ends, and what is open then.

A run keeps the name of a reason and its figures (`recorded`), so that it can be said again in any
language, and in better words (`reason_of`).
"""

from collections.abc import Mapping
from typing import Any

from deadzone.language.messages import LANGUAGES, N_, Message, join, say, spoken

REASONS = {
    "opening": N_(
        "The sweep begins over the whole range of {knob}: {n:count} of these levels are still to "
        "be measured."
    ),
    "noise": N_(
        "The levels of {knob} that take least time are repeated, for the noise of a trial is not "
        "known yet."
    ),
    "edge": N_("Trials fail at some levels of {knob}; its edge is looked for."),
    "most": N_("Trials at {levels} of {knob} are expected to tell most per second."),
    "known": N_("What was asked is known with {certainty:percent}."),
    "not_worth": N_(
        "No further trial is worth its time: each is expected to tell less than {least:number} "
        "nats."
    ),
    "all_failed": N_("All {n:count} trials failed, so no further one is proposed."),
    "unfitted": N_("No curve can be fitted: {problem}"),
    "open_label": N_(
        "What the phase of {knob} from {low} to {high} is ({probability:probability} sure)."
    ),
    "load_opening": N_("Begins with the {n} settings at {rate:count}/s, the load to be borne."),
    "at_edge": N_("Where it is least sure whether all objectives are met."),
    "open_cell": N_("Whether {knob} {pool:count} meets all objectives at {rates}/s."),
    "edge_known": N_("Up to which of {n} rates each setting meets all objectives is known."),
    "open_joint": N_("Where between {low} and {high} of {knob} a phase begins."),
    "open_odd": N_(
        "Whether the one trial at {level} of {knob} is odd, or a short phase begins there."
    ),
    "open_between": N_(
        "Whether a phase begins near {knob} {levels}: its neighbours are more than "
        "{resolution:percent} away."
    ),
    "open_setting": N_(
        "Whether the setting is good enough: it is expected to lose {loss:percent}, and "
        "{wanted:percent} was asked."
    ),
    "open_cheaper": N_("Whether {level} of {knob} is as good as the best."),
    "in_slice": N_("At {slice}: {said}"),
    "all_slices": N_(
        "No further trial is worth its time at any of {n:count} combinations of the other factors."
    ),
    "budget_spent": N_(
        "The time given for the trials, {budget_s:count} s, is spent after {n:count} of them."
    ),
    "still_open": N_("Still open: {question}"),
    "as_long": N_(
        "{n:count} trials were measured, which took as long as the whole grid or are twice as many."
    ),
    "next": N_("The next {n:count} trials would take about {cost_s:number} s."),
    "search": N_(
        "The highest rate that meets the objectives is searched; settings that were searched least "
        "come first."
    ),
    "searches_done": N_(
        "At each of {settings:count} settings the highest rate that meets the objectives was found "
        "{n:count} times."
    ),
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
