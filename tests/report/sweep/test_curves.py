import pytest

from deadzone import fit_phases
from deadzone.report.sweep.tables import phases_table, phases_text
from deadzone.store.reference import load_reference


@pytest.fixture(scope="module")
def model():
    return fit_phases(
        load_reference("ffmpeg-threads", "limit-equals-threads"), "cpu_limit", "wall_s"
    )


def test_phases_are_told_in_a_line(model):
    assert phases_text(model).startswith("linear 1-4, dead zone 4-6")


def test_phases_can_be_pointed_to(model):
    table = phases_table(model)
    assert table.row_ids == ["1", "2", "3", "4", "5"]
    assert table.rows[1][:2] == ["4 to 6", "dead zone"]
