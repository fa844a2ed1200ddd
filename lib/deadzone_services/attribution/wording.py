"""What an attribution says: the names of causes and parts, the sentences of verdicts, and times
with their units."""

import math

import pandas as pd

from deadzone.analysis.phases.quantities import percent
from deadzone.language.formats import number
from deadzone.language.messages import N_
from deadzone.plugins import _
from deadzone_services.attribution.hypotheses import HYPOTHESES

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
