"""The dd engine: repeats what people do by hand, one call after the other and no latencies."""

import os
import re
import shutil

from deadzone.errors import WorkloadError
from deadzone.measurement import Command, Measurement
from deadzone.measuring.workloads.disk.engine import WORDS, Account, EngineFailure, Latency, Trial
from deadzone.store.programs import program_version

LAST_LINE = re.compile(r"^(\d+) bytes.* copied, ([\d.eE+-]+) s", re.MULTILINE)
RECORDS = re.compile(r"^(\d+)\+(\d+) records out", re.MULTILINE)

TIMED_OUT = 124
"""Exit code of `timeout` when the time was over, which is how a timed trial ends."""


class DdEngine:
    """`dd`, stopped by `timeout` when the trial's time is over; on SIGINT it tells what it copied."""

    name = "dd"

    def version(self) -> str:
        """dd's own word. Raises WorkloadError where it, or timeout, is missing."""
        for program in ("dd", "timeout"):
            if not shutil.which(program):
                raise WorkloadError(
                    f"workload.engine is dd, and the program {program!r} is missing: install the GNU core utilities."
                )
        return program_version(("dd", "--version")) or "dd"

    def command(self, trial: Trial) -> Command:
        """dd from or to the file, in English, whatever the user's language."""
        settings = trial.settings
        blocks = trial.blocks - trial.first_block
        if trial.most_blocks is not None:
            blocks = min(blocks, trial.most_blocks)
        reading = settings.operation == "read"
        begin = f"{'skip' if reading else 'seek'}={trial.first_block}"
        common = (f"bs={settings.block_size}", f"count={blocks}", begin)
        ends = {"end": ("conv=notrunc,fdatasync",), "each": ("conv=notrunc", "oflag=dsync")}
        if reading:
            flag = ("iflag=direct",) if settings.direct else ()
            arguments = (f"if={trial.files[0]}", "of=/dev/null", *common, *flag)
        else:
            source = trial.source if trial.source else "/dev/zero"
            direct = ("oflag=direct",) if settings.direct else ()
            flush = ends.get(settings.fsync, ("conv=notrunc",))
            arguments = (f"if={source}", f"of={trial.files[0]}", *common, *direct, *flush)
        limit = ("timeout", "--signal=INT", "--kill-after=30", f"{trial.duration_s:g}")
        return Command((*limit, "dd", *arguments), {"LC_ALL": "C"}, trial.scratch)

    def account(self, trial: Trial, measurement: Measurement) -> Account:
        """From the three lines that dd prints."""
        copied = LAST_LINE.search(measurement.stderr)
        records = RECORDS.search(measurement.stderr)
        if not copied or not records or measurement.exit_code not in (0, TIMED_OUT):
            raise EngineFailure(_why(measurement))
        moved, elapsed_s = int(copied[1]), float(copied[2])
        number = int(records[1])
        reading = trial.settings.operation == "read"
        return Account(
            elapsed_s=elapsed_s,
            read_bytes=moved if reading else 0,
            written_bytes=0 if reading else moved,
            calls=Latency(number, 1000 * elapsed_s / number if number else None),
        )


def _why(measurement: Measurement) -> str:
    """dd's complaint, with what to do about it where that is known."""
    said = measurement.stderr.strip()
    for number, words in WORDS.items():
        if os.strerror(number) in said:
            return words
    lines = [line for line in said.splitlines() if line.startswith("dd:")]
    return f"dd ended without a result: {lines[0] if lines else f'exit code {measurement.exit_code}'}"
