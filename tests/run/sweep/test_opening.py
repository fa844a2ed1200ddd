import pytest
import yaml

from deadzone.errors import StoreError
from deadzone.run.sweep.opening import open_run
from deadzone.store.command_lines import command_line


@pytest.mark.parametrize("latest", [True, False])
def test_resuming_needs_no_repeating_of_the_command_line(write_study, home, latest):
    first = open_run(str(write_study()), {"replicates": 4, "factors.threads": [1, 2, 8]})
    assert first.run.folder.parent == home / "data" / "runs" / "probe"
    assert first.plan.study.design.replicates == 4
    again = open_run("probe", resume="latest" if latest else first.run.run_id)
    assert (again.run.folder, again.plan.study) == (first.run.folder, first.plan.study)


def test_a_secret_of_the_command_line_is_not_kept_but_has_to_be_given_again(write_study):
    secret = {"workload.env.PROXY": "http://me:sesame@host/", "replicates": 4}
    run = open_run(str(write_study()), secret).run
    assert not any("sesame" in path.read_text() for path in run.folder.iterdir() if path.is_file())
    with pytest.raises(StoreError, match="changed since run"):
        open_run("probe", resume=run.run_id)
    again = open_run("probe", {"workload.env.PROXY": "http://me:sesame@host/"}, resume=run.run_id)
    assert again.plan.study.design.replicates == 4


def test_a_changed_command_line_is_a_changed_study(write_study):
    run = open_run(str(write_study()), {"replicates": 4}).run
    with pytest.raises(
        StoreError, match=r"(?s)changed since run.*-  replicates: 4.*\+  replicates: 5"
    ):
        open_run("probe", {"replicates": 5}, resume=run.run_id)


def test_a_study_edited_meanwhile_is_refused_with_the_difference(write_study):
    path = write_study()
    run = open_run(str(path)).run
    document = yaml.safe_load(path.read_text())
    document["factors"]["threads"] = [1, 2, 4]
    path.write_text(yaml.safe_dump(document))
    said = r"(?s)cannot be continued:.*\+    - 4.*Undo the change, or start a new run"
    with pytest.raises(StoreError, match=said):
        open_run(str(path), resume=run.run_id)


def test_the_run_of_another_study_is_refused(write_study):
    write_study()
    run = open_run("probe").run
    write_study("other")
    with pytest.raises(StoreError, match="is of the study probe, not of other"):
        open_run("other", resume=run.run_id)


def test_a_run_knows_what_its_study_is_called_on_the_command_line(write_study, home, tmp_path):
    inside = home / "elsewhere" / "mine.yaml"
    inside.parent.mkdir()
    inside.write_text(write_study().read_text())
    outside = tmp_path / "mine.yaml"
    outside.write_text(inside.read_text())
    for asked, name in (("probe", "probe"), (inside, "elsewhere/mine.yaml"), (outside, outside)):
        run = open_run(str(asked), {"replicates": 3}).run
        assert command_line(run) == f"deadzone run {name} -p replicates 3"


def test_a_run_whose_study_python_wrote_has_no_line(write_study):
    run = open_run(str(write_study())).run
    (run.folder / "study-name.txt").unlink()
    assert command_line(run) == ""
