"""Settings of a server that a study changes: as which user its programs run, whether a setting
took, and the data it starts on."""

import os
import pwd
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from deadzone.plugins import (
    Level,
    SaidAs,
    StudyError,
    WorkloadError,
    did_you_mean,
    fill,
    format_level,
    masked,
)
from deadzone.run.targets.limits.base import group_name
from deadzone.run.targets.undo_log import UndoEntry, record_change, undo
from deadzone.run.workloads.command import found_by
from deadzone.store.programs import answer_of, last_words
from deadzone.study.service_specs import DataSpec, ReadBackSpec
from deadzone_services.base import ServiceError

ANSWER_TIMEOUT_S = 30.0
"""Asking a server for a setting that takes longer than this is taken for hung [s]."""

READ_PAGE = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read(10**6).decode())"
"""A program that prints a page."""

COPYING_TIMEOUT_S = 3600.0

SIZE = re.compile(r"(-?\d+(?:\.\d+)?)\s*([kKmMgGtT]?)[iI]?[bB]?")


def as_user(user: str | None, argv: Sequence[str]) -> tuple[str, ...]:
    """The argument vector that runs a program as a user. Raises StudyError where there is none of
    that name, or no right."""
    account = None if user is None else account_of(user)
    if account is None or account.pw_uid == os.geteuid():
        return tuple(argv)
    if os.geteuid():
        raise StudyError(f"service.user: only root may run programs as {user}.")
    if not shutil.which("setpriv"):
        raise WorkloadError(
            "service.user needs setpriv, which is not installed: apt install util-linux."
        )
    ids = (f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}")
    return ("setpriv", *ids, "--init-groups", "--", *argv)


def account_of(user: str) -> pwd.struct_passwd:
    """A user of this machine. Raises StudyError, with the nearest name, where there is none."""
    try:
        return pwd.getpwnam(user)
    except KeyError:
        hint = did_you_mean(user, [account.pw_name for account in pwd.getpwall()])
        raise StudyError(f"service.user: there is no user {user!r} here.{hint}") from None


def hand_over(folder: Path, user: str | None) -> None:
    """Make a folder with what is in it the user's, with the way to it open."""
    if user and not os.geteuid():
        account = account_of(user)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
        folder.parent.chmod(folder.parent.stat().st_mode | 0o011)


def check_taken(
    spec: ReadBackSpec, levels: Mapping[str, Level], asked: Mapping[str, Level], user: str | None
) -> None:
    """Raise ServiceError unless the value in force is the level that was asked for.

    asked: what stands for the placeholders.
    """
    factor, wanted = spec.factor, format_level(levels[spec.factor])
    page = (sys.executable, "-c", READ_PAGE, fill(spec.url or "", asked))
    argv = as_user(user, [fill(part, asked) for part in spec.argv]) if spec.argv else page
    answer = answer_of(argv, ANSWER_TIMEOUT_S)
    if answer.returncode:
        raise ServiceError(f"service.read_back cannot be asked: {masked(last_words(answer))}")
    value = found_by(spec.regex, answer.stdout)
    if value is None:
        said = masked(answer.stdout.strip()[-200:]) or "nothing"
        raise ServiceError(
            f"the setting {factor} cannot be read back: {spec.regex!r} is not in {said!r}"
        )
    if not same_value(str(value), wanted):
        raise ServiceError(
            f"the setting did not take: {factor} is {value} where {wanted} was asked for"
        )


def same_value(value: str, wanted: str) -> bool:
    """Whether two texts mean the same: equal, or the same number or size. The letters of a size
    mean what they can: MB is of 1024 kB to PostgreSQL and of 1000 to others."""
    return value.strip() == wanted.strip() or bool(_meanings(value) & _meanings(wanted))


def _meanings(text: str) -> set[float]:
    size = SIZE.fullmatch(text.strip())
    if not size:
        return set()
    power = " kmgt".index(size[2].lower() or " ")
    return {float(size[1]) * base**power for base in (1000, 1024)}


class Data:
    """The data folder of a service: prepared once, and copied for every start where each is to find
    it fresh.

    A copy shares its blocks with what was prepared where the file system can (cp --reflink=auto).
    """

    def __init__(self, spec: DataSpec, folder: Path) -> None:
        """folder: where the study file lies."""
        self._spec = spec
        self._own = (folder / spec.folder).resolve() if spec.folder else None
        self._copy: Path | None = None

    def ready(self, inputs: Path, user: str | None) -> Path:
        """The folder for the next start. inputs: what the setup filled, which is taken where the
        study names no folder.

        Raises WorkloadError where it is not there or cannot be copied.
        """
        prepared = self._own or inputs
        if not prepared.is_dir():
            raise WorkloadError(f"service.data.folder: {prepared} is no folder.")
        if self._spec.fresh == "reuse":
            return prepared
        self.remove()
        copy = prepared.parent / f"{group_name(counted=True)}-data"
        with SaidAs(WorkloadError, f"service.data: {copy} cannot be noted"):
            self._note = record_change(UndoEntry(str(copy), folders=(str(copy),)))
        self._copy = copy
        answer = answer_of(
            ("cp", "-a", "--reflink=auto", str(prepared), str(self._copy)), COPYING_TIMEOUT_S
        )
        if answer.returncode:
            raise WorkloadError(f"service.data: {prepared} cannot be copied: {last_words(answer)}.")
        if user:
            self._copy.parent.chmod(self._copy.parent.stat().st_mode | 0o011)
        return self._copy

    def remove(self) -> str | None:
        """Remove the copy; what could not be."""
        copy, self._copy = self._copy, None
        return undo(self._note) if copy else None
