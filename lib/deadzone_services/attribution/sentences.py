"""Hypotheses, parts and verdicts of an attribution, in words."""

from deadzone.language.messages import N_

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


VERDICTS_IN_WORDS = {
    "confirmed": N_("confirmed"),
    "excluded": N_("excluded"),
    "undecided": N_("undecided"),
}


VERDICTS_ON = {
    "confirmed": N_("Confirmed: {names}."),
    "excluded": N_("Excluded: {names}."),
    "undecided": N_("Undecided: {names}."),
}


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


WHY_IN_SHORT = {
    "unmeasured": N_("not measured"),
    "few": N_("too few trials"),
    "throttled_without": N_("throttled in both"),
    "not_restored": N_("removal does not restore"),
    "no_dose": N_("no dose and response"),
    "events": N_("memory events"),
    "near_limit": N_("memory near its limit"),
    "outside": N_("in or outside the service"),
    "machine": N_("counted for the machine only"),
    "no_slowdown": N_("no slowdown shown"),
    "open": N_("interval too wide"),
}
"""Why a hypothesis is undecided, in a table."""


WHY_UNDECIDED = {
    "unmeasured": N_("Undecided: {what}."),
    "few": N_(
        "Undecided: with {n} trial in an environment no test can show anything, in either "
        "direction. Measure at least {least} in each.",
        "Undecided: with {n} trials in an environment no test can show anything, in either "
        "direction. Measure at least {least} in each.",
    ),
    "throttled_without": N_(
        "Undecided: the service was throttled in {fast} too, so there is no environment without a "
        "limit to compare with."
    ),
    "not_restored": N_(
        "Undecided: the limit costs time, but that its removal ({restored}) brings all of it back "
        "is not shown."
    ),
    "no_dose": N_(
        "Undecided: the limit costs time, but no trend is shown that the time falls as the "
        "limit is raised."
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
        "Undecided: neither that it is under the margin of {margin} nor that it is above is shown. "
        "More trials would narrow the interval."
    ),
}
"""Why a hypothesis is undecided, in a sentence."""


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
