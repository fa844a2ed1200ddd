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
