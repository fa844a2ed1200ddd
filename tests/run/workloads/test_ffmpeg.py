import os
import subprocess
from pathlib import Path

import pytest

from deadzone.errors import WorkloadError
from deadzone.places import cache_folder
from deadzone.run.workloads.ffmpeg import FfmpegWorkload as Workload
from deadzone.run.workloads.ffmpeg import find_ffmpeg, generated_clip, sha256_of
from deadzone.study.workload_spec import ClipSpec
from deadzone.study.workload_specs import FfmpegWorkloadSpec

CLIP = {"duration_s": 1, "width": 160, "height": 90}


@pytest.fixture
def workload(tmp_path):
    """The workload, ready, with its scratch folder."""

    def ready(**keys):
        keys = {"clip": ClipSpec(**CLIP), "scale": "320:180", **keys}
        made = Workload(FfmpegWorkloadSpec(**keys))
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        return made, scratch, made.prepare_sweep(scratch)

    return ready


def test_every_frame_is_written_and_counted_and_the_clip_recorded(workload, execute):
    made, scratch, facts = workload()
    assert facts["program_version"].startswith("ffmpeg version")
    assert len(facts["clip_sha256"]) == 64
    measured = execute(*made.prepare_trial({"threads": 1}, scratch).argv)
    outcome = made.outcome(measured, scratch)
    assert outcome.failure is None
    assert (*outcome.responses,) == made.responses
    assert outcome.responses["frames"] == facts["clip_frames"] == 30
    assert outcome.responses["fps"] == pytest.approx(30 / measured.wall_s)
    assert outcome.responses["speed_x"] == pytest.approx(facts["clip_duration_s"] / measured.wall_s)
    frames = sorted((scratch / "frames").iterdir())
    assert frames[0].name == "frame_000001.jpg"
    assert frames[0].read_bytes()[:3] == b"\xff\xd8\xff", "it is a JPEG"
    made.prepare_trial({}, scratch)
    assert not [*(scratch / "frames").iterdir()], "the next trial counts its own"


def test_the_command_is_the_sources_and_takes_threads_alone(workload):
    made, scratch, _ = workload()
    argv = list(made.prepare_trial({"threads": 4}, scratch).argv)
    assert argv[argv.index("-threads") + 1] == "4"
    assert argv[argv.index("-filter_complex") + 1] == "[0]scale=320:180:out_range=pc[s0]"
    assert argv[argv.index("-q:v") + 1] == "2"
    assert FfmpegWorkloadSpec().scale == "1280:720"
    assert made.uses("threads") and not made.uses("colour")


@pytest.mark.parametrize("levels", [{}, {"threads": "auto"}, {"threads": "none"}])
def test_without_threads_ffmpeg_decides(workload, levels):
    made, scratch, _ = workload()
    assert "-threads" not in made.prepare_trial(levels, scratch).argv


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


def test_a_program_that_is_not_there_is_told():
    with pytest.raises(
        WorkloadError, match="'ffmpeg-9' is not installed here; use bundled, or install it"
    ):
        find_ffmpeg("ffmpeg-9")
    assert Path(find_ffmpeg("bundled")).is_file()


SMALL = ClipSpec(**CLIP)


@pytest.fixture(scope="module")
def ffmpeg():
    return find_ffmpeg("bundled")


@pytest.fixture
def clip(ffmpeg):
    return generated_clip(ffmpeg, SMALL)


def test_the_clip_is_what_its_specification_says(ffmpeg, clip):
    assert clip.frames == 30  # 29.97 a second, for one second
    assert clip.duration_s == pytest.approx(1, abs=0.05)
    said = subprocess.run(
        (ffmpeg, "-i", clip.path), capture_output=True, text=True, check=False
    ).stderr
    assert "h264 (High)" in said
    assert "160x90" in said
    assert "29.97 fps" in said
    # of a still picture a frame would take a few hundred bytes: motion and noise cost something
    assert clip.path.stat().st_size / clip.frames > 500


def test_a_frame_more_than_it_has_is_not_expected(ffmpeg):
    spec = SMALL.model_copy(update={"duration_s": 2.2, "frames_per_second": 25})
    assert generated_clip(ffmpeg, spec).frames == 55  # 2.2 * 25 is 55.00000000000001


def test_it_is_drawn_once_and_its_checksum_kept(ffmpeg, clip):
    drawn = clip.path.stat().st_mtime_ns
    again = generated_clip(ffmpeg, SMALL)
    assert again == clip
    assert clip.path.stat().st_mtime_ns == drawn
    assert clip.sha256 == sha256_of(clip.path)
    assert clip.path.is_relative_to(cache_folder())


def test_drawn_anew_it_is_the_same_to_the_bit(ffmpeg, clip):
    os.truncate(clip.path, 100)  # damaged in the cache
    assert generated_clip(ffmpeg, SMALL).sha256 == clip.sha256


def test_another_size_is_another_clip(ffmpeg, clip):
    wide = generated_clip(ffmpeg, SMALL.model_copy(update={"width": 320}))
    assert wide.path != clip.path
    assert wide.sha256 != clip.sha256


def test_a_cache_that_cannot_be_written_is_told_with_the_remedy(ffmpeg, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(WorkloadError, match=r"cannot keep the clip here: .*set XDG_CACHE_HOME"):
        generated_clip(ffmpeg, SMALL)
