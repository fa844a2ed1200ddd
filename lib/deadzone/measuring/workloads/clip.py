"""The video that ffmpeg studies decode: drawn once by ffmpeg itself, kept in a cache with its checksum."""

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from deadzone.errors import SaidAs, WorkloadError
from deadzone.places import cache_folder
from deadzone.store.programs import answer_of
from deadzone.study.media_specs import ClipSpec

GENERATION_TIMEOUT_S = 1800.0

COLOURS = "nb_colors=4:c0=navy:c1=orange:c2=teal:c3=purple"
"""Named, for the colours ffmpeg would choose differ from drawing to drawing, whatever the seed."""

RECIPE = "2"
"""Number of the drawing below; a change of the drawing is another clip, with another name in the cache."""


@dataclass(frozen=True)
class Clip:
    """A video file with what a trial is checked against."""

    path: Path
    sha256: str
    frames: int
    duration_s: float


def generated_clip(ffmpeg: str, spec: ClipSpec) -> Clip:
    """The clip of a specification, from the cache or drawn now.

    Raises WorkloadError if ffmpeg cannot draw it or the cache cannot be written.
    """
    rate = f"{spec.frames_per_second:g}"
    name = f"clip-{RECIPE}-{spec.width}x{spec.height}-{rate}fps-{spec.duration_s:g}s.mp4"
    path = cache_folder() / name
    note = path.with_suffix(".sha256")
    with SaidAs(
        WorkloadError, f"{path.parent}: cannot keep the clip here", "Make room, or set XDG_CACHE_HOME."
    ):
        if not (path.is_file() and note.is_file() and note.read_text().strip() == sha256_of(path)):
            _draw(ffmpeg, spec, path)
            note.write_text(sha256_of(path) + "\n")
    return inspected_clip(ffmpeg, path)


def inspected_clip(ffmpeg: str, path: Path) -> Clip:
    """Count the frames of a video by decoding it once.

    Raises WorkloadError if the file is missing or no video.
    """
    if not path.is_file():
        raise WorkloadError(f"{path}: there is no such video.")
    argv = (ffmpeg, "-loglevel", "error", "-nostats", "-progress", "pipe:1", "-i", str(path), "-map", "0:v:0")
    said = _run((*argv, "-fps_mode", "passthrough", "-f", "null", "-"), f"{path}: ffmpeg cannot decode it")
    progress = last_progress(said)
    frames = int(progress.get("frame", "0"))
    if not frames:
        raise WorkloadError(f"{path}: ffmpeg found no frames in it.")
    return Clip(path, sha256_of(path), frames, int(progress.get("out_time_us", "0")) / 1e6)


def last_progress(text: str) -> dict[str, str]:
    """The last values of ffmpeg's -progress output, by key."""
    return {key: value.strip() for key, _, value in (line.partition("=") for line in text.splitlines())}


def sha256_of(path: Path) -> str:
    """Checksum of a file, in hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _draw(ffmpeg: str, spec: ClipSpec, path: Path) -> None:
    """Moving test pattern under a drifting plasma with grain: motion and noise make decoding cost something."""
    size, rate, length = f"{spec.width}x{spec.height}", f"{spec.frames_per_second:g}", f"{spec.duration_s:g}"
    graph = (
        f"testsrc2=size={size}:rate={rate}:duration={length}[pattern];"
        f"gradients=size={size}:rate={rate}:duration={length}:speed=0.05:seed=1:{COLOURS}[plasma];"
        "[pattern][plasma]blend=all_mode=average,noise=alls=5:allf=t:all_seed=1,format=yuv420p[video]"
    )
    encoder = [
        "-c:v",
        "libx264",
        "-profile:v",
        "high",
        "-preset",
        "medium",
        "-crf",
        "23",
        "-g",
        "60",
        "-threads",
        "2",
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        draft = Path(folder) / path.name
        argv = (ffmpeg, "-loglevel", "error", "-y", "-filter_complex", graph, "-map", "[video]", *encoder)
        _run(
            (*argv, "-fflags", "+bitexact", "-flags:v", "+bitexact", str(draft)),
            "ffmpeg cannot draw the clip",
        )
        draft.replace(path)


def _run(argv: tuple[str, ...], failure: str) -> str:
    answer = answer_of(argv, GENERATION_TIMEOUT_S)
    if answer.returncode:
        raise WorkloadError(f"{failure}: {answer.stderr.strip()[-500:]}")
    return answer.stdout
