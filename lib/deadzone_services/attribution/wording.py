"""An attribution in words: durations, verdicts, the evidence for each, and the verdict on the
whole."""

import math

import pandas as pd

from deadzone.analysis.hypothesis_tests.ranks import least_trials
from deadzone.analysis.phases.quantities import capital, percent
from deadzone.language.formats import exact, number
from deadzone.language.messages import N_, join, say
from deadzone.plugins import Message, _, listing
from deadzone_services.attribution.hypotheses import ABOUT, CPU_LIMIT, UNDECIDED
from deadzone_services.attribution.measures import Measure
from deadzone_services.attribution.result import AttributionResult

HYPOTHESES = {
    "cpu_limit": N_("CPU limit"),
    "network": N_("network"),
    "disk": N_("disk"),
    "memory": N_("memory"),
    "client": N_("client"),
}
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


TOO_FEW = N_(
    'As measured, the largest part of the slowdown is "{part}": {share}; {n} trial of an '
    "environment cannot prove it, {least} can (-r {least}, design.replicates).",
    'As measured, the largest part of the slowdown is "{part}": {share}; {n} trials of an '
    "environment cannot prove it, {least} can (-r {least}, design.replicates).",
)
TOO_FEW_FOR_ALL = N_(
    'As measured, all of the slowdown is "{part}": {share}; {n} trial of an environment cannot '
    "prove it, {least} can (-r {least}, design.replicates).",
    'As measured, all of the slowdown is "{part}": {share}; {n} trials of an environment cannot '
    "prove it, {least} can (-r {least}, design.replicates).",
)
"""Where no test can show a hypothesis."""


UNDECIDED_FOR = {
    "unmeasured": (N_("not measured"), N_("Undecided: {what}.")),
    "few": (
        N_("too few trials"),
        N_(
            "Undecided: with {n} trial in an environment no test can show anything, in either "
            "direction. Measure at least {least} in each.",
            "Undecided: with {n} trials in an environment no test can show anything, in either "
            "direction. Measure at least {least} in each.",
        ),
    ),
    "throttled_without": (
        N_("throttled in both"),
        N_(
            "Undecided: the service was throttled in {fast} too, so there is no environment "
            "without a limit to compare with."
        ),
    ),
    "not_restored": (
        N_("removal does not restore"),
        N_(
            "Undecided: the limit costs time, but that its removal ({restored}) brings all of it "
            "back is not shown."
        ),
    ),
    "no_dose": (
        N_("no dose and response"),
        N_(
            "Undecided: the limit costs time, but no trend is shown that the time falls as the "
            "limit is raised."
        ),
    ),
    "events": (
        N_("memory events"),
        N_(
            "Undecided: memory was reclaimed or an allocation failed in {slow} during the requests."
        ),
    ),
    "near_limit": (
        N_("memory near its limit"),
        N_("Undecided: memory came near its limit in {slow}."),
    ),
    "outside": (
        N_("in or outside the service"),
        N_(
            "Undecided: time passed in which the service neither ran nor stood still. It does not "
            "say how long it had the request (header Server-Timing), so the network and a wait "
            "within the service cannot be told apart."
        ),
    ),
    "machine": (
        N_("counted for the machine only"),
        N_("Undecided: it was counted for the whole machine only, whose other programs wait too."),
    ),
    "no_slowdown": (
        N_("no slowdown shown"),
        N_("Undecided: a slowdown that could be explained is not shown."),
    ),
    "open": (
        N_("interval too wide"),
        N_(
            "Undecided: neither that it is under the margin of {margin} nor that it is above is "
            "shown. More trials would narrow the interval."
        ),
    ),
}
"""Why a hypothesis is undecided: in a table, and in a sentence."""

UNMEASURED = {
    "cpu_limit": N_("throttling was not counted"),
    "network": N_(
        "nothing says how much of the time until the first byte was spent outside the service. "
        "That needs the accounts of the service's control group, or its Server-Timing header; "
        "equal "
        "times of connecting are not enough"
    ),
    "disk": N_("waits for the disk were not measured"),
    "memory": N_("neither waits for memory nor major faults were measured"),
    "client": N_("the client's CPU time was not measured"),
}
"""What was not measured of a hypothesis."""

DECIDED = (
    N_(
        "A hypothesis is confirmed where its time is shown to differ by more than the margin, "
        "and excluded where two one-sided tests (TOST) show that it differs "
        "by less. For the time outside the service one test shows that it is not longer. A "
        "difference that is merely not significant excludes nothing."
    ),
    N_(
        "All are rank tests between the environments; their {n} p-values are corrected together "
        "by Holm's method, at the level {level}. Differences are means over the middle half of "
        "the trials with a bootstrap interval ({confidence:percent}), so that the parts add up to "
        "the slowdown exactly. The kernel counts what the service did for its control group. "
        "Throttled time, which it counts once for each CPU, is divided by the CPUs that the "
        "service kept busy at once."
    ),
)
"""How it was decided; the margin stands between the two."""


CLOCK_MS = 0.1
"""A clock of a request is good to a tenth of a millisecond: two digits of that are shown."""


ALL_OF_IT = 0.95
"""A part that makes up so much of the slowdown is all of it."""


def duration(seconds: float, signed: bool = False) -> str:
    """A time with its unit: `148.8 s` is `149 s`, `0.0123` is `12.3 ms`; with its sign where asked
    for."""
    if not math.isfinite(seconds):
        return "-"
    sign = "+" if signed and seconds >= 0 else ""
    if abs(seconds) < 1:
        return f"{sign}{number(1000 * seconds, CLOCK_MS)} ms"
    return f"{sign}{number(seconds)} s"


def verdict_name(row: pd.Series) -> Message:
    """A verdict in a word, or two where it is undecided for a reason."""
    if row["verdict"] != UNDECIDED:
        return say(VERDICTS[row["verdict"]][0])
    return _("undecided: {why}", why=say(UNDECIDED_FOR[row["why"]][0]))


def share_text(row: pd.Series) -> str:
    """The share of the slowdown with its interval: `97 % (93 % to 101 %)`; a dash where it is not
    known."""
    if math.isnan(row["share"]):
        return "-"
    return _with_interval(*map(percent, row[["share", "share_low", "share_high"]]))


def difference_text(low: float, value: float, high: float) -> str:
    """A difference with its interval: `+1.2 s (1.1 s to 1.3 s)`; without the interval where there
    is none."""
    return _with_interval(duration(value, signed=True), duration(low), duration(high))


def _with_interval(value: str, low: str, high: str) -> str:
    return _("{value} ({low} to {high})", value=value, low=low, high=high) if low != "-" else value


def evidence_of(result: AttributionResult, name: str) -> Message:
    """What speaks for the verdict on a hypothesis, as sentences."""
    row = result.of(name)
    sentences = [_measured(result.measures[part]) for part in ABOUT[name].shown]
    if name == CPU_LIMIT:
        sentences += _limit(result)
    if result.cases[name].is_bounded:
        sentences.append(
            _(
                "All of it together is under the margin in every request, so it cannot be the "
                "cause, whatever a test says."
            )
        )
    if row["why"]:
        sentences.append(_why(result, row))
    return join(sentences)


def verdict(result: AttributionResult) -> Message:
    """How much slower, why, and what is excluded or open."""
    roles, slowdown = result.roles, result.slowdown
    named = {"slow": roles.slow, "fast": roles.fast}
    if result.is_same:
        same = _(
            "{slow} and {fast} respond equally fast, within {margin}: there is nothing to explain.",
            **named,
            margin=duration(result.margin.floor_s),
        )
        sentences = [same]
    else:
        slower = _(
            "{slow} takes {ratio} times as long as {fast}: {difference}.",
            **named,
            ratio=number(result.ratio),
            difference=difference_text(slowdown.low, slowdown.difference, slowdown.high),
        )
        sentences = [slower]
        if not result.is_slower:
            sentences.append(_("That {slow} is slower than {fast} is not shown.", **named))
    if result.is_slower and not result.confirmed:
        sentences.append(_largest(result))
    sentences += _setting(result)
    for kind, (_word, sentence) in VERDICTS.items():
        if names := [say(HYPOTHESES[name]) for name in result.named(kind)]:
            sentences.append(say(sentence, n=len(names), names=listing(names)))
    return join(sentences)


def _largest(result: AttributionResult) -> Message:
    """The largest part of a slowdown of which no hypothesis is confirmed."""
    largest = result.largest
    facts = {
        "part": say(PARTS[largest["part"]]),
        "share": share_text(largest),
        "n": _fewest(result),
        "least": _least(result),
    }
    if (result.hypotheses["why"] == "few").any():
        return say(TOO_FEW_FOR_ALL if largest["share"] >= ALL_OF_IT else TOO_FEW, **facts)
    return _(
        'No hypothesis is confirmed; the largest part of the slowdown is "{part}": {share}.',
        **facts,
    )


def _setting(result: AttributionResult) -> list[Message]:
    """Which CPU limit to set, where the limit makes up the slowdown."""
    name = result.least_limit
    if name is None:
        return []
    limit, margin = result.roles.limits[name], duration(result.margin.floor_s)
    if math.isinf(limit):
        return [
            _("Each CPU limit that was measured costs more than {margin}.", margin=margin),
        ]
    return [
        _(
            "Set cpu_limit {limit}: the median there is {time}, within {margin} of the fastest, "
            "and that of no smaller limit is.",
            limit=f"{limit:g}",
            time=duration(result.medians[name]),
            margin=margin,
        )
    ]


def method(result: AttributionResult) -> Message:
    """How it was decided, with the margin and the correction."""
    floor = duration(result.margin.floor_s)
    margin = (
        _(
            "The margin is {share:percent} of the slowdown plus {floor}, here {margin}.",
            share=result.margin.share,
            floor=floor,
            margin=duration(result.margin_s),
        )
        if result.margin.share
        else _(
            "Since no slowdown is shown of which a part could be a share, the margin is {floor}.",
            floor=floor,
        )
    )
    level, confidence = exact(1 - result.confidence), result.confidence
    tests = say(DECIDED[1], n=result.tests, level=level, confidence=confidence)
    return join([say(DECIDED[0]), margin, tests])


def _measured(measure: Measure) -> str:
    if not measure.is_known:
        return ""
    part, slow, fast = (
        capital(say(PARTS[measure.part])),
        *map(duration, (measure.slow, measure.fast)),
    )
    if not (measure.slow or measure.fast):
        return _("{part}: none in either.", part=part)
    difference = difference_text(measure.low, measure.difference, measure.high)
    return _(
        "{part}: {slow} against {fast}, {difference}.",
        part=part,
        slow=slow,
        fast=fast,
        difference=difference,
    )


def _limit(result: AttributionResult) -> list[str]:
    roles, case = result.roles, result.cases[CPU_LIMIT]
    sentences: list[str] = []
    if roles.restored is not None:
        time, other = (duration(result.medians[name]) for name in (roles.restored, roles.fast))
        named = {"restored": roles.restored, "fast": roles.fast}
        sentences.append(
            _(
                "Without the limit ({restored}): {time}, in {fast} {other}; that the two are the "
                "same within the margin has {p:p_equals}.",
                **named,
                time=time,
                other=other,
                p=case.removal,
            )
        )
    if roles.doses:
        count = len({roles.limits[name] for name in roles.doses})
        sentences.append(
            _(
                "Over {n} limits the response falls as the limit rises ({p:p_equals}).",
                n=count,
                p=case.dose,
            )
        )
    return sentences


def _why(result: AttributionResult, row: pd.Series) -> Message:
    return say(
        UNDECIDED_FOR[row["why"]][1],
        slow=result.roles.slow,
        fast=result.roles.fast,
        restored=result.roles.restored or "",
        n=_fewest(result),
        least=_least(result),
        margin=duration(result.margin_s),
        what=say(UNMEASURED[row["hypothesis"]]),
    )


def _fewest(result: AttributionResult) -> int:
    """Trials of the environment that has fewer."""
    return min(result.sizes[result.roles.slow], result.sizes[result.roles.fast])


def _least(result: AttributionResult) -> int:
    """Trials of each environment that can show anything."""
    return least_trials(max(result.tests, 1), result.confidence, sides=1)
