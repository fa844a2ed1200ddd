"""What findings about an experiment leave of a recommendation: the one place in which a setting
heeds them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from deadzone.language.messages import Message, _


class Found(Protocol):
    """A finding about the experiment behind a table, as `deadzone.analysis.findings.finding` has
    it.

    severity: `stops`, `doubts` or `notes`. levels: of the knob, at which it was seen. bars: whether
    these are not to be recommended. withholds: whether there is no setting to recommend, though
    nothing is wrong. seen: what was seen, with its figures. sentence: that, and what to change.
    """

    @property
    def severity(self) -> str: ...
    @property
    def levels(self) -> tuple[Any, ...]: ...
    @property
    def bars(self) -> bool: ...
    @property
    def withholds(self) -> bool: ...
    @property
    def seen(self) -> Message: ...
    @property
    def sentence(self) -> Message: ...


def stopping(findings: Sequence[Found], setting: Any = None) -> Found | None:
    """The finding that keeps a setting from being recommended: one that stops every verdict, or
    says that too many trials of just this setting did not end well. setting: a level of the knob,
    if one was chosen."""
    stop = next((finding for finding in findings if finding.severity == "stops"), None)
    return stop or next(
        (finding for finding in findings if finding.bars and setting in finding.levels), None
    )


def withholding(findings: Sequence[Found]) -> Found | None:
    """The finding by which the knob is nothing to set, if there is one."""
    return next((finding for finding in findings if finding.withholds), None)


def is_heeded(findings: Sequence[Found]) -> bool:
    """Whether a recommendation is another one for what was found."""
    return bool(doubt_of(findings) or withholding(findings))


def problem(finding: Found) -> Message:
    """Why there is no setting."""
    return _("No verdict: {finding}", finding=finding.sentence)


def doubt_of(findings: Sequence[Found]) -> str:
    """What makes the setting doubtful, to be said in the same sentence; empty where nothing
    does."""
    doubt = next((finding for finding in findings if finding.severity in ("stops", "doubts")), None)
    return doubt.seen.rstrip(".") if doubt else ""


def own_level(setting: Any, knob: str) -> Any:
    """The level of the knob in a setting."""
    return setting.get(knob) if isinstance(setting, Mapping) else setting
