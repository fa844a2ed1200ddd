"""The catalogue of findings: each check says beside itself what it finds, how grave that is, what
that means, what was seen and what to change."""

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

    severity: the gravest that it usually has; a check may say another for what it saw. means: in
    general. seen, mend: what was seen, and what to change, with figures; by how it was found where
    there are several, "" is the usual one. check: that finds it.
    """

    severity: Severity
    means: Text
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
    key: str,
    severity: Severity,
    *,
    means: Text,
    seen: Text | Mapping[str, Text],
    mend: Text | Mapping[str, Text],
) -> Callable[[Check], Check]:
    """Marks the check of a finding. See `Sentences`."""

    def marked(check: Check) -> Check:
        saw, change = ({"": text} if isinstance(text, Text) else text for text in (seen, mend))
        KINDS[key] = Sentences(severity, means, saw, change, check)
        return check

    return marked
