import pytest

from deadzone.analysis.claims.judging import ClaimTest, verdicts


def test_holm_steps_down_over_all_claims_of_a_study():
    """By hand: doubled p-values 0.02, 0.03, 0.2 times 3, 2, 1 are 0.06, 0.06 (monotone), 0.2; alone
    0.02 decides."""
    family = [ClaimTest(0.01, 0.99), ClaimTest(0.985, 0.015), ClaimTest(0.1, 0.9)]
    assert [verdict for verdict, _ in verdicts(family)] == ["undecided"] * 3
    assert verdicts(family[:1]) == [("supported", pytest.approx(0.98))]
    sure = verdicts([ClaimTest(1e-6, 1.0), ClaimTest(1.0, 1e-6)])
    assert [verdict for verdict, _ in sure] == ["supported", "contradicted"]


def test_what_was_not_tested_takes_no_share_of_the_error():
    assert verdicts([ClaimTest(0.01, 0.99), ClaimTest(reason="not measured")])[0][0] == "supported"


def test_a_weaker_form_is_said_only_where_the_claim_is_neither_shown_nor_refuted():
    assert verdicts([ClaimTest(0.4, 0.6, 0.001)])[0][0] == "partly"
    assert verdicts([ClaimTest(0.001, 0.9, 0.001)])[0][0] == "supported"
