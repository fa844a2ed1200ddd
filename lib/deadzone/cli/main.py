"""The command `deadzone`: finds the subcommand, and turns errors into a sentence and an exit
code."""

import gc
import io
import os
import signal
import sys
import time
from keyword import iskeyword
from types import FrameType
from typing import Any

import click

from deadzone import __version__
from deadzone.errors import (
    COMMAND_VARIABLE,
    EXIT_INTERRUPTED,
    EXIT_STOPPED,
    EXIT_UNAVAILABLE,
    REFUSALS,
    DeadzoneError,
    did_you_mean,
    system_reason,
)
from deadzone.packs import brought, load
from deadzone.run.targets.interrupts import INTERRUPTS
from deadzone.visible import visible

REMEDY = (
    "Free disk, processes, files or memory, put back what was moved or taken away, then do it "
    "again; a sweep goes on with `--resume`."
)

LOOK_FOR_GARBAGE_AFTER = 200_000
"""Objects. Loading libraries makes some hundred thousand that stay; looked through after every 700,
they take a fifth of the time to a first answer, and after every 50,000 a tenth."""

AGAIN_S = 0.5
"""An interrupt so soon after another is the same wish [s]."""

LATER_S = 0.01
"""By then whatever ended has ended [s]."""

HELP = {
    "doctor": "Say what works here, and how to get what does not.",
    "try": "Sweep a program in one line, without a study file.",
    "run": "Execute a study's notebooks: sweep, fit, report.",
    "sweep": "Measure a study, without notebook and report.",
    "fit": "Fit phases to any CSV or Parquet table.",
    "compare": "Compare two runs, tables or commits: before and after.",
    "import": "Turn other tools' result files into a tidy table.",
    "report": "Publish the report of a run again.",
    "claims": "Judge what was claimed of a run, and claim more.",
    "recommend": "Say what a run recommends; as a patch for Kubernetes, too.",
    "explain": "Say what a finding about an experiment means.",
    "publish": "Publish a notebook of your own or runs, and rebuild the index of reports.",
    "history": "Say what moved over the runs of a study.",
    "runs": "List the runs that are kept, and remove older ones.",
    "export": "Write the trials of a run as CSV.",
    "restore": "Put back what an interrupted run left changed.",
    "init": "Lay out a new research-notebook repository.",
    "schema": "Print the JSON Schema of study files.",
}
COMMANDS = {
    name: (f"deadzone.cli.{name}{'_' if iskeyword(name) else ''}:command", line)
    for name, line in HELP.items()
}
"""Name of each command, where it is defined and what it does; loaded when called."""


def commands() -> dict[str, tuple[str, str]]:
    """Where each command is defined, with a line of help; those of packs stand after the core's."""
    return COMMANDS | brought("commands")


class LazyGroup(click.Group):
    """A group that imports a command when it is called, so that the others cost nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order a person meets them."""
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        # What the packs bring is looked for where the core has no such command: it takes longer
        # than some commands do.
        known = COMMANDS if cmd_name in COMMANDS else brought("commands")
        command: click.Command | None = load(known[cmd_name][0]) if cmd_name in known else None
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest command suggested."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"There is no command {args[0]!r}.{did_you_mean(args[0], commands())}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a reader that leaves early ends it, which click by itself takes for a
        failure."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in commands().items()])


EXIT_CODES = """\b
Exit codes: 0 done; 1 a defect of Deadzone; 2 wrong usage, study or table;
3 stopped while measuring or publishing, what was measured is kept;
4 something needed is missing here; 5 `compare --fail-on worse` found something worse;
6 `run` found that phases moved since the previous run;
7 something is wrong with the experiment, so that no verdict is given;
8 `--fail-on` found a claim contradicted, or not supported;
9 a file was read in part: a run in it is incomplete;
10 something that a sweep changed could not be given back; 130 interrupted."""


SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True}
"""Of every command."""


@click.group(cls=LazyGroup, epilog=EXIT_CODES, context_settings=SETTINGS)
@click.version_option(__version__, prog_name="deadzone")
def deadzone() -> None:
    """Find where a knob pays, where it stops paying, where it hurts, and what to set."""


def main() -> None:
    """Entry point of the command."""
    os.environ[COMMAND_VARIABLE] = "1"
    gc.set_threshold(LOOK_FOR_GARBAGE_AFTER)
    # jsonschema, which nbformat loads, does without it; it would compile grammars of addresses
    # beyond ASCII: 1.6 s of CPU time.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    _heed_interrupts()
    _mend_streams()
    said = ""
    try:
        code = deadzone.main(standalone_mode=False)
    except DeadzoneError as error:
        said, code = error.with_way_out(), error.exit_code
    except ModuleNotFoundError as error:
        from deadzone.extras import missing_sentence

        said, code = missing_sentence(error.name or ""), EXIT_UNAVAILABLE
        if not said:
            raise
    except (OSError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno not in REFUSALS:
            raise
        said, code = f"The machine refuses: {visible(system_reason(error))}. {REMEDY}", EXIT_STOPPED
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        command = getattr(getattr(error, "ctx", None), "command_path", "deadzone")
        wrong, code = visible(error.format_message().rstrip(".")), error.exit_code
        said = f"{wrong}. `{command} --help` says how it is used."
    except (KeyboardInterrupt, click.Abort):
        said, code = "interrupted", EXIT_INTERRUPTED
    if said:
        print(f"deadzone: {said}", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)


def _mend_streams() -> None:
    """Streams that are there and take every letter, whoever started the command."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by who started it
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as Python has it for stderr


def _heed_interrupts() -> None:
    """A termination request is handled like Ctrl-C: clean up, then end. Two within AGAIN_S are one,
    of an impatient user: the second would be raised before the clean-up has begun. Who
    starts it with nohup wants it to go on."""
    last_s = float("-inf")

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last_s
        before_s, last_s = last_s, time.monotonic()
        if last_s - before_s > AGAIN_S:
            raise KeyboardInterrupt

    def heed_later(lost: "sys.UnraisableHookArgs") -> None:
        nonlocal last_s
        if lost.exc_type is KeyboardInterrupt:
            last_s = float("-inf")
            signal.setitimer(signal.ITIMER_REAL, LATER_S)
        else:
            sys.__unraisablehook__(lost)

    sys.unraisablehook = heed_later
    for number in (*INTERRUPTS, signal.SIGALRM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)


if __name__ == "__main__":
    main()
