from deadzone.report.sweep.claims import ClaimVerdict, claims_table

JUDGED = (
    ClaimVerdict("good", "It scales", "It does", "supported"),
    ClaimVerdict("half", "It always scales", "Up to four", "partly"),
    ClaimVerdict("open", "It is the cache", "Nothing was measured", "undecided"),
    ClaimVerdict("bad", "It is twice as fast", "It is slower", "contradicted"),
)


def test_a_row_sets_claim_verdict_and_finding_side_by_side():
    table = claims_table(JUDGED)
    assert table.rows[1] == ["It always scales", "in part", "Up to four"]
    assert table.row_ids == ["good", "half", "open", "bad"]
    assert table.caption == (
        "4 claims: 1 supported, 1 in part, 1 not shown, 1 contradicted, 0 not measured; with 95 % "
        "confidence, not one of these verdicts is wrong."
    )
