import pytest

from deadzone import fit_phases
from deadzone.analysis.phases.summary import phase_rows
from deadzone.report.sweep.tables import phases_table, phases_text
from deadzone.store.reference import load_reference


def table(blocks, identity):
    return next(block for block in blocks if getattr(block, "id", "") == identity)


def test_the_gain_of_a_phase_is_relative_to_where_it_starts(sound):
    linear, plateau = phase_rows(sound.analysis.slices[0].model)
    assert linear["gain"] == pytest.approx(1 - 0.25 / 2, abs=0.02)
    assert plateau["gain"] == pytest.approx(0, abs=0.04)


def test_failures_of_a_kind_are_one_row_with_the_numbers_of_the_trials(analysed):
    def change(line):
        if line["levels"]["cpu_limit"] != 1.5:
            return line
        return {**line, "status": "failed", "error": "boom" if line["block"] < 4 else "bang"}

    failures = table(analysed(change).exceptions(), "failures")
    rows = [["1.5", "3", "failed", "boom", "4, 12 and 20"], ["1.5", "1", "failed", "bang", "28"]]
    assert failures.rows == rows


def test_disturbed_attempts_alike_are_one_row(analysed):
    def change(line):
        disturbed = {"trusted": False, "distrust_reason": "noise"}
        return {**line, **(disturbed if line["block"] % 8 else {})}

    untrusted = table(analysed(change, replicates=8).exceptions(), "untrusted")
    assert len(untrusted.rows) == 8 and untrusted.rows[0][1:4] == ["7", "ok", "noise"]
    assert untrusted.caption.startswith("56 attempts were disturbed")


@pytest.fixture(scope="module")
def model():
    table = load_reference("ffmpeg-threads", "limit-equals-threads")
    return fit_phases(table, "cpu_limit", "wall_s")


def test_phases_are_told_in_a_line(model):
    assert phases_text(model).startswith("linear 1-4, dead zone 4-6")


def test_phases_can_be_pointed_to(model):
    table = phases_table(model)
    assert table.row_ids == ["1", "2", "3", "4", "5"]
    assert table.rows[1][:2] == ["4 to 6", "dead zone"]
