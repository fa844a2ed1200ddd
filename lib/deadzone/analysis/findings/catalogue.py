"""The catalogue of findings: each check says beside itself what it finds, how grave that is, what
was seen and what to change. Its docstring is what `deadzone explain` says of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deadzone.analysis.finding import Severity, Suspicion
from deadzone.language.messages import Message, Text, say

Check = Callable[[Any], Iterator[Suspicion]]
"""Of an `Experiment`, which knows the catalogue itself."""


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

    def said(self, values: Mapping[str, Any]) -> tuple[Message, Message]:
        """What was seen, and what to change. values: figures; `how` chooses among
        several, and `mend` where that is another thing."""
        how = values.get("how", "")
        mend = self.mend.get(values.get("mend", how), self.mend[""])
        return say(self.seen[how], **values), say(mend, **values)


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
