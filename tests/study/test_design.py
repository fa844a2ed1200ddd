from collections import Counter

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from deadzone.errors import StudyError
from deadzone.study.design import WARMUP_BLOCK, claims_of_study, resolve, treatments
from deadzone.study.loading import parse_study
from deadzone.study.plan import plan_of


def resolved(factors, design="{}"):
    text = f"study: s\nworkload: {{kind: ffmpeg}}\nfactors: {factors}\ndesign: {design}\n"
    return resolve(parse_study(text, "s.yaml"), 2)


def labels(study):
    return [treatment.label() for treatment in treatments(study)]


DIAGONAL = ["cpu_limit=1 threads=1", "cpu_limit=2 threads=2", "cpu_limit=4 threads=4"]
GRID = [f"cpu_limit={limit} threads={n}" for limit in (1, "none") for n in (1, "auto")]


@pytest.mark.parametrize(
    ("factors", "design", "expected"),
    [("{cpu_limit: [1, none], threads: [1, auto]}", "{}", GRID),
     ("{cpu_limit: [1, 2, 4], threads: [1, 2, 4]}", "{kind: paired}", DIAGONAL),
     ("{cpu_limit: [1, 1, none, none], threads: [1, auto, 1, auto]}", "{kind: paired}", GRID),
     ("{cpu_limit: [1, 2, 4], threads: {equals: cpu_limit}}", "{}", DIAGONAL)],
)  # fmt: skip
def test_factors_are_combined_or_paired_or_equal(factors, design, expected):
    assert labels(resolved(factors, design)) == expected


def test_what_is_said_of_a_factor_is_kept_as_its_levels_are_written_out():
    written = resolved("{threads: {from: 1, to: 3, step: 1, role: setting}}").factors["threads"]
    assert written.levels == (1, 2, 3) and written.role == "setting"


def test_sizes_of_a_list_design_are_read_as_those_of_a_factor():
    listed = "{kind: list, treatments: [{memory_limit: 64MiB}, {memory_limit: 1GiB}]}"
    study = resolved("{}", listed)
    assert labels(study) == ["memory_limit=67108864", "memory_limit=1073741824"]


def test_a_list_design_has_its_treatments_once_each():
    design = (
        "{kind: list, treatments: [{cpu_limit: 1, threads: 2}, {threads: 1, cpu_limit: none}, "
        "{threads: 2, cpu_limit: 1}]}"
    )
    study = resolved("{}", design)
    assert labels(study) == ["cpu_limit=1 threads=2", "cpu_limit=none threads=1"]
    assert study.knob == "cpu_limit"


@pytest.mark.parametrize(
    ("factors", "design", "words"),
    [("{cpu_limit: [1, 2], threads: [1]}", "{kind: paired}",
      "cpu_limit has 2, threads has 1. Give each as many levels"),
     ("{cpu_limit: [0.5], threads: {equals: cpu_limit}}", "{}", "threads is whole, 0 or more"),
     ("{}", "{kind: list, treatments: [{cpu_limit: 1, threads: 1}, {cpu_limit: 2}]}",
      "treatments[1] has no level of threads"),
     ("{}", "{kind: list, treatments: [{cpu_limit: -1}]}",
      "design.treatments[0].cpu_limit is '-1'"),
     ("{cpu_limit: {from: 1, to: 900, step: 1}, threads: {from: 1, to: 900, step: 1}}", "{}",
      "at most 100,000 make sense"),
     ("{cpu_limit: {from: 1, to: 500, step: 1}}", "{replicates: 1000}",
      "500 treatments x 1,001 passes are 500,500 trials")],
)  # fmt: skip
def test_a_design_that_makes_no_sense_is_refused(factors, design, words):
    with pytest.raises(StudyError) as refusal:
        plan_of(resolved(factors, design))
    assert words in str(refusal.value)


FACTORS = st.lists(st.integers(1, 64), min_size=1, max_size=6, unique=True)


@given(FACTORS, FACTORS, st.integers(1, 5), st.integers(0, 3), st.integers(0, 2**32))
def test_each_block_has_each_treatment_once_after_the_warm_up(
    limits, threads, replicates, warmup, seed
):
    study = resolved(
        f"{{cpu_limit: {limits}, threads: {threads}}}",
        f"{{replicates: {replicates}, warmup: {warmup}, seed: {seed}}}",
    )
    trials = plan_of(study).trials
    every = Counter(labels(study))
    assert [trial.trial for trial in trials] == list(range(1, len(trials) + 1))
    size = len(every)
    passes = [trials[i : i + size] for i in range(0, len(trials), size)]
    assert len(passes) == warmup + replicates
    for number, block in enumerate(passes):
        assert Counter(trial.treatment.label() for trial in block) == every
        measured = number - warmup + 1
        expected = (measured, measured, False)
        if number < warmup:
            expected = (WARMUP_BLOCK, number + 1, True)
        assert {(trial.block, trial.replicate, trial.warmup) for trial in block} == {expected}


GOLDEN = ["12", "6", "7", "10", "9", "11", "8", "1", "5", "3", "4", "2"]
"""Treatments of the first block, as they were ordered when the first runs were recorded."""


def order(seed):
    design = f"{{replicates: 3, warmup: 1, seed: {seed}}}"
    study = resolved("{cpu_limit: {from: 1, to: 12, step: 1}}", design)
    return [trial.treatment.label() for trial in plan_of(study).trials]


def test_the_same_seed_gives_the_same_order_and_blocks_differ():
    first = order(7)
    assert first == order(7)
    assert first != order(8)
    blocks = [tuple(first[i : i + 12]) for i in range(0, 48, 12)]
    assert len(set(blocks)) == 4


def test_the_order_of_a_seed_is_the_same_in_every_release():
    """A run that was started with an earlier version must go on in its order."""
    assert [label.removeprefix("cpu_limit=") for label in order(20260206)[:12]] == GOLDEN


def test_the_cores_of_this_machine_are_no_measure_of_a_pod():
    text = (
        "study: s\nworkload: {kind: ffmpeg}\ntarget: {kind: kubernetes, namespace: n, workload: "
        "deployment/d}\n"
        "factors: {cpu_limit: {levels: [0.5, 1], times: host_cores}}\n"
    )
    with pytest.raises(StudyError, match="host_cores counts the cores of this machine"):
        resolve(parse_study(text, "s.yaml"), 4)


STUDY = """
study: pool
service: {argv: [server, "{port}", "{pool_size}"]}
workload: {kind: load, protocol: http, url: "{service_url}/", duration_s: 2, warmup_s: 1}
factors: {pool_size: [2, 4], rate: [100, 200, 400]}
response: {name: latency_p99_ms, unit: ms}
"""


@pytest.mark.parametrize(
    ("objectives", "load"),
    [({"latency_p99_ms": {"at_most": 20}, "rate": {"at_least": 150}}, 200),
     ({"latency_p99_ms": {"at_most": 20}, "rate": {"at_least": 900}}, 400),
     ({"latency_p99_ms": {"at_most": 20}}, 400)],
)  # fmt: skip
def test_objectives_are_a_claim_at_the_load_to_be_borne(objectives, load):
    claim = {"better": {"at": {"pool_size": 4}, "than": {"pool_size": 2}}, "given": {"rate": 400}}
    document = {**yaml.safe_load(STUDY), "objectives": objectives, "claims": [claim]}
    own, promised = claims_of_study(parse_study(yaml.safe_dump(document), "pool.yaml"))
    assert own.form == "better" and promised.name == "objectives"
    assert set(promised.holds) == {"latency_p99_ms"} and promised.given == {"rate": load}


def test_without_objectives_nothing_is_promised():
    assert claims_of_study(parse_study(STUDY, "pool.yaml")) == ()
