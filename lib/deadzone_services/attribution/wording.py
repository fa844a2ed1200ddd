"""An attribution in words: durations, verdicts, the evidence for each, and the verdict on the
whole."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from deadzone.analysis.hypothesis_tests.ranks import least_trials
from deadzone.analysis.phases.quantities import capital, percent
from deadzone.language.formats import exact, number
from deadzone.language.messages import N_, join, say
from deadzone.plugins import Message, _, listing
from deadzone_services.attribution.hypotheses import ABOUT, CLIENT, CPU_LIMIT, HYPOTHESES

if TYPE_CHECKING:
    from deadzone_services.attribution.result import Attribution

CAUSES = (N_("CPU limit"), N_("network"), N_("disk"), N_("memory"), N_("client"))
NAMES = dict(zip(HYPOTHESES, CAUSES, strict=True))
"""What may make a service slow."""


PARTS = {
    "dns_s": N_("looking up the name"),
    "connect_s": N_("connecting"),
    "upload_s": N_("uploading"),
    "network_s": N_("outside the service"),
    "throttled_s": N_("stopped by the CPU limit"),
    "memory_s": N_("waiting for memory"),
    "faults_s": N_("major faults, at 10 ms each"),
    "disk_s": N_("waiting for the disk"),
    "disk_bytes_s": N_("bytes of the disk, at 100 MB/s"),
    "client_cpu_s": N_("CPU time of the client"),
    "work_s": N_("CPU work of the service"),
    "rest_s": N_("not accounted for"),
}
"""The parts of a response time."""


VERDICTS = {
    "confirmed": (N_("confirmed"), N_("Confirmed: {names}.")),
    "excluded": (N_("excluded"), N_("Excluded: {names}.")),
    "undecided": (N_("undecided"), N_("Undecided: {names}.")),
}
"""In a table, and in a sentence on all hypotheses of that verdict."""


LARGEST = N_(
    'No hypothesis is confirmed; the largest part of the slowdown is "{part}": {share}.',
)
TOO_FEW = N_(
    'As measured, the largest part of the slowdown is "{part}": {share}; {n} trial of an '
    "environment cannot prove it, {least} can (-r {least}, design.replicates).",
    'As measured, the largest part of the slowdown is "{part}": {share}; {n} trials of an '
    "environment cannot prove it, {least} can (-r {least}, design.replicates).",
)
"""Where no hypothesis is confirmed, and where no test could show any."""


UNDECIDED_FOR = {
    "unmeasured": N_("Undecided: {what}."),
    "few": N_(
        "Undecided: with {n} trial in an environment no test can show anything, in either "
        "direction. Measure at least {least} in each.",
        "Undecided: with {n} trials in an environment no test can show anything, in either "
        "direction. Measure at least {least} in each.",
    ),
    "throttled_without": N_(
        "Undecided: the service was throttled in {fast} too, so there is no environment without "
        "a limit to compare with."
    ),
    "not_restored": N_(
        "Undecided: the limit costs time, but that its removal ({restored}) brings all of it back "
        "is not shown."
    ),
    "no_dose": N_(
        "Undecided: the limit costs time, but no trend is shown that the time falls as the limit "
        "is raised."
    ),
    "events": N_(
        "Undecided: memory was reclaimed or an allocation failed in {slow} during the requests."
    ),
    "near_limit": N_("Undecided: memory came near its limit in {slow}."),
    "outside": N_(
        "Undecided: time passed in which the service neither ran nor stood still. It does not say "
        "how long it had the request (header Server-Timing), so the network and a wait within the "
        "service cannot be told apart."
    ),
    "machine": N_(
        "Undecided: it was counted for the whole machine only, whose other programs wait too."
    ),
    "no_slowdown": N_("Undecided: a slowdown that could be explained is not shown."),
    "open": N_(
        "Undecided: neither that it is under the margin of {margin} nor that it is above is "
        "shown. More trials would narrow the interval."
    ),
}
"""Why a hypothesis is undecided."""

UNMEASURED = {
    "cpu_limit": N_("throttling was not counted"),
    "network": N_(
        "nothing says how much of the time until the first byte was spent outside the service. "
        "That needs the accounts of the service's control group, or its Server-Timing header; "
        "equal times of connecting are not enough"
    ),
    "disk": N_("waits for the disk were not measured"),
    "memory": N_("neither waits for memory nor major faults were measured"),
    "client": N_("the client's CPU time was not measured"),
}
"""What was not measured of a hypothesis."""

DECIDED = N_(
    "A hypothesis is confirmed where its time is shown to differ by more than the margin, here "
    "{margin}. It is excluded where two one-sided tests (TOST) show that it differs by less. For "
    "the time outside the service one test shows that it is not longer. A difference that is "
    "merely not significant excludes nothing. All are rank tests between the environments; their "
    "{n} p-values are corrected together by Holm's method, at the level {level}. Differences are "
    "means over the middle half of the trials with a bootstrap interval ({confidence:percent}), "
    "so that the parts add up to the slowdown exactly."
)


CLOCK_MS = 0.1
"""A clock of a request is good to a tenth of a millisecond: two digits of that are shown."""


def duration(seconds: float, signed: bool = False) -> str:
    """A time with its unit: `148.8 s` is `149 s`, `0.0123` is `12.3 ms`; with its sign where asked
    for."""
    if not math.isfinite(seconds):
        return "-"
    sign = "+" if signed and seconds >= 0 else ""
    if abs(seconds) < 1:
        return f"{sign}{number(1000 * seconds, CLOCK_MS)} ms"
    return f"{sign}{number(seconds)} s"


def share_text(row: pd.Series) -> str:
    """The share of the slowdown with its interval: `97 % (93 % to 101 %)`; a dash where it is not
    known."""
    if math.isnan(row["share"]):
        return "-"
    return _with_interval(*map(percent, row[["share", "share_low", "share_high"]]))


def difference_text(row: pd.Series) -> str:
    """A difference with its interval: `+1.2 s (1.1 s to 1.3 s)`; without the interval where there
    is none."""
    low, high = map(duration, row[["low_s", "high_s"]])
    return _with_interval(duration(row["difference_s"], signed=True), low, high)


def _with_interval(value: str, low: str, high: str) -> str:
    return _("{value} ({low} to {high})", value=value, low=low, high=high) if low != "-" else value


def _facts(result: Attribution) -> dict[str, object]:
    """What sentences name: the environments, the margin, and how many trials each has at least (n),
    and must have for a test to show anything (least)."""
    roles = result.roles
    return {
        **{role: getattr(roles, role) or "" for role in ("slow", "fast", "restored")},
        "n": min(result.sizes[roles.slow], result.sizes[roles.fast]),
        "least": least_trials(max(result.tests, 1), result.confidence, sides=1),
        "margin": duration(result.margin_s),
    }


def evidence_of(result: Attribution, name: str) -> Message:
    """What speaks for the verdict on a hypothesis, as sentences."""
    sentences = [
        _measured(part, result.measures.T[part])
        for part in ABOUT[name].shown
        if math.isfinite(result.measures["difference_s"][part])
    ]
    if name == CPU_LIMIT and result.roles.restored:
        text = _(
            "Without the limit ({restored}): {time}, in {fast} {other}; that the two are the "
            "same within the margin has {p:p_equals}.",
            restored=result.roles.restored,
            fast=result.roles.fast,
            time=duration(result.medians[result.roles.restored]),
            other=duration(result.medians[result.roles.fast]),
            p=result.removal,
        )
        sentences.append(text)
    if name == CPU_LIMIT and (doses := result.roles.doses):
        text = _(
            "Over {n} limits the response falls as the limit rises ({p:p_equals}).",
            n=len({result.roles.limits[dose] for dose in doses}),
            p=result.dose,
        )
        sentences.append(text)
    if name == CLIENT and result.is_bounded:
        text = _(
            "All of it together is under the margin in every request, so it cannot be the cause, "
            "whatever a test says."
        )
        sentences.append(text)
    if why := result.of(name)["why"]:
        sentences.append(say(UNDECIDED_FOR[why], what=say(UNMEASURED[name]), **_facts(result)))
    return join(sentences)


def _measured(name: str, measure: pd.Series) -> Message:
    part = capital(say(PARTS[name]))
    if not measure[["slow_s", "fast_s"]].any():
        return _("{part}: none in either.", part=part)
    return _(
        "{part}: {slow} against {fast}, {difference}.",
        part=part,
        slow=duration(measure["slow_s"]),
        fast=duration(measure["fast_s"]),
        difference=difference_text(measure),
    )


def verdict(result: Attribution) -> Message:
    """How much slower, why, and what is excluded or open."""
    facts, floor = _facts(result), duration(result.margin.floor_s)
    if result.is_same:
        text = _(
            "{slow} and {fast} respond equally fast, within {margin}: there is nothing to explain.",
            **{**facts, "margin": floor},
        )
        sentences = [text]
    else:
        text = _(
            "{slow} takes {ratio} times as long as {fast}: {difference}.",
            **facts,
            ratio=number(result.ratio),
            difference=difference_text(result.slowdown),
        )
        sentences = [text]
        if not result.is_slower:
            sentences.append(_("That {slow} is slower than {fast} is not shown.", **facts))
    if result.is_slower and not result.confirmed:
        largest = result.largest
        sentence = TOO_FEW if (result.hypotheses["why"] == "few").any() else LARGEST
        named = {"part": say(PARTS[largest["part"]]), "share": share_text(largest)}
        sentences.append(say(sentence, **named, **facts))
    if (name := result.least_limit) is not None:
        limit = result.roles.limits[name]
        best = _(
            "Set cpu_limit {limit}: the median there is {time}, within {margin} of the fastest, "
            "and that of no smaller limit is.",
            limit=f"{limit:g}",
            time=duration(result.medians[name]),
            margin=floor,
        )
        none = _("Each CPU limit that was measured costs more than {margin}.", margin=floor)
        sentences.append(none if math.isinf(limit) else best)
    for kind, (_word, sentence) in VERDICTS.items():
        if names := [say(NAMES[name]) for name in result.named(kind)]:
            sentences.append(say(sentence, n=len(names), names=listing(names)))
    return join(sentences)


def method(result: Attribution) -> Message:
    """How it was decided, with the margin and the correction."""
    return say(
        DECIDED,
        margin=duration(result.margin_s),
        n=result.tests,
        level=exact(1 - result.confidence),
        confidence=result.confidence,
    )
