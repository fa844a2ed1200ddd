import pytest

from deadzone.errors import StudyError
from deadzone.study.loading import parse_study

STUDY = """
study: pool
workload: {{kind: command, argv: ["true", "{{pool_size}}", "{{rate}}"]}}
factors: {{pool_size: [2, 4, 8], rate: [100, 200]}}
knob: pool_size
objectives: {objectives}
"""


def parsed(objectives: str):
    return parse_study(STUDY.format(objectives=objectives), "pool.yaml")


def test_bounds_on_responses_in_any_unit_and_the_load_to_be_borne_are_read():
    study = parsed(
        "{latency_mean_ms: {at_most: 40}, achieved_share: {at_least: 0.99}, rate: {at_least: 150}}"
    )
    assert study.objectives["latency_mean_ms"].at_most == 40
    assert study.objectives["rate"].at_least == 150
    assert parsed("{sent_bytes_s: {at_least: 1e9}}").objectives["sent_bytes_s"].at_least == 1e9
    study = parsed("{latency_mean_ms: {at_most: 0.04 s}, max_rss_bytes: {at_most: 64 MiB}}")
    assert study.objectives["latency_mean_ms"].at_most == 40
    assert study.objectives["max_rss_bytes"].at_most == 64 * 2**20


@pytest.mark.parametrize(
    ("objectives", "said"),
    [("{latency_mean_ms: {at_most: 3 MB}}",
      "latency_mean_ms is not measured in 'mb'; write the bound in ms"),
     ("{latency_mean_ms: {at_most: '40'}}", "40 of what"),
     ("{latency_mean_ms: {at_most: 40, at_least: 3}}", "exactly one"),
     ("{latency_mean_ms: {}}", "exactly one"),
     ("{pool_size: {at_least: 2}, latency_mean_ms: {at_most: 40}}", "the knob"),
     ("{rate: {at_most: 2}, latency_mean_ms: {at_most: 40}}", "give at_least"),
     ("{rate: {at_least: 150}}", "no objectives to meet"),
     ("{latency_mean_ms: {at_most: fast}}", "at_most")],
)  # fmt: skip
def test_objectives_that_mean_nothing_are_refused(objectives, said):
    with pytest.raises(StudyError, match=said):
        parsed(objectives)
