"""A scene: one sweep that goes through several faults, then on to its end."""

import random
import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import yaml
from disturbance import NO_DOUBTS

from deadzone.store.run import RunFolder, list_runs
from torture import oracle
from torture.faults import possible
from torture.harness import Arming, Command

MOST_FAULTS = 5
"""In one scene; that many parts of one run."""

PROGRAM = """sleep 0.004
if [ -e {hungry} ]; then rm -f {hungry}; head -c 400M /dev/zero | tail || exit 9; fi
echo {{threads}}"""
"""What is swept: a few milliseconds, or once more memory than it may have."""


def a_number(script: str) -> dict[str, Any]:
    """A workload of a shell script that prints a number, its response n."""
    read = {"responses": {"n": {"regex": r"\d+"}}}
    return {"kind": "command", "argv": ["sh", "-c", script], **read}


@dataclass
class Scene:
    """What the faults of one scene share: a sweep of a program of a few milliseconds.

    harmed: trials that may have failed, for their program was harmed. lasts_s: about how long the
    sweep takes. most_faults: that a scene goes through. stack: what faults made is removed with it.
    """

    lasts_s: ClassVar[float] = 0.4
    most_faults: ClassVar[int] = MOST_FAULTS

    folder: Path
    draw: random.Random
    harmed: int = 0
    commands: list[Command] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    stack: ExitStack = field(default_factory=ExitStack)
    _kept: bytes = b""

    def __post_init__(self) -> None:
        self.study.parent.mkdir(parents=True)
        document = {"study": "probe", **self.asked()}
        # a repeated trial is right, and would make two tables differ
        document |= {"trust": NO_DOUBTS}
        document["design"] |= {"seed": self.draw.randrange(99), "timeout_s": 30}
        self.study.write_text(yaml.safe_dump(document))

    @classmethod
    def faults(cls) -> Mapping[str, Callable[[Any], None]]:
        """The faults that it can go through on this machine, by name."""
        return possible()

    def close(self) -> None:
        """End what the scene itself had running."""

    def asked(self) -> dict[str, Any]:
        """The study, but for its name, its trust, and what a trial may take."""
        return {
            "workload": a_number(PROGRAM.format(hungry=self.hungry)),
            "target": {"kind": "local", "memory_limit": 48_000_000},
            "factors": {"threads": self.draw.sample(range(1, 99), self.draw.randint(2, 5))},
            "design": {"replicates": self.draw.randint(2, 9), "warmup": self.draw.randint(0, 1)},
        }

    @property
    def home(self) -> Path:
        return self.folder / "repository"

    @property
    def study(self) -> Path:
        return self.home / "notebooks" / "studies" / "probe.yaml"

    @property
    def hungry(self) -> Path:
        """While this file is there, the next program takes all memory it can get."""
        return self.folder / "hungry"

    def run(self) -> RunFolder | None:
        """The run of the scene, once there is one."""
        runs = list_runs(self.home / "data" / "runs")
        return runs[-1] if runs else None

    def lines(self) -> int:
        """Trials in the journal by now."""
        run = self.run()
        return (
            run.journal_file.read_bytes().count(b"\n") if run and run.journal_file.exists() else 0
        )

    def start(self, arming: Arming | None = None, resumed: RunFolder | None = None) -> Command:
        """Sweep, or go on with the sweep."""
        run = resumed or self.run()
        more = ("--resume", run.run_id) if run else ()
        self.commands.append(Command(self.home, "sweep", str(self.study), *more, arming=arming))
        return self.commands[-1]

    def wait_an_instant(self, command: Command) -> None:
        """Let a drawn time pass: since the start, or since a trial of this part was recorded."""
        if self.draw.random() < 0.6:
            had = self.lines()
            command.wait_for(lambda: self.lines() > had)
            command.wait(self.draw.uniform(0, 0.1))
        else:
            command.wait(self.draw.uniform(0, self.lasts_s))

    def instant(self, arming: Arming | None = None) -> Command:
        """A sweep that runs, at an instant that is drawn."""
        command = self.start(arming)
        self.wait_an_instant(command)
        return command

    def told(self, what: str) -> None:
        """A word more on the fault at hand, for the message of a failure."""
        self.story[-1] += f" ({what})"

    def forget(self) -> None:
        """What is kept from now on is what is there now: the files were changed by other hands."""
        run = self.run()
        self._kept = run.journal_file.read_bytes() if run and run.journal_file.exists() else b""

    def ended(
        self, command: Command, killed: bool = False, codes: Collection[int] = oracle.DOCUMENTED
    ) -> None:
        """Wait for a command and ask the oracle."""
        oracle.check_ended(command, killed, codes)
        run = self.run()
        if run:
            oracle.check_kept(run, self._kept)
            self.forget()
        else:
            assert not self._kept, "the run is gone"

    def finish(self) -> None:
        """Go on to the end, and ask the oracle about all of it."""
        self.story.append("resumed")
        self.ended(self.start(), codes={0})
        run = self.run()
        assert run
        oracle.check_whole(run, self.study, self.harmed)
        oracle.check_nothing_left(self.commands, self.folder)


@dataclass(frozen=True)
class Played:
    """How a scene went: the faults it had, and what the oracle found, empty where nothing."""

    number: int
    faults: tuple[str, ...]
    found: str


def play(
    kind: type[Scene], seed: int, number: int, faults: Mapping[str, Callable[[Any], None]]
) -> Played:
    """One scene, drawn from the seed and its number; its files stay where something was found."""
    draw = random.Random(f"{seed}/{number}")
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    try:
        scene = kind(folder, draw)
    except Exception as error:
        return Played(
            number, (), f"there was no scene: {type(error).__name__}: {error}\n  files: {folder}"
        )
    met: list[str] = []
    try:
        with scene.stack:
            try:
                for name in draw.choices(list(faults), k=draw.randint(1, kind.most_faults)):
                    met.append(name)
                    scene.story.append(name)
                    faults[name](scene)
                scene.finish()
            finally:
                scene.close()
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        return Played(number, tuple(met), f"{' > '.join(scene.story)}: {what}\n  files: {folder}")
    shutil.rmtree(folder)
    return Played(number, tuple(met), "")
