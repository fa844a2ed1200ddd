import os
import subprocess
import sys

import pytest
from needs import needs
from report.made_runs import new_repository, write_run

from deadzone.store.reference import reference_folder

TABLE = reference_folder() / "ffmpeg-threads" / "limit-equals-threads.csv"
HIDDEN = 'mount -t tmpfs none /proc && mount -t tmpfs none /sys && exec "$@"'


@pytest.fixture
def hidden():
    """Run the command where /proc and /sys are empty; takes root."""
    if os.geteuid() != 0:
        pytest.skip("only root can hide /proc: run the tests as root")

    def run(*arguments, home=None):
        argv = (
            needs("unshare"), "--mount", "sh", "-c", HIDDEN, "sh", sys.executable, "-m",
            "deadzone.cli.main", *arguments,
        )  # fmt: skip
        more = {"DEADZONE_HOME": str(home)} if home else {}
        env = {**os.environ, **more}
        said = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
        assert "Traceback" not in said.stderr, said.stderr
        return said

    return run


@pytest.mark.night
def test_tables_are_fitted_and_compared(hidden):
    fitted = hidden("fit", str(TABLE), "--knob", "cpu_limit", "--response", "wall_s", "--json")
    assert fitted.returncode == 0 and '"recommendation"' in fitted.stdout
    assert hidden("compare", str(TABLE), str(TABLE), "--response", "wall_s").returncode == 0


@pytest.mark.night
def test_a_stored_run_is_reported(hidden, tmp_path):
    home = new_repository(tmp_path / "repository")
    run = write_run(home)
    said = hidden("report", str(run.folder), home=home)
    assert said.returncode == 0, said.stderr
    assert list((home / "reports").glob("*/*/report.pdf"))


def test_the_doctor_and_what_measures_say_that_nothing_can_be_measured(hidden, tmp_path):
    said = hidden("doctor")
    assert said.returncode == 4
    assert "needs Linux with /proc mounted" in said.stdout
    said = hidden("try", "-L", "n", "1,2", "--", "true", "{n}", home=tmp_path)
    assert said.returncode == 4
    assert "needs Linux with /proc mounted" in said.stderr.splitlines()[-1]
