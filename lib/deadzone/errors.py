"""The errors a user can cause or cure, and the exit code each one ends the command with.

Every message says what happened, to which file or object, and what to do about it: its last
sentence has a command, an option or a key. Anything that is not a `DeadzoneError` is a defect of
Deadzone itself. `EXIT_WORSE` and `EXIT_MOVED` are no errors: `deadzone compare --fail-on worse`
ends with the one where something got worse, `deadzone run` with the other where phases moved since
the previous run of the study. `EXIT_CLAIM_FELL` is what `--fail-on` asks for where a claim is
contradicted or not supported. `EXIT_FINDING` is that of `run`, `try`, `fit` and `recommend` where a
finding about the experiment keeps them from giving a verdict, or more is to be measured first.
`EXIT_PARTLY_READ` is that of `import` where a run in a file is not complete.
"""

import difflib
import errno
import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from deadzone.visible import visible

EXIT_USAGE = 2
EXIT_STOPPED = 3
EXIT_UNAVAILABLE = 4
EXIT_WORSE = 5
EXIT_MOVED = 6
EXIT_FINDING = 7
EXIT_CLAIM_FELL = 8
EXIT_PARTLY_READ = 9
EXIT_NOT_GIVEN_BACK = 10
EXIT_INTERRUPTED = 130


COMMAND_VARIABLE = "DEADZONE_COMMAND"
"""Set in the processes of a command, those of its notebooks too; who is in Python has it not."""


def is_in_command() -> bool:
    """Whether a command says the messages of this process, and not Python."""
    return COMMAND_VARIABLE in os.environ


def option(name: str, value: object = "") -> str:
    """An option as its caller writes it: of the command, where several values repeat it, or an
    argument in Python."""
    if not is_in_command():
        return f"`{name}={value!r}`" if value else f"`{name}=`"
    several = value if isinstance(value, list) else [value]
    typed = (f"--{name} {shlex.quote(str(one)) if one else ''}".rstrip() for one in several)
    return f"`{' '.join(typed)}`"


def resume_option(run_id: str = "", is_changed: bool = False, command: str = "") -> str:
    """What makes a sweep go on, as its caller writes it: an option of the command, or an argument
    of `dz.sweep`.

    run_id: of the run; empty where it is not known. is_changed: although others changed what is
    measured. command: what the option is typed behind, where that is all the line.
    """
    if is_in_command():
        option, ending = f"{command}--resume {run_id}".rstrip(), " -p target.on_change continue"
    else:
        option = f"resume={run_id!r}" if run_id else "resume="
        ending = ", overrides={'target.on_change': 'continue'}"
    return f"`{option}{ending if is_changed else ''}`"


class DeadzoneError(Exception):
    """Base of all errors that are reported as a sentence, without a traceback; others may have a
    word in it."""

    exit_code: ClassVar[int] = EXIT_USAGE
    way_out: ClassVar[str] = "`deadzone doctor` says what works here, and how to get what does not."

    def __str__(self) -> str:
        return visible(_joined(map(str, self.args)))

    def with_way_out(self) -> str:
        """The message; the way out of its kind follows where its last sentence has nothing in
        backquotes."""
        said = str(self)
        is_last = "`" in re.split(r"(?<=[.?!])\s", said)[-1]
        return said if is_last else _joined([said, self.way_out])


def _joined(sentences: Iterable[str]) -> str:
    """Sentences in a row, on lines of their own where one has several."""
    every = [*sentences]
    return ("\n" if any("\n" in one for one in every) else " ").join(every)


class StudyError(DeadzoneError):
    """A study file is missing, unreadable or wrong."""

    way_out = "`deadzone schema` prints the keys of a study."


class LineError(StudyError):
    """What was typed after `deadzone try` makes no study."""

    way_out = "`deadzone try --help` lists the options."


class TableError(DeadzoneError):
    """A table of measurements is missing, unreadable or lacks a column."""

    way_out = (
        "A table by hand: `printf 'threads,wall_s\\n1,9.1\\n2,5.0\\n4,3.2\\n' > t.csv`, then "
        "`deadzone fit t.csv --knob threads --response wall_s`."
    )


class PhaseError(DeadzoneError):
    """Measurements that no phase model can be fitted to."""

    way_out = "`deadzone fit --help` lists the options."


class CompareError(DeadzoneError):
    """Two tables of measurements that cannot be set side by side."""

    way_out = "`deadzone compare --help` lists the options."


class FormatError(DeadzoneError):
    """A result file of another tool that is missing, damaged, empty or of another kind."""

    way_out = "`deadzone import --list` prints the formats and what each tool has to write."


class ProfileError(DeadzoneError):
    """A profile cannot be read, or two profiles cannot be compared."""

    way_out = "`deadzone profile --help` says what it reads."


class PackError(DeadzoneError):
    """A pack that is installed cannot be used, or one that is needed is not there."""

    exit_code = EXIT_UNAVAILABLE


class StoreError(DeadzoneError):
    """A run folder cannot be read, written or continued."""

    exit_code = EXIT_STOPPED
    way_out = "`deadzone sweep STUDY` starts a new run."


class UnknownRunError(StoreError):
    """A run was named that does not exist."""

    exit_code = EXIT_USAGE
    way_out = "`deadzone runs` lists the runs."


class OtherWorkloadError(StoreError):
    """A run was to go on with another workload than it began with."""


class SweepError(DeadzoneError):
    """A sweep was stopped because going on would measure nothing."""

    exit_code = EXIT_STOPPED
    way_out = "`--rehearse` tries both ends of the range and keeps nothing."


class UnsearchableError(SweepError):
    """A search whose baseline fails, or most of whose trials do."""

    way_out = "`deadzone sweep STUDY` starts a new run."


class FindingError(DeadzoneError):
    """Something is wrong with the experiment, so that its verdict is not given."""

    exit_code = EXIT_FINDING
    way_out = "`--anyway` gives a setting all the same."


class WorkloadError(DeadzoneError):
    """A workload cannot be prepared: a program or an input is missing."""

    exit_code = EXIT_UNAVAILABLE


class TargetError(DeadzoneError):
    """A target cannot run trials as the study asks, for example no limit mechanism is permitted."""

    exit_code = EXIT_UNAVAILABLE


class NotGivenBackError(TargetError):
    """Something that a sweep changed could not be given back; the message says what mends it."""

    exit_code = EXIT_NOT_GIVEN_BACK
    way_out = "`deadzone restore` tries it again."


class LostError(TargetError):
    """What a trial runs in is gone, such as a pod that was deleted: the trial is lost, the next one
    may have another."""


class ReportError(DeadzoneError):
    """A notebook could not be executed or a report not be published."""

    exit_code = EXIT_STOPPED
    way_out = "`deadzone report --help` lists the options."


REFUSALS = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
    *(errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM),
    *(errno.EACCES, errno.EPERM, errno.ENOENT),
}
"""Errors of the system that say what the machine has no more of, does not permit or has lost,
wherever they are met; no defect of Deadzone."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint at the nearest other known name, as a sentence with a leading space, or an empty
    string."""
    nearest = difflib.get_close_matches(
        str(name), [other for other in known if other != name], n=1, cutoff=0.5
    )
    return f" Did you mean `{nearest[0]}`?" if nearest else ""


def check_known(
    kind: type[Exception], said: str, name: str, known: Collection[str], listed: str = ""
) -> None:
    """Raise an error of a kind, with the nearest name there is, for a name that is not known.

    said: what is wrong then, without a full stop. listed: what the names of all there are follow;
    by default they are left out.
    """
    if name not in known:
        every = f" {listed} {', '.join(f'`{one}`' for one in known)}." if listed else ""
        raise kind(f"{said}.{did_you_mean(name, known)}{every}")


def check_type(kind: type[Exception], given: object, types: Any, wanted: str) -> None:
    """Raise an error of a kind for a value of another type. wanted: what is needed, in words."""
    if not isinstance(given, types):
        raise kind(f"{wanted} is needed, not {type(given).__name__}.")


def system_reason(error: OSError | MemoryError) -> str:
    """The system's words for an error, with the file it is about."""
    if isinstance(error, MemoryError):
        return os.strerror(errno.ENOMEM)
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)


@dataclass(frozen=True)
class SaidAs:
    """Inside this context an error of the system, or a text that is none, is said as one of ours:
    what could not be done, the system's words, and the remedy. names_file: whether the file stands
    beside the system's words, where `what` does not name it."""

    kind: type[DeadzoneError]
    what: str
    remedy: str = ""
    names_file: bool = False

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UnicodeDecodeError):
            why: object = "it is not UTF-8 text"
        elif isinstance(error, OSError):
            why = system_reason(error) if self.names_file else error.strerror or error
        else:
            return
        raise self.kind(f"{self.what}: {why}.{self.remedy and f' {self.remedy}'}") from error


@contextmanager
def refused(where: str) -> Iterator[None]:
    """Inside this context a ValueError is said as a StudyError whose sentence begins with where the
    value stands."""
    try:
        yield
    except ValueError as error:
        raise StudyError(f"{where}{error}.") from error
