"""The names of findings, by which a study accepts them, causes before consequences."""

FINDINGS = (
    "other_workload",
    "unit_changes", "error_printed", "left_running", "timeouts_by_level", "failures_by_level",
    "errors_by_level", "impossible_numbers", "contradicting_numbers", "fixed_duration",
    "less_work", "work_differs", "nothing_trusted", "selected_by_trust", "carry_over",
    "levels_confounded",
    "other_factor", "not_the_program", "knob_not_used", "limit_not_felt", "client_full",
    "few_periods", "neighbours_follow", "too_short", "few_values", "noise_too_large",
    "work_size", "state_builds_up", "one_level_off", "edge_of_range", "range_too_coarse",
)  # fmt: skip
