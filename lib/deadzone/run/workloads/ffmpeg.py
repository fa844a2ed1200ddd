"""The ffmpeg workload: extract every frame of a video as a JPEG, as media services do on upload.

The video is drawn once by ffmpeg itself, and kept in a cache with its checksum.
"""

import math
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadzone.errors import SaidAs, WorkloadError
from deadzone.measurement import Command, Measurement
from deadzone.places import cache_folder
from deadzone.run.workloads.base import SHOWN, Outcome, Place, Workload, program_files, sha256_of
from deadzone.store.programs import answer_of, program_version
from deadzone.study.levels import AUTO, NONE, Level, format_level
from deadzone.study.workload_spec import ClipSpec
from deadzone.study.workload_specs import FfmpegWorkloadSpec

GENERATION_TIMEOUT_S = 1800.0

COLOURS = "nb_colors=4:c0=navy:c1=orange:c2=teal:c3=purple"
"""Named, for the colours ffmpeg would choose differ from drawing to drawing, whatever the seed."""

TOLD = "-loglevel error -nostats -progress pipe:1"
"""What has been done is told on standard output, errors on the other, and nothing else."""

ENCODED = (
    "-c:v libx264 -profile:v high -preset medium -crf 23 -g 60 "
    "-threads 2 -fflags +bitexact -flags:v +bitexact"
)
"""The same to the bit on every machine."""

RECIPE = "2"
"""Number of the drawing below; a change of the drawing is another clip, with another name in the
cache."""


@dataclass(frozen=True)
class Clip:
    """A video file with what a trial is checked against."""

    path: Path
    sha256: str
    frames: int
    duration_s: float

    def facts(self) -> dict[str, Any]:
        """What it is, for the provenance."""
        return {
            "clip": self.path.name,
            "clip_sha256": self.sha256,
            "clip_frames": self.frames,
            "clip_duration_s": self.duration_s,
        }


def generated_clip(ffmpeg: str, spec: ClipSpec) -> Clip:
    """The clip of a specification, from the cache or drawn now.

    Raises WorkloadError if ffmpeg cannot draw it or the cache cannot be written.
    """
    rate = f"{spec.frames_per_second:g}"
    name = f"clip-{RECIPE}-{spec.width}x{spec.height}-{rate}fps-{spec.duration_s:g}s.mp4"
    path = cache_folder() / name
    note = path.with_suffix(".sha256")
    with SaidAs(
        WorkloadError,
        f"{path.parent}: cannot keep the clip here",
        "Make room, or set XDG_CACHE_HOME.",
    ):
        if not (path.is_file() and note.is_file() and note.read_text().strip() == sha256_of(path)):
            _draw(ffmpeg, spec, path)
            note.write_text(sha256_of(path) + "\n")
    frames = math.ceil(round(spec.duration_s * spec.frames_per_second, 6))
    return Clip(path, sha256_of(path), frames, frames / spec.frames_per_second)


def _draw(ffmpeg: str, spec: ClipSpec, path: Path) -> None:
    """Moving test pattern under a drifting plasma with grain: motion and noise make decoding cost
    something."""
    size, rate = f"{spec.width}x{spec.height}", f"{spec.frames_per_second:g}"
    source = f"size={size}:rate={rate}:duration={spec.duration_s:g}"
    graph = (
        f"testsrc2={source}[pattern];gradients={source}:speed=0.05:seed=1:{COLOURS}[plasma];"
        "[pattern][plasma]blend=all_mode=average,noise=alls=5:allf=t:all_seed=1,format=yuv420p[video]"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        draft = Path(folder) / path.name
        drawn = (ffmpeg, "-loglevel", "error", "-y", "-filter_complex", graph, "-map", "[video]")
        answer = answer_of((*drawn, *ENCODED.split(), str(draft)), GENERATION_TIMEOUT_S)
        if answer.returncode:
            raise WorkloadError(f"ffmpeg cannot draw the clip: {answer.stderr.strip()[-500:]}")
        draft.replace(path)


BUNDLED = "bundled"


class FfmpegWorkload(Workload):
    """Decode, scale and write one JPEG a frame; the frame count decides whether a trial succeeded.

    The full range of a JPEG is asked for (`out_range=pc`): ffmpeg 7.0 refuses to choose it by
    itself.
    """

    responses: tuple[str, ...] = ("frames", "fps", "speed_x")

    def __init__(self, spec: FfmpegWorkloadSpec, *_: Any) -> None:
        """_: the study's folder and its levels, which others need."""
        self._spec = spec
        self._ffmpeg = ""
        self._place = Place()

    def move_to(self, place: Place) -> bool:
        """Decode at another place: the clip is brought there, and its image has the ffmpeg."""
        self._place = place
        return True

    def uses(self, factor: str) -> bool:
        """ffmpeg takes the number of threads."""
        return factor == "threads"

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Find ffmpeg, and draw the clip."""
        here = find_ffmpeg(self._spec.program if self._place.is_here else BUNDLED)
        # on the PATH of an image
        inside = "ffmpeg" if self._spec.program == BUNDLED else self._spec.program
        self._ffmpeg = here if self._place.is_here else inside
        self._clip = generated_clip(here, self._spec.clip)
        return {
            "program": "ffmpeg",
            "program_version": program_version((here, "-version")) if self._place.is_here else None,
            **self._clip.facts(),
        }

    def identity(self) -> dict[str, str]:
        """Its video, and the ffmpeg that is here."""
        here = program_files([(self._ffmpeg,)]) if self._place.is_here else {}
        return {"video": self._clip.sha256[:SHOWN], **here}

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Empty the folder of frames and build the command; without threads, none or auto, ffmpeg
        decides."""
        frames = self._place.fresh_folder(scratch / "frames")
        clip = self._place.provide(self._clip.path, self._clip.sha256)
        threads = levels.get("threads", AUTO)
        chosen = () if threads in (AUTO, NONE) else ("-threads", format_level(threads))
        scaling = f"[0]scale={self._spec.scale}:out_range=pc[s0]"
        written = (*f"-q:v {self._spec.quality} -fps_mode vfr -pix_fmt yuv420p".split(), "-y")
        return Command(
            (
                *(self._ffmpeg, *TOLD.split(), *chosen, "-i", str(clip)),
                *("-filter_complex", scaling, "-map", "[s0]"),
                *(*written, str(frames / "frame_%06d.jpg")),
            )
        )

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """Frames written, as ffmpeg reports them, and how fast; too few frames are a failure,
        whatever the exit code."""
        told = re.findall(r"^frame=\s*(\d+)", measurement.stdout, re.MULTILINE)
        written = int(told[-1]) if told else 0
        responses = {
            "frames": float(written),
            "fps": written / measurement.wall_s,
            "speed_x": self._clip.duration_s / measurement.wall_s,
        }
        if measurement.exit_code:
            return Outcome(responses, f"exit code {measurement.exit_code}")
        if written < self._clip.frames:
            return Outcome(
                responses,
                f"too few frames: {written} frames written, {self._clip.frames} expected",
            )
        return Outcome(responses)


def find_ffmpeg(program: str) -> str:
    """Path of the ffmpeg to use: the one the wheel brings, or a program of the system.

    Raises WorkloadError if there is none.
    """
    if program != BUNDLED:
        path = shutil.which(program)
        if not path:
            raise WorkloadError(
                f"workload.program: {program!r} is not installed here; use {BUNDLED}, or install "
                f"it."
            )
        return path
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise WorkloadError(
            "The wheel imageio-ffmpeg brings no ffmpeg for this system; name one in the study."
        ) from error
