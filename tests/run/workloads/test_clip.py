"""The clip: drawn once by ffmpeg itself, the same every time, checked before it is used."""

import os
import subprocess

import pytest

from deadzone.errors import WorkloadError
from deadzone.places import cache_folder
from deadzone.run.workloads.ffmpeg import (
    find_ffmpeg,
    generated_clip,
    sha256_of,
)
from deadzone.study.workload_spec import ClipSpec

SMALL = ClipSpec(duration_s=1, width=160, height=90)


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


def test_it_has_motion_and_noise_enough_to_cost_something(clip):
    """A still picture of this size would take a few hundred bytes a frame."""
    assert clip.path.stat().st_size / clip.frames > 500


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
