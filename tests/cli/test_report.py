import pytest


@pytest.mark.parametrize("command", ["report", "recommend"])
@pytest.mark.parametrize("name", ["latest", "probe/latest", "20260101T000000Z-aaaa"])
def test_a_run_that_is_not_there_is_told(home, deadzone, command, name):
    assert f"There is no run {name!r}" in deadzone(command, name, code=2).err
