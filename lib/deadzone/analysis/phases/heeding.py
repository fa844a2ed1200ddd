"""What findings about an experiment leave of a recommendation: the one place in which a setting
heeds them."""

from collections.abc import Mapping, Sequence
from typing import Any

from deadzone.analysis.finding import Finding
from deadzone.language.messages import Message, _


def stopping(findings: Sequence[Finding], setting: Any = None) -> Finding | None:
    """The finding that keeps a setting from being recommended: one that stops every verdict, or
    says that too many trials of just this setting did not end well. setting: a level of the knob,
    if one was chosen."""
    stop = next((finding for finding in findings if finding.severity == "stops"), None)
    return stop or next(
        (finding for finding in findings if finding.bars and setting in finding.levels), None
    )


def withholding(findings: Sequence[Finding]) -> Finding | None:
    """The finding by which the knob is nothing to set, if there is one."""
    return next((finding for finding in findings if finding.withholds), None)


def problem(finding: Finding) -> Message:
    """Why there is no setting."""
    return _("No verdict: {finding}", finding=finding.sentence)


def doubt_of(findings: Sequence[Finding]) -> str:
    """What makes the setting doubtful, to be said in the same sentence; empty where nothing
    does."""
    doubt = next((finding for finding in findings if finding.severity in ("stops", "doubts")), None)
    return doubt.seen.rstrip(".") if doubt else ""


def own_level(setting: Any, knob: str) -> Any:
    """The level of the knob in a setting."""
    return setting.get(knob) if isinstance(setting, Mapping) else setting
