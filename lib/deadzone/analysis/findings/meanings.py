"""What each finding means, in general."""

from deadzone.language.messages import N_

MEANING = {
    "other_factor": N_(
        "A column with few values that tells the trials of one level apart is a second factor, and "
        "each of its values has a curve of its own."
    ),
    "impossible_numbers": N_(
        "A time, a rate or a count below zero is what a tool writes where it measured nothing."
    ),
    "contradicting_numbers": N_(
        "Figures of one run that contradict each other: one of them is not what its name says."
    ),
    "fixed_duration": N_(
        "A program that is told how long to run takes that long at every setting; what differs is "
        "how much it does."
    ),
    "work_size": N_(
        "How much work there is, or how much load, is no setting: the curve over it says where it "
        "bends and what a unit costs."
    ),
    "unit_changes": N_(
        "A program that chooses the unit of what it prints (0.310 s, 98.7 ms) gives numbers that "
        "cannot be compared."
    ),
    "error_printed": N_("A program that fails with exit code 0 looks like a fast one."),
    "left_running": N_(
        "The program handed its work to a child and returned: the time until it returned is not "
        "the time of the work."
    ),
    "timeouts_by_level": N_(
        "A trial that was stopped took longer than the time-out, by an unknown time. Its level "
        "stands in the curve by what is to be expected beyond that, and is not recommended."
    ),
    "errors_by_level": N_(
        "What fails is often quick: a level at which more than one attempt in twenty fails is not "
        "recommended, however good its response. Columns of failures are known by their names, or "
        "with --failures COLUMN."
    ),
    "failures_by_level": N_(
        "Where trials fail, those that did not may be the lucky or the light ones. A level that "
        "fails in more than one trial in twenty is not recommended."
    ),
    "less_work": N_("A setting that does less is not a setting that does it faster."),
    "work_differs": N_(
        "Trials of one level should do the same. Two separate groups say that something is done in "
        "some of them only."
    ),
    "selected_by_trust": N_(
        "Trust should leave out the same work disturbed. Where what it kept and what it left out "
        "differ by more than a neighbour can do, it chose by the response."
    ),
    "carry_over": N_(
        "A trial should not know what ran before it. The order of the trials is random, so that it "
        "can be tested whether it does."
    ),
    "levels_confounded": N_(
        "Where levels are measured one after the other, a machine that warms up looks like an "
        "effect of the knob."
    ),
    "knob_not_used": N_(
        "A knob that does nothing at all is more often a mistake in the study than a property of "
        "the program."
    ),
    "limit_not_felt": N_("A limit above what the program uses is no limit."),
    "client_full": N_(
        "A plateau may be that of the program that asks, not of the one that answers."
    ),
    "not_the_program": N_(
        "Where a program sleeps, pauses or waits for another process, its wall time is not its "
        "work, "
        "and a knob of the program cannot change it."
    ),
    "few_periods": N_(
        "A CPU limit is a quota for each period of 100 ms. A trial of a few periods starts with a "
        "full quota, and runs faster than the limit allows in the long run."
    ),
    "neighbours_follow": N_(
        "Other processes that work when the trial works are part of it, such as a server that was "
        "already running."
    ),
    "too_short": N_("In a very short trial the start of the program is most of what is measured."),
    "few_values": N_("A response with few digits makes neighbouring levels equal that are not."),
    "noise_too_large": N_(
        "With such noise the number of trials that would tell the levels apart is beyond any sweep."
    ),
    "state_builds_up": N_(
        "Files, memory or heat that grow with each trial make later trials slower."
    ),
    "one_level_off": N_(
        "One level alone is worse or better than both its neighbours. Its trial was spoiled, "
        "or it has a cause of its own, such as a size that does not divide. It keeps what was "
        "measured there, the curve passes it by."
    ),
    "edge_of_range": N_("The best setting may lie beyond the levels that were measured."),
    "range_too_coarse": N_("A better setting may lie between the levels that were measured."),
}
"""By finding."""
