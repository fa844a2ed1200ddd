"""Asking another program something: what it answers, or why it does not. A failure to answer is an
answer too."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile

ANSWER_TIMEOUT_S = 10.0
"""A program that is asked for its version, or git for a commit, answers in a fraction of a second
[s]."""

NO_ANSWER, NOT_STARTED = 124, 127
"""Exit codes of a shell for a program that took too long, and for one that cannot be started."""


def answer_of(
    argv: Sequence[str], timeout_s: float = ANSWER_TIMEOUT_S, cwd: Path | str | None = None
) -> subprocess.CompletedProcess[str]:
    """What a program prints, and its exit code: NO_ANSWER where it takes too long, NOT_STARTED
    where there is none."""
    try:
        return ended(argv, timeout_s, cwd)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, NO_ANSWER, "", f"no answer within {timeout_s:g} s")
    except OSError as error:
        return subprocess.CompletedProcess(argv, NOT_STARTED, "", str(error.strerror))


def ended(
    argv: Sequence[str],
    timeout_s: float | None,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    files: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """How a program ended. Raises OSError where it cannot be started, TimeoutExpired where it takes
    too long.

    files: open ones that it inherits. What it prints goes to files: a pipe would be held open by a
    daemon that it leaves running.
    """
    with TemporaryFile() as out, TemporaryFile() as err:
        code = subprocess.run(
            tuple(argv), stdout=out, stderr=err, check=False, cwd=cwd, env=env,
            timeout=timeout_s, stdin=subprocess.DEVNULL, pass_fds=files,
        ).returncode  # fmt: skip
        for file in (out, err):
            file.seek(0)
        printed = (str(file.read().decode(errors="replace")) for file in (out, err))
        return subprocess.CompletedProcess(argv, code, *printed)


def last_words(answer: subprocess.CompletedProcess[str]) -> str:
    """The last line of what a program said of its failure, else its exit code."""
    lines = (answer.stderr or answer.stdout).strip().splitlines()
    return lines[-1].rstrip(".") if lines else f"exit code {answer.returncode}"


def program_version(argv: tuple[str, ...]) -> str | None:
    """First line that a program prints of itself, or None."""
    answer = answer_of(argv)
    lines = (answer.stdout or answer.stderr).strip().splitlines()
    return lines[0].strip() if lines and answer.returncode == 0 else None
