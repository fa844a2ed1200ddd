"""What slows a phase down, in words."""

from deadzone.language.messages import N_

CAUSES = {
    "more_cpu_work": N_("more CPU work for the same job"),
    "less_work": N_("less work done"),
    "cpu_full": N_("CPU full"),
    "throttled": N_("throttled"),
    "waiting_for_disk": N_("waiting for the disk"),
    "memory_short": N_("memory short"),
    "waiting_for_each_other": N_("waiting for each other"),
    "too_few_threads": N_("too few threads"),
    "outside": N_("not in the program"),
    "unknown": N_("?"),
    "running": N_("running"),
}
"""Mechanisms by name, and what else an account of time shows."""


BECAUSE = {
    "more_cpu_work": N_("the job takes more CPU work"),
    "less_work": N_("less CPU work is done"),
    "cpu_full": N_("threads are ready and find no core"),
    "throttled": N_("the CPU limit holds threads back"),
    "waiting_for_disk": N_("threads wait for the disk"),
    "memory_short": N_("threads wait for memory"),
    "waiting_for_each_other": N_("threads sleep while work is left"),
    "too_few_threads": N_("there are fewer threads than could work"),
    "outside": N_("the time lies outside the program"),
}
"""Mechanisms as the reason of a loss."""
