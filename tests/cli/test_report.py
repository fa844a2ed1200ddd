import pytest


@pytest.mark.parametrize("command", ["report", "recommend", "export"])
def test_a_run_that_is_not_there_is_told(home, deadzone, command):
    assert "There is no run 'probe/latest'" in deadzone(command, "probe/latest", code=2).err
