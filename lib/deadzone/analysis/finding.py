"""What a check of an experiment gives: a finding with its evidence.

The catalogue of findings: each check says beside itself what it finds, how grave that is, what
was seen and what to change. Its docstring is what `deadzone explain` says of it.
"""

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from deadzone.language.messages import N_, Message, Text, _, join, say

SEVERITY_NAMES = {"stops": N_("No verdict"), "doubts": N_("Doubtful"), "notes": N_("Note")}


Severity = Literal["stops", "doubts", "notes"]

SEVERITIES: tuple[Severity, ...] = ("stops", "doubts", "notes")
"""From the gravest: no verdict is given; the verdict is given with it in the same breath; told
beside it."""


BARRING = ("failures_by_level", "timeouts_by_level", "errors_by_level")
"""Findings whose levels are not recommended. A level with time-outs stands in the curve by what
they bound (see `analysis.phases.censored`), one with failures does not: its survivors may be the
light ones."""


EACH_LEVEL = ("one_level_off",)
"""Findings of which every level has its own. How often they are false was measured, so that no
other test makes them less sure."""


NOTHING_TRUSTED = "nothing_trusted"
"""The finding beside which is said what the trials would show if they were trusted."""


@dataclass(frozen=True)
class Finding:
    """One test that was made of an experiment, and where it is sure that something is wrong, or may
    be, the finding.

    levels, trials: at which it was seen. p: how often a sound experiment shows as much, all tests
    of the run counted once they are; 0 for what was counted and leaves nothing to chance. weight:
    whether the effect is large enough to matter: a test without it takes part in the correction for
    many tests and no more. values: of the sentences in the catalogue; `how` and `mend` choose among
    several. accepted: the reason that the study gives for it, empty without one.
    """

    key: str
    p: float
    weight: bool
    levels: tuple[Any, ...]
    trials: tuple[int, ...]
    severity: Severity
    values: Mapping[str, Any] = field(hash=False)
    accepted: str = ""

    @property
    def confidence(self) -> float:
        """One less the chance of a false alarm."""
        return 1 - self.p

    @property
    def seen(self) -> Message:
        """What was seen, with its figures."""
        return say(KINDS[self.key].seen[self.values.get("how", "")], **self.values)

    @property
    def mend(self) -> Message:
        """What to change."""
        mend, how = KINDS[self.key].mend, self.values.get("how", "")
        columns = {name: self.values[name] for name in ("column", "other") if name in self.values}
        typed = {f"typed_{name}": shlex.quote(str(text)) for name, text in columns.items()}
        return say(mend.get(self.values.get("mend", how), mend[""]), **self.values, **typed)

    @property
    def sentence(self) -> Message:
        """What was seen, and what to change."""
        return join([self.seen, self.mend])

    @property
    def bars(self) -> bool:
        """Whether its levels are not to be recommended."""
        return self.key in BARRING and not self.accepted

    @property
    def withholds(self) -> bool:
        """Whether there is no setting to recommend, though nothing is wrong: the knob is the size
        of the work."""
        return self.key == "work_size" and self.severity == "notes" and not self.accepted

    def beside(self, said: str) -> str:
        """What to say of it beside a text: what to change where the text has what was seen, nothing
        where it has both."""
        if self.sentence in said:
            return ""
        return f"{self.mend} [{self.key}]" if self.seen.rstrip(".") in said else str(self)

    def to_dict(self) -> dict[str, Any]:
        """The record that commands print: plain numbers, strings and lists."""
        return {
            **{name: getattr(self, name) for name in ("key", "severity", "confidence")},
            "levels": list(self.levels),
            "trials": list(self.trials),
            "sentence": str(self.sentence),
            **({"accepted": self.accepted} if self.accepted else {}),
        }

    def __str__(self) -> str:
        sentence = join(
            [
                self.sentence,
                _("Accepted in the study: {reason}", reason=self.accepted) if self.accepted else "",
            ]
        )
        return f"{say(SEVERITY_NAMES[self.severity])}: {sentence} [{self.key}]"


Check = Callable[..., Iterator[Finding]]
"""Of an `Experiment`, which knows the catalogue itself; some have options beside it."""


@dataclass(frozen=True)
class Sentences:
    """What is said of a finding.

    severity: the gravest that it usually has; a check may say another for what it saw. seen, mend:
    what was seen, and what to change, with figures; by how it was found where there are several, ""
    is the usual one. check: that finds it.
    """

    severity: Severity
    seen: Mapping[str, Text]
    mend: Mapping[str, Text]
    check: Check


KINDS: dict[str, Sentences] = {}
"""Every finding by its key, in the order in which the checks are read."""


def finding(
    severity: Severity = "doubts", *, seen: str | Mapping[str, str], mend: str | Mapping[str, str]
) -> Callable[[Check], Check]:
    """Marks the check of a finding, whose name is its key, and its texts for translation. See
    `Sentences`."""

    def texts(said: str | Mapping[str, str]) -> dict[str, Text]:
        several = {"": said} if isinstance(said, str) else said
        return {how: Text(text) for how, text in several.items()}

    def marked(check: Check) -> Check:
        KINDS[check.__name__] = Sentences(severity, texts(seen), texts(mend), check)
        return check

    return marked
