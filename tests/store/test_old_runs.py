import shutil
from pathlib import Path

import pytest

import deadzone as dz
from deadzone.errors import PhaseError
from deadzone.report.sweep.report import HEADINGS

RUNS = Path(__file__).resolve().parents[1] / "data" / "runs-0.1.0"

PHASES = {
    "workers-local": [(1, 4, "linear"), (4, 16, "plateau")],
    "workers-adaptive": [(1, 3, "linear"), (3, 32, "plateau")],
    "pod-job": [(0.1, 0.2, "linear"), (0.2, 0.8, "plateau")],
}
"""What 0.1.0 measured: at most four workers compute at once; a job of 0.1 s waits for a second."""


@pytest.fixture
def runs(home, notebooks):
    shutil.copytree(RUNS, home / "data" / "runs")


@pytest.mark.parametrize("name", PHASES)
def test_a_run_of_0_1_0_is_loaded_fitted_and_reported(name, runs):
    run = dz.load_run(f"{name}/latest")
    assert run.provenance["packages"]["deadzone"] == "0.1.0"
    assert set(run.study.factors) <= set(run.trials.columns)
    with pytest.raises(PhaseError, match="levels have a trial that can be trusted"):
        _ = run.model
    model = dz.fit_phases(run.trials, run.study.knob_name, run.study.response.name)
    fitted = model.phases[["start", "stop", "label"]].itertuples(index=False, name=None)
    assert list(fitted) == PHASES[name] and model.recommend(anyway=True).setting is not None
    report = run.report()
    assert report.face() and report.provenance()
    sections = [report.section(part) for part in HEADINGS]
    assert any(sections)


@pytest.mark.night
@pytest.mark.parametrize("name", PHASES)
def test_a_run_of_0_1_0_is_published(name, runs):
    run = dz.load_run(f"{name}/latest")
    published = dz.publish(run)
    assert published.pdf.read_bytes().startswith(b"%PDF")
    assert (run.study.title or run.study.study) in published.page.read_text()


def test_they_stand_in_the_list_of_runs(runs):
    listed = dz.runs()
    assert {name.split("/")[0] for name in listed["run"]} == set(PHASES)
    assert (listed["trials"] > 0).all()
