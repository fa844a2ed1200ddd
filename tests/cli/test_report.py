import pytest


@pytest.mark.parametrize("name", ["latest", "probe/latest", "20260101T000000Z-aaaa"])
def test_a_run_that_is_not_there_is_told(home, deadzone, name):
    said = deadzone("report", name)
    assert said.code == 2
    assert f"There is no run {name!r}" in said.err
