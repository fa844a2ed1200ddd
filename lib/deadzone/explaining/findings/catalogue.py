"""The catalogue of findings: each key with its severity and the check that looks for it, causes before consequences."""

from collections.abc import Callable, Iterator

from deadzone.explaining.findings import extent, failures, order, output, process, work
from deadzone.explaining.findings.experiment import Experiment
from deadzone.explaining.findings.finding import Severity, Suspicion

Check = Callable[[Experiment], Iterator[Suspicion]]

CATALOGUE: dict[str, tuple[Severity, Check]] = {
    "unit_changes": ("stops", output.unit_changes),
    "error_printed": ("stops", output.error_printed),
    "left_running": ("stops", output.left_running),
    "timeouts_by_level": ("doubts", failures.timeouts_by_level),
    "failures_by_level": ("doubts", failures.failures_by_level),
    "less_work": ("stops", work.less_work),
    "work_differs": ("stops", work.work_differs),
    "selected_by_trust": ("stops", failures.selected_by_trust),
    "carry_over": ("stops", order.carry_over),
    "levels_confounded": ("doubts", order.levels_confounded),
    "not_the_program": ("doubts", process.not_the_program),
    "knob_not_used": ("doubts", output.knob_not_used),
    "limit_not_felt": ("doubts", process.limit_not_felt),
    "client_full": ("doubts", process.client_full),
    "few_periods": ("doubts", process.few_periods),
    "neighbours_follow": ("doubts", process.neighbours_follow),
    "too_short": ("doubts", process.too_short),
    "few_values": ("doubts", process.few_values),
    "noise_too_large": ("doubts", failures.noise_too_large),
    "state_builds_up": ("notes", order.state_builds_up),
    "one_level_off": ("notes", extent.one_level_off),
    "edge_of_range": ("notes", extent.edge_of_range),
    "range_too_coarse": ("notes", extent.range_too_coarse),
}
"""A severity is the gravest a finding of that key usually has; a check may say another for what it saw. Of findings of
one severity the first here is named first: what explains others comes before them."""
