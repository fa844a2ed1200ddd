import json
from pathlib import Path

import pytest
from disturbance import NO_DOUBTS

CLAIMS = [
    {"says": "an eighth of the pause halves the time",
     "better": {"at": {"pause": 0.1}, "than": {"pause": 0.8}, "by_at_least": 2}},
    {"says": {"en": "short", "ko": "짧다"}, "holds": {"wall_s": {"at_most": 0.6}},
     "at": {"pause": 0.1}},
]  # fmt: skip


BREAKS = 'sleep "$1"; if [ -n "$BROKEN" ] && [ "$1" = 0.1 ]; then sleep 1; fi'
BREAKABLE = {"kind": "command", "argv": ["sh", "-c", BREAKS, "sh", "{pause}"]}


@pytest.fixture
def study(home, write_study):
    def write(**more):
        return write_study(
            **{"workload": {"kind": "command", "argv": ["sleep", "{pause}"]}, **more},
            factors={"pause": [0.1, 0.2, 0.8]},
            design={"replicates": 4, "warmup": 0},
            trust={**NO_DOUBTS, "max_attempts": 1},
        )

    return write


def test_what_was_promised_before_a_run_is_judged_by_it(study, deadzone):
    study(claims=CLAIMS)
    kept = deadzone("sweep", "probe", "--fail-on", "not-supported", "--json")
    assert kept.code == 0 and "supported: an eighth of the pause halves the time" in kept.err
    assert [one["verdict"] for one in json.loads(kept.out)["claims"]] == ["supported", "supported"]
    broken = deadzone("sweep", "probe", "--fail-on", "contradicted", "--claim", "pause 0.2 is best")
    assert broken.code == 8 and "contradicted: pause 0.2 is best" in broken.err


def test_a_claim_that_comes_after_the_run_says_so(study, deadzone):
    study()
    assert deadzone("sweep", "probe").code == 0
    assert "use `--add`" in deadzone("claims", "probe/latest").err
    claim = "pause 0.1 at least 2x faster than pause 0.8"
    added = deadzone("claims", "probe/latest", "--add", claim)
    assert added.code == 0 and "Claimed after the run was measured" in added.out
    (again,) = json.loads(deadzone("claims", "probe/latest", "--json").out)["claims"]
    assert again["verdict"] == "supported" and again["added"]


def test_a_claim_that_the_study_cannot_test_is_refused_before_it_runs(study, deadzone):
    study(claims=[{"holds": {"frame_s": {"at_most": 1}}, "at": {"pause": 0.1}}])
    said = deadzone("sweep", "probe")
    assert said.code == 2 and "nothing measures 'frame_s'" in said.err


def test_a_broken_promise_is_named_beside_the_recommendation(study, deadzone, monkeypatch):
    """The same study twice, its program made slow at one setting in between."""
    short = {"wall_s": {"at_most": 0.6}}
    promise = [{"says": "0.1 is short", "holds": short, "at": {"pause": 0.1}}]
    study(claims=promise, workload=BREAKABLE)
    much = "pause 0.1 at least 50x faster than pause 0.8"
    assert deadzone("sweep", "probe", "--claim", much).code == 0
    rested = deadzone("recommend", "probe/latest", "--json")
    assert [one["verdict"] for one in json.loads(rested.out)["fallen_claims"]] == ["contradicted"]
    assert "A claim about the recommended setting is contradicted" in rested.err
    monkeypatch.setenv("BROKEN", "1")
    assert deadzone("sweep", "probe", "--fail-on", "contradicted").code == 8
    said = deadzone("recommend", "probe/latest")
    assert said.code == 0 and "0.1 is short" not in said.err


@pytest.mark.night
def test_claims_guard_a_study_that_is_run_twice_and_broken_in_between(
    study, home, notebooks, deadzone, monkeypatch
):
    """By a real program, from the first trial to the report; what is added in the notebook is
    judged with them."""
    promises = [
        {"name": "best", "best": {"pause": 0.1}},
        {"name": "short", "holds": {"wall_s": {"at_most": 0.6}}, "at": {"pause": 0.1}},
        {"name": "no-worse", "not_worse": {"by_at_most": 0.05}, "from": 0.8, "to": 0.2},
        {"name": "outside", "cannot_be_judged": "nobody counted packets"},
    ]  # fmt: skip
    study(claims=promises, workload=BREAKABLE)

    def judged(command, *options):
        said = deadzone(command, "probe", "--json", "--fail-on", "contradicted", *options)
        assert said.out, said.err
        told = json.loads(said.out)
        return said.code, {one["name"]: one for one in told["claims"]}, told

    code, first, _ = judged("sweep")
    assert code == 0
    assert {name: one["verdict"] for name, one in first.items()} == {
        "best": "supported", "short": "supported", "no-worse": "supported",
        "outside": "not_measured",
    }  # fmt: skip
    monkeypatch.setenv("BROKEN", "1")
    code, second, told = judged("run", "-p", "further", '["wall_s at most 0.3 s at pause 0.8"]')
    assert code == 8
    assert {name: second[name]["verdict"] for name in ("best", "short", "no-worse")} == {
        "best": "contradicted", "short": "contradicted", "no-worse": "supported",
    }  # fmt: skip
    (page,) = Path(told["report"]).parent.glob("*/index.html")
    text = page.read_text(encoding="utf-8")
    assert "5 claims: 1 supported" in text and "3 contradicted" in text
