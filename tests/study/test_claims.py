import pytest
from pydantic import ValidationError

from deadzone.errors import StudyError
from deadzone.study.claim_sentences import parse_claim
from deadzone.study.claims import ClaimSpec, check_claims

LEVELS = {"threads": (1, 2, 4, 8), "cores": (2, 4)}


def claim(**form):
    return ClaimSpec.model_validate(form)


@pytest.mark.parametrize(
    ("form", "said"),
    [({}, "exactly one of better, same"),
     ({"best": {"threads": 4}, "nothing_to_gain_beyond": 4}, "has best and nothing_to_gain_beyond"),
     ({"best": {"threads": 4, "cores": 2}}, "one factor"),
     ({"not_worse": {"by_at_most": 0.1}}, "needs from and to"),
     ({"best": {"threads": 4}, "from": 4}, "needs from and to"),
     ({"best": {"threads": 4}, "at": {"cores": 2}}, "goes with holds"),
     ({"same": {"at": {"threads": 1}, "as": {"threads": 2}, "within": 3}}, "less than 1")],
)  # fmt: skip
def test_a_claim_has_one_form_and_what_belongs_to_it(form, said):
    with pytest.raises(ValidationError, match=said):
        claim(**form)


@pytest.mark.parametrize(
    ("form", "said"),
    [({"best": {"thread": 4}}, "no factor. Did you mean `threads`"),
     ({"best": {"threads": 5}}, "levels are 1, 2, 4, 8"),
     ({"nothing_to_gain_beyond": 4}, "say at which level, given: {cores: 2}"),
     ({"nothing_to_gain_beyond": 3, "given": {"cores": 2}}, "threads 3, which is not measured"),
     ({"holds": {"wal_s": {"at_most": 1}}, "at": {"threads": 4}},
      "nothing measures 'wal_s'. Did you mean `wall_s`"),
     ({"not_worse": {"by_at_most": 0.1}, "from": "before", "to": "after"},
      "no factor has the levels")],
)  # fmt: skip
def test_what_a_study_cannot_test_is_refused_with_the_nearest_name(form, said):
    with pytest.raises(StudyError) as refused:
        check_claims([claim(**form)], LEVELS, "threads", ["wall_s", "threads"])
    assert said in str(refused.value) and "claims[0]" in str(refused.value)


def test_two_claims_of_one_name_are_refused():
    two = [claim(name="x", best={"threads": level}, given={"cores": 2}) for level in (4, 8)]
    with pytest.raises(StudyError, match="several claims have the name 'x'"):
        check_claims(two, LEVELS, "threads")


@pytest.mark.parametrize(
    ("text", "form"),
    [("threads 4 at least 2x faster than threads 1",
      {"better": {"at": {"threads": 4}, "than": {"threads": 1}, "by_at_least": 2.0}}),
     ("threads 4 better than threads 1 given cores 2",
      {"better": {"at": {"threads": 4}, "than": {"threads": 1}}, "given": {"cores": 2}}),
     ("level 6 within 3 % of level 1",
      {"same": {"at": {"level": 6}, "as": {"level": 1}, "within": 0.03}}),
     ("threads 7 is best", {"best": {"threads": 7}}),
     ("threads 7 is best given cores  2, and level 1",
      {"best": {"threads": 7}, "given": {"cores": 2, "level": 1}}),
     ("Nothing to gain beyond threads 4.", {"nothing_to_gain_beyond": 4, "knob": "threads"}),
     ("threads 4 to 6 is a dead zone",
      {"phase": {"from": 4, "to": 6, "is": "dead_zone"}, "knob": "threads"}),
     ("threads 1 to 10 scales by at least 0.9",
      {"scaling": {"from": 1, "to": 10, "at_least": 0.9}, "knob": "threads"}),
     ("latency_p99_ms at most 20 ms", {"holds": {"latency_p99_ms": {"at_most": 20}}}),
     ("threads 6 to 8 is less work",
      {"why": {"from": 6, "to": 8, "is": "less_work"}, "knob": "threads"}),
     ("threads 6 to 8 is waiting for disk",
      {"why": {"from": 6, "to": 8, "is": "waiting_for_disk"}, "knob": "threads"}),
     ("latency_p99_ms at most 0.02 s at workers 8 and rate 600",
      {"holds": {"latency_p99_ms": {"at_most": 20}}, "at": {"workers": 8, "rate": 600}}),
     ("error_share no worse by 0.001 from before to after",
      {"not_worse": {"response": "error_share", "by_at_most": 0.001, "absolute": True},
       "from": "before", "to": "after"}),
     ("{best: {threads: 2}}", {"best": {"threads": 2}})],
)  # fmt: skip
def test_a_sentence_says_what_yaml_says(text, form):
    assert parse_claim(form) == claim(**form), "as a notebook gives it"
    parsed = parse_claim(text)
    assert parsed.model_copy(update={"says": ""}) == claim(**form)


@pytest.mark.parametrize(
    ("made", "said"),
    [*((of_a_notebook, "The claim") for of_a_notebook in (3, ["a"], None, {"best": 3})),
     ("it is fast", "cannot be read"),
     ("threads 4 is best given cores=2", "cannot be read"),
     ("wall_s at most 200 at threads 4", "of what"),
     ("wall_s at most 20 MiB at threads 4", "not measured in"),
     ("{best: {threads: 2}, worst: 3}", "worst"), ("{best: [", "the claim"),
     ("threads 4 within 3 % of threads 4", "with itself"),
     ("{not_worse: {by_at_most: 0.1}, from: 4, to: 4}", "with itself"),
     ("threads 8 to 4 is plateau", "lower level first")],
)  # fmt: skip
def test_what_is_no_claim_is_refused(made, said):
    with pytest.raises(StudyError, match=said):
        parse_claim(made)


def test_a_claim_of_another_knob_is_refused():
    made = [parse_claim("nothing to gain beyond connections 4")]
    with pytest.raises(StudyError, match="speaks of connections, and the knob is threads"):
        check_claims(made, {"threads": (1, 4), "connections": (4,)}, "threads")
