"""What a study promises beside its claims."""

import pytest
import yaml

from deadzone.study.design import claims_of_study
from deadzone.study.loading import parse_study

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
