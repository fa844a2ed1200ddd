"""The ffmpeg workload: every frame of a clip as a JPEG, counted."""

from pathlib import Path

import pytest

from deadzone.errors import WorkloadError
from deadzone.run.workloads.ffmpeg import FfmpegWorkload as Workload
from deadzone.run.workloads.ffmpeg import find_ffmpeg
from deadzone.study.workload_spec import ClipSpec
from deadzone.study.workload_specs import FfmpegWorkloadSpec

CLIP = {"duration_s": 1, "width": 160, "height": 90}


@pytest.fixture
def workload(tmp_path):
    """The workload, ready, with its scratch folder."""

    def ready(**keys):
        made = Workload(
            FfmpegWorkloadSpec(**{"clip": ClipSpec(**CLIP), "scale": "320:180", **keys})
        )
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        return made, scratch, made.prepare_sweep(scratch)

    return ready


def test_every_frame_is_written_and_counted(workload, execute):
    made, scratch, facts = workload()
    measured = execute(*made.prepare_trial({"threads": 1}, scratch).argv)
    outcome = made.outcome(measured, scratch)
    assert outcome.failure is None
    assert outcome.responses["frames"] == facts["clip_frames"] == 30
    assert outcome.responses["fps"] == pytest.approx(30 / measured.wall_s)
    assert outcome.responses["speed_x"] == pytest.approx(facts["clip_duration_s"] / measured.wall_s)
    frames = sorted((scratch / "frames").iterdir())
    assert frames[0].name == "frame_000001.jpg"
    assert frames[0].read_bytes()[:3] == b"\xff\xd8\xff", "it is a JPEG"


def test_the_command_is_the_sources(workload):
    made, scratch, _ = workload()
    argv = list(made.prepare_trial({"threads": 4}, scratch).argv)
    assert argv[argv.index("-threads") + 1] == "4"
    assert argv[argv.index("-filter_complex") + 1] == "[0]scale=320:180:out_range=pc[s0]"
    assert argv[argv.index("-q:v") + 1] == "2"
    assert FfmpegWorkloadSpec().scale == "1280:720"


@pytest.mark.parametrize("levels", [{}, {"threads": "auto"}, {"threads": "none"}])
def test_without_threads_ffmpeg_decides(workload, levels):
    made, scratch, _ = workload()
    assert "-threads" not in made.prepare_trial(levels, scratch).argv


def test_frames_of_the_trial_before_are_not_counted(workload, execute):
    made, scratch, _ = workload()
    execute(*made.prepare_trial({}, scratch).argv)
    made.prepare_trial({}, scratch)
    assert list((scratch / "frames").iterdir()) == []


def test_too_few_frames_are_a_failure_whatever_the_exit_code(workload, execute):
    made, scratch, _ = workload()
    argv = list(made.prepare_trial({}, scratch).argv)
    argv[argv.index("-q:v") : argv.index("-q:v")] = ["-frames:v", "7"]
    measured = execute(*argv)
    assert measured.exit_code == 0
    outcome = made.outcome(measured, scratch)
    assert outcome.failure == "too few frames: 7 frames written, 30 expected"


def test_a_failing_ffmpeg_is_a_failure_with_its_code(workload, execute):
    made, scratch, _ = workload()
    argv = list(made.prepare_trial({}, scratch).argv)
    argv[argv.index("-i") + 1] = "no-such-video.mp4"
    assert "exit code" in made.outcome(execute(*argv), scratch).failure


def test_the_clip_and_the_program_are_recorded(workload):
    facts = workload()[2]
    assert facts["program_version"].startswith("ffmpeg version")
    assert len(facts["clip_sha256"]) == 64


def test_only_threads_reach_ffmpeg(workload):
    made, _, _ = workload()
    assert made.uses("threads")
    assert not made.uses("colour")


def test_a_program_that_is_not_there_is_told():
    with pytest.raises(
        WorkloadError, match="'ffmpeg-9' is not installed here; use bundled, or install it"
    ):
        find_ffmpeg("ffmpeg-9")
    assert Path(find_ffmpeg("bundled")).is_file()
