"""Reading a profile from a file, whatever its format: pprof protobuf or folded stacks, gzip or plain."""

import re
import zlib
from pathlib import Path

from deadzone.errors import ProfileError, did_you_mean
from deadzone.explaining.profiles.folded import parse_folded
from deadzone.explaining.profiles.model import Profile
from deadzone.explaining.profiles.pprof import parse_pprof

GZIP = b"\x1f\x8b"
GZIP_WINDOW = 31
"""zlib's number for "a gzip header, and the largest window"."""

MOST_BYTES = 1 << 30
"""Larger than this uncompressed a file is refused: no profiler writes it, and it would not fit in memory."""

TEXT_FORM = re.compile(
    rb"\s*(heap profile: |goroutine profile: |--- (mutex|contention|threadcreate|cpu|block)|threadcreate profile: )"
)
"""How net/http/pprof begins its pages for people."""

CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Bytes that no text has; the head of every protobuf profile has some."""

HEAD_BYTES = 1 << 16

OTHER_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"\x7fELF", "a program"),
    (b"\x89PNG", "a PNG image"),
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ", "compressed with xz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"PERFILE2", "raw data of perf; run `perf script | stackcollapse-perf.pl` on it"),
    (b'{"', "JSON"),
    (b"<!", "a page of HTML"),
    (b"<html", "a page of HTML"),
    (b"<?xml", "XML"),
    (b"go 1.", "an execution trace of Go; `go tool trace -pprof=sync` makes profiles of it"),
)
"""How files begin that are taken for profiles by mistake."""

EXPECTED = "a profile is pprof's protobuf (gzip or plain) or folded stacks (`a;b;c 42`)"


def read_profile(path: Path) -> Profile:
    """The profile in a file.

    Raises ProfileError if the file is missing, unreadable, damaged or of another kind.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = "" if path.exists() else did_you_mean(path.name, near)
        raise ProfileError(f"{path}: cannot be read: {error.strerror}.{hint}") from error
    return parse_profile(content, str(path))


def parse_profile(content: bytes, source: str = "profile") -> Profile:
    """The profile in the bytes of a file. source: what messages call it.

    Raises ProfileError if they are damaged or of another kind.
    """
    if not content:
        raise ProfileError(f"{source}: the file is empty.")
    plain = _unzipped(content, source) if content.startswith(GZIP) else content
    if not plain:
        raise ProfileError(f"{source}: the gzip file holds nothing.")
    _refuse_other_kinds(plain, source)
    text = _as_text(plain)
    return parse_pprof(plain, source) if text is None else parse_folded(text, source)


def _unzipped(content: bytes, source: str) -> bytes:
    """The content of a gzip file, of one member or several."""
    parts, rest, size = [], content, 0
    while rest.startswith(GZIP):
        stream = zlib.decompressobj(GZIP_WINDOW)
        try:
            parts.append(stream.decompress(rest, max(MOST_BYTES - size, 1)))
        except zlib.error as error:
            raise ProfileError(f"{source}: the gzip file is corrupt ({error}); fetch it again.") from error
        size += len(parts[-1])
        if stream.unconsumed_tail:
            raise ProfileError(f"{source}: it is over {MOST_BYTES >> 20} MB uncompressed, no profile is.")
        if not stream.eof:
            raise ProfileError(f"{source}: the gzip file is truncated; fetch it again, to its end.")
        rest = stream.unused_data
    return b"".join(parts)


def _refuse_other_kinds(content: bytes, source: str) -> None:
    if TEXT_FORM.match(content):
        raise ProfileError(
            f"{source}: this is the profile as a page for people; fetch it without `debug=1` or `debug=2`."
        )
    for beginning, kind in OTHER_KINDS:
        if content.startswith(beginning):
            raise ProfileError(f"{source}: this is {kind}; {EXPECTED}.")


def _as_text(content: bytes) -> str | None:
    """The content as text, or None if it is none."""
    if CONTROL.search(content[:HEAD_BYTES]):
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
