"""How a sweep tells how far it is: one line that moves on a terminal, plain lines now and then elsewhere; and how
long the trials that are left will take."""

import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any, TextIO

from deadzone.study.design import PlannedTrial, Treatment
from deadzone.visible import visible

REMEMBERED = 15
"""So many latest trials of a treatment say what the next one takes."""


class Estimate:
    """The time the remaining trials will take; costs as much with the thousandth trial as with the first.

    A treatment that was measured takes its median; one that was not takes the mean of the others. Trials that are
    repeated, for they were disturbed, are expected to be so at the rate seen until now.
    """

    def __init__(
        self,
        remaining: Sequence[PlannedTrial],
        cooldown_s: float,
        records: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """records: those of the trials and attempts that were measured already."""
        self._left = Counter(trial.treatment.label() for trial in remaining)
        self._cooldown_s = cooldown_s
        self._measured: dict[str, list[float]] = defaultdict(list)
        self._typical: dict[str, float] = {}
        self._finals = self._attempts = 0
        self.measured_s = 0.0
        """What all attempts took, with the pauses between them [s]."""
        for record in records:
            self.add(record)

    def expect(self, trials: Sequence[PlannedTrial]) -> None:
        """Take account of trials that are still to be measured."""
        self._left.update(trial.treatment.label() for trial in trials)

    def add(self, record: Mapping[str, Any]) -> None:
        """Take account of a measured trial, or of an attempt at it."""
        if record["final"]:
            self._finals += 1
            self._attempts += record["attempt"]
        walls = self._measured[label := Treatment(record["levels"]).label()]
        walls.append(float(record["wall_s"]))
        self.measured_s += record["wall_s"] + self._cooldown_s
        del walls[:-REMEMBERED]
        self._typical[label] = median(walls)

    def finish(self, trial: PlannedTrial) -> None:
        """A trial that needs no further attempt."""
        self._left[trial.treatment.label()] -= 1

    def left_s(self, trials: Sequence[PlannedTrial] | None = None) -> float | None:
        """Time left [s], or that these trials will take; None before anything was measured."""
        counted = self._left if trials is None else Counter(trial.treatment.label() for trial in trials)
        if not self._typical:
            return None
        other, attempts = fmean(self._typical.values()), self._attempts / self._finals if self._finals else 1
        return sum(
            n * (attempts * self._typical.get(label, other) + self._cooldown_s)
            for label, n in counted.items()
        )


def in_words(seconds: float) -> str:
    """A duration as a person says it: 45 s, 3 min 20 s, 2 h 5 min."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


PROGRESS_VARIABLE = "DEADZONE_PROGRESS"
"""Set to `silent` by whoever starts a sweep and watches its journal."""

PLAIN_LINE_EVERY_S = 15.0
"""Where lines pile up (logs, notebooks), one every so often is enough [s]."""


class Progress:
    """Told of every trial before it starts, and of the end; says nothing, for callers that watch the journal themselves."""

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """done trials of total are finished, `current` is the treatment under way, left_s the time left [s]."""

    def note(self, sentence: str) -> None:
        """Something a person should read meanwhile."""

    def agrees(self, question: str) -> bool:
        """Whether somebody who is asked agrees; so does nobody."""
        return True

    def clear(self) -> None:
        """Leave the line to what is written next."""

    def close(self, sentence: str) -> None:
        """The sweep is over, which one more sentence says."""
        self.note(sentence)


class Beside(Progress):
    """A progress that leaves to another what it does not do itself."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def note(self, sentence: str) -> None:
        """Tell it."""
        self._progress.note(sentence)

    def agrees(self, question: str) -> bool:
        """Ask."""
        return self._progress.agrees(question)

    def clear(self) -> None:
        """Leave the line."""
        self._progress.clear()

    def close(self, sentence: str) -> None:
        """Tell the end."""
        self._progress.close(sentence)


class BarProgress(Progress):
    """A progress bar on a terminal."""

    def __init__(self, stream: TextIO) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=1, file=stream, bar_format="{desc}", leave=False, dynamic_ncols=True)

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """Redraw the bar."""
        self._bar.total = total
        self._bar.n = done
        state = _state(current, left_s).replace("{", "{{").replace("}", "}}")
        self._bar.bar_format = f"trial {min(done + 1, total)} of {total} |{{bar:24}}| {state}"
        self._bar.refresh()

    def note(self, sentence: str) -> None:
        """Print a line above the bar."""
        self._bar.write(visible(sentence), file=self._bar.fp)

    def clear(self) -> None:
        """Take the bar away until it is drawn again."""
        self._bar.clear()

    def close(self, sentence: str) -> None:
        """Remove the bar and leave one line."""
        self._bar.close()
        print(visible(sentence), file=self._bar.fp)


class LineProgress(Progress):
    """Plain lines, for logs and notebooks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = 0.0

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """Print a line if the last one is old enough."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_LINE_EVERY_S
            self.note(f"trial {min(done + 1, total)} of {total}: {_state(current, left_s)}")

    def note(self, sentence: str) -> None:
        """Print a line."""
        print(visible(sentence), file=self._stream, flush=True)


def progress_on(stream: TextIO | None = None) -> Progress:
    """A bar where the stream is a terminal that can draw one, else plain lines."""
    if os.environ.get(PROGRESS_VARIABLE) == "silent":
        return Progress()
    stream = stream or sys.stderr
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return BarProgress(stream)
    return LineProgress(stream)


def _state(current: str, left_s: float | None) -> str:
    current = visible(current)
    return current if left_s is None else f"{current}, about {in_words(left_s)} left"
