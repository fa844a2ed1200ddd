"""What each finding says to change."""

from deadzone.language.messages import N_

MEND = {
    "other_factor": N_("Fit a curve for each: --by {column}."),
    "impossible_numbers": N_("Find out why the measurement failed there."),
    "contradicting_numbers": N_(
        "Look at how the tool counts, and judge a figure that it does not derive."
    ),
    "fixed_duration": N_(
        "Judge what it prints of its work (--response REGEX --goal max), not how long it took."
    ),
    "work_size": N_(
        "--role says which it is: setting, or work_size (in a study, role: of the factor)."
    ),
    "unit_changes": N_("Have the program print one unit, or read it from JSON."),
    "error_printed": N_(
        "Make the program end with another code where it fails, or leave these levels out."
    ),
    "left_running": N_("Measure a command that waits for its work, such as one in the foreground."),
    "timeouts_by_level": N_(
        "Raise design.timeout_s, or leave these levels out; they are not recommended."
    ),
    "errors_by_level": N_(
        "These levels are not recommended; find out what failed, and measure what succeeds."
    ),
    "failures_by_level": N_(
        "Find out why (see the failed trials); these levels are not recommended."
    ),
    "less_work": N_("Hold the work of a trial the same, or make the response work per second."),
    "work_differs": N_(
        "Find what the smaller group skipped: a build that was up to date, a cache, an error that "
        "was swallowed."
    ),
    "selected_by_trust": N_(
        "Check what the distrusted trials did; measure again on a quieter machine, or with the "
        "same work in each trial."
    ),
    "carry_over": N_(
        "Put things back before each trial (workload.prepare), or wait longer (design.cooldown_s)."
    ),
    "levels_confounded": N_("Use a randomised design (design.kind: factorial), or more blocks."),
    "knob_not_used": N_("Check how the knob reaches the program, and that the program knows it."),
    "limit_not_felt": N_("Use smaller limits, or a program that needs more CPU."),
    "client_full": N_("Give the client more threads or processes, or run it elsewhere."),
    "not_the_program": N_(
        "Take out the pause, measure what the program waits for (belongs), or read the time that "
        "it prints of its own work."
    ),
    "few_periods": N_("Make the trials at least ten periods long (1 s), with more work each."),
    "neighbours_follow": N_(
        "Name these processes in the study as the trial's, or measure them with the program."
    ),
    "too_short": N_("Give each trial more work, or repeat the work inside it."),
    "few_values": N_("Print more digits, or make the trials longer."),
    "noise_too_large": N_(
        "Make the trials longer, the machine quieter, or pin the program to its cores."
    ),
    "state_builds_up": N_(
        "Clean up between trials (workload.prepare), or let the machine warm up (design.warmup)."
    ),
    "one_level_off": N_("Measure this level again, and its neighbours."),
    "edge_of_range": N_("Add the levels {add}."),
    "range_too_coarse": N_("Add the levels {add}."),
}
"""By finding."""


REMEDIES = {
    ("levels_confounded", "column"): N_(
        "Measure all levels with the same {column}, or every {column} at all levels and --by "
        "{column}."
    ),
    ("work_differs", "column"): N_(
        "Let every trial do the same, or judge the time of one (wall time over {column})."
    ),
    ("knob_not_used", "same_process"): N_(
        "End it in the preparation before it is started anew, such as with `restart`."
    ),
    ("one_level_off", "agree"): N_(
        "Its trials agree: look for what is different there, such as a size that does not divide."
    ),
}
"""Where another thing is to be changed than a finding usually says."""
