"""What each finding says was seen, with its figures."""

from deadzone.language.messages import N_

SEEN = {
    ("other_factor", ""): N_(
        "Trials of the same level are split by {column} ({values}), {times:number} times apart: "
        "the curve is a mixture of several."
    ),
    ("levels_confounded", "column"): N_(
        "{column} changes with {knob} ({values}): what it does cannot be told from what {knob} "
        "does."
    ),
    ("work_differs", "column"): N_(
        "{column} goes with {knob}, from {least:count} to {most:count}: the trials did not do the "
        "same work."
    ),
    ("impossible_numbers", "below_zero"): N_(
        "{response} is below zero in {n} trials, at {levels}, which it cannot be: these count as "
        "failed, and are left out."
    ),
    ("contradicting_numbers", "in_flight"): N_(
        "{rate} times {latency} is {held:number} requests in flight at {level}, more than its "
        "connections hold (Little's law): one of the two is wrong, or of another part of the run."
    ),
    ("contradicting_numbers", "faster"): N_(
        "{response} falls by a factor of {faster:count} while {knob} grows {more:count} times: "
        "better than in proportion, which more of {knob} alone cannot do."
    ),
    ("contradicting_numbers", "divided"): N_(
        "{column} is {knob} itself at every level, and {response} falls by a factor of "
        "{faster:count}: the tool may have divided the time by {knob}."
    ),
    ("fixed_duration", ""): N_(
        "The wall time is about {wall_s:number} s at every level, while {column} differs by a "
        "factor of {times:number}: the program runs for a fixed duration."
    ),
    ("work_size", "said"): N_(
        "{knob} is the size of the work, as it was said: no level of it is recommended."
    ),
    ("work_size", "named"): N_(
        "{knob} says how much work there is, by its name: no level of it is recommended."
    ),
    ("work_size", "load"): N_("{knob} is a load, by its name: no level of it is recommended."),
    ("work_size", "grows"): N_(
        "{knob} says how much work there is: {response} grows in proportion to it from the first "
        "level on, and no level of it is recommended."
    ),
    ("work_size", "asked_grows"): N_(
        "{response} grows in proportion to {knob} from the first level on, as it does where the "
        "knob is the size of the work."
    ),
    ("work_size", "asked_name"): N_(
        "{knob} may be the size of the work, or of a part of it that is a setting."
    ),
    ("work_size", "asked_arithmetic"): N_(
        "{response} is a rate of arithmetic, and {knob} may be the size of the problem."
    ),
    ("unit_changes", "read"): N_(
        "The unit printed behind {response} changes between {units}; {trials} of the numbers are "
        "not in the usual one."
    ),
    ("unit_changes", "factor"): N_(
        "Numbers of {response} at one level are a factor of about {units} apart, as if they were "
        "in two units ({trials} trials)."
    ),
    ("error_printed", "errors"): N_(
        "{trials} of {all} trials ended with exit code 0 but printed words of failure, at {levels} "
        "and not elsewhere."
    ),
    ("error_printed", "silent"): N_(
        "{trials} of {all} trials ended with exit code 0 and printed nothing, at {levels}; others "
        "printed something."
    ),
    ("left_running", ""): N_(
        "In {trials} of {all} trials the program returned while up to {most} of its processes "
        "still ran; what they did is not in the response."
    ),
    ("timeouts_by_level", ""): N_(
        "{failed} of {trials} trials at {levels} were stopped by the time-out; their response is "
        "longer than that, and trials that ended there are the fast ones."
    ),
    ("errors_by_level", "count"): N_(
        "{column} counts {failed:count} failures beside {counted:count} in {other} at {levels}: "
        "more than {allowed:percent} of what was attempted failed."
    ),
    ("errors_by_level", "share"): N_(
        "{column} is up to {share:percent} at {levels}: more than {allowed:percent} of what was "
        "attempted failed."
    ),
    ("failures_by_level", ""): N_(
        "{failed} of {trials} trials at {levels} failed; what is known of the response there is "
        "that of the survivors."
    ),
    ("failures_by_level", "rehearsed"): N_("The trial at {levels} failed: {error}."),
    ("timeouts_by_level", "rehearsed"): N_(
        "The trial at {levels} was stopped by the time-out: {error}."
    ),
    ("less_work", ""): N_(
        "{column} falls from {before:number} to {after:number} at {levels}: these trials may have "
        "done less work."
    ),
    ("less_work", "printed"): N_(
        "The program prints that it did less at {levels}: {few:count} {what} there, {most:count} "
        "elsewhere."
    ),
    ("work_differs", ""): N_(
        "Trials of the same level fall into two groups, {times:number} times apart in {column} "
        "({few} of {trials} trials in the smaller one): they did not do the same work."
    ),
    ("selected_by_trust", ""): N_(
        "The {trials} attempts that were not trusted differ from the trusted ones of the same "
        "level by a factor of {times:number}. What was thrown out was not the same work disturbed."
    ),
    ("carry_over", "after_large"): N_(
        "A trial differs by a factor of {times:.2f} by whether the trial before it had a large or "
        "a small {knob}: what one leaves behind, the next one meets."
    ),
    ("carry_over", "first_of_level"): N_(
        "The first trial of each {knob} differs from the later ones by a factor of {times:number}: "
        "something is kept from it, such as a cache."
    ),
    ("levels_confounded", ""): N_(
        "The order of the trials explains {share:percent} of the levels: drift of the machine "
        "cannot be told from the effect of the knob."
    ),
    ("knob_not_used", ""): N_(
        "Nothing that was measured ({measures} quantities: response, CPU time, memory, switches, "
        "bytes, output) differs between the levels of {knob}; the program may not use it."
    ),
    ("knob_not_used", "same_process"): N_(
        "One and the same process, {process}, served every level of {knob}: what was prepared for "
        "the first level still runs, and nothing was started for the others."
    ),
    ("limit_not_felt", ""): N_(
        "No CPU limit was ever reached: the program used {cores:number} cores at most."
    ),
    ("client_full", ""): N_(
        "At {levels} the response stays the same and the program that asks the server keeps one "
        "core busy ({cores:.2f}) and no more: the plateau may be the client's."
    ),
    ("client_full", "shares"): N_(
        "At {levels} the response stays the same while the client ({cores:.2f} cores) and the "
        "server ({server:.2f}) use all {all:count} cores of this machine together. The client "
        "takes from the server what is measured."
    ),
    ("not_the_program", ""): N_(
        "The program slept through {share:percent} of each trial or more ({slept_s:number} s, at "
        "every level alike) and worked {cpu_s:number} s: the response is not its own."
    ),
    ("few_periods", ""): N_(
        "{trials} trials at {levels} used more CPU than their limit, for they last {periods} of "
        "the limit's periods: they ran on what is lent at the beginning."
    ),
    ("neighbours_follow", ""): N_(
        "The CPU that other processes used goes with {knob}, from {least:.2f} to {most:.2f} cores: "
        "it belongs to the trials."
    ),
    ("too_short", ""): N_(
        "Trials at {levels} take {wall_ms:.1f} ms, about what it takes to start a program."
    ),
    ("few_values", ""): N_(
        "Different values of {response} in {trials} trials: {different}. It is read off a coarse "
        "scale."
    ),
    ("noise_too_large", ""): N_(
        "Trials of the same level differ by {noise:percent} (standard deviation): to tell even the "
        "best level from the worst takes more than {most} trials of each."
    ),
    ("state_builds_up", ""): N_(
        "The response drifts by {change:percent} over the run, whatever the level; the drift was "
        "taken out of the fit."
    ),
    ("one_level_off", "worse"): N_(
        "{knob} {level} is off: {value}, {times:number} times worse than the {expected} between "
        "its neighbours, in its one trial.",
        "{knob} {level} is off: {value}, {times:number} times worse than the {expected} between "
        "its neighbours, in {n} trials.",
    ),
    ("one_level_off", "better"): N_(
        "{knob} {level} is off: {value}, {times:number} times better than the {expected} between "
        "its neighbours, in its one trial.",
        "{knob} {level} is off: {value}, {times:number} times better than the {expected} between "
        "its neighbours, in {n} trials.",
    ),
    ("one_level_off", "end"): N_(
        "{knob} {level} is off: {value}, a factor of {times:number} from the {expected} of the "
        "curve that ends there, in its one trial.",
        "{knob} {level} is off: {value}, a factor of {times:number} from the {expected} of the "
        "curve that ends there, in {n} trials.",
    ),
    ("edge_of_range", ""): N_(
        "The response still improves at the end of the range, {knob} {level}."
    ),
    ("range_too_coarse", ""): N_(
        "{knob} {level} is far better than its neighbours, which are far away."
    ),
}
"""By finding, and how it was found."""
