"""What the system's refusals mean for a disk study, in words with a remedy."""

from __future__ import annotations

import errno

WORDS = {
    errno.ENOSPC: "no space is left on the disk; make room, or lower workload.file_size",
    errno.EDQUOT: "the disk quota of this user is used up; lower workload.file_size, or ask for more",
    errno.EFBIG: "the file would be larger than the system allows here (ulimit -f, or the file system's own limit); lower workload.file_size",
    errno.EROFS: "the file system is mounted read-only; name another folder, or mount it for writing",
    errno.EACCES: "this user may not write there; name another folder, or change its owner",
    errno.EPERM: "this user may not write there; name another folder, or change its owner",
    errno.EINVAL: "the system refuses the call: with O_DIRECT the block size must be a multiple of the device's logical block, and the file system must permit it",
    errno.EIO: "the device reports an error; look at the kernel's log (dmesg)",
    errno.ENOENT: "the file is gone; something removed it during the run",
}
"""By the system's number of an error."""


def in_words(number: int | None, otherwise: str) -> str:
    """An error of the system with what to do about it; the system's own words where it is none of these."""
    return WORDS.get(number or 0, otherwise)
