import pytest
from analysis.mechanisms.test_explaining import explained, table

from deadzone import fit_phases
from deadzone.analysis.mechanisms.wording import limits
from deadzone.language.messages import speaking
from deadzone.report.figures.curves import phases_table, phases_text
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


def test_a_phase_that_is_explained_says_what_limits_it():
    why, model = explained(table(cpu=(8, 8, 9, 12), busy=(1, 2, 3, 4), asleep=0.5))
    plain, told = phases_table(model).frame, phases_table(model, why).frame
    assert told.columns[-1] == "what limits" and "what limits" not in plain
    assert told["what limits"].tolist() == [limits(why, i) for i in range(len(model.phases))]
    assert all(told["what limits"])
    with speaking("ko"):
        assert phases_table(model, why).frame.columns[-1] == "제한하는 것"
