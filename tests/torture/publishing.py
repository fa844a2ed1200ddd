"""A scene with a report: `deadzone run` measures and publishes."""

import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

import psutil

from torture import faults, oracle
from torture.harness import Arming, Command, trouble_library
from torture.scene import Scene, a_number

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"

DONE = {0, 6, 7}
"""Measured and published, whatever the verdict."""

PATIENCE_S = 600.0
"""What a run may take that measures and publishes [s]."""

OF_A_RUN = (
    *("killed", "interrupted", "suspended"),
    *("descriptors exhausted", "file size limited", "two at once"),
)
"""Faults of a sweep that a run with its kernels can have as they are."""

ENDS = {".html": b"</html>", ".pdf": b"%%EOF", ".svg": b"</svg>", ".parquet": b"PAR1"}
ENDS |= dict.fromkeys((".ipynb", ".json"), b"}")
"""What the last bytes of a file are that was written whole."""


class ReportScene(Scene):
    """A run of a short program with its report."""

    lasts_s: ClassVar[float] = 4.0

    @classmethod
    def faults(cls) -> Mapping[str, Callable[[Any], None]]:
        """Trouble with the disks of report and run, at any call of the command or of its kernels;
        and some of a sweep's."""
        possible = faults.possible()
        ours = {"report in trouble": report_in_trouble} if trouble_library() else {}
        return {**ours, **{name: possible[name] for name in OF_A_RUN}}

    def asked(self) -> dict[str, Any]:
        for name in ("sweep", "phases"):
            shutil.copy(NOTEBOOKS / f"{name}.ipynb", self.home / "notebooks")
        return {
            "workload": a_number("sleep 0.00{threads}; echo {threads}"),
            "factors": {"threads": self.draw.sample(range(1, 10), 3)},
            "design": {"replicates": self.draw.randint(2, 4), "warmup": 0, "rehearsal": False},
        }

    def start(self, arming: Arming | None = None, resumed: Any = None) -> Command:
        run = resumed or self.run()
        more = ("--resume", run.run_id) if run else ()
        asked = ("run", str(self.study), "-q", *more)
        started = Command(self.home, *asked, arming=arming, patience_s=PATIENCE_S)
        self.commands.append(started)
        return started

    def ended(
        self, command: Command, killed: bool = False, codes: Collection[int] = oracle.DOCUMENTED
    ) -> None:
        """As for a sweep, but for what `run` says besides; a report is whole or not there."""
        code, said = command.code, command.printed()
        assert "Traceback" not in said and "Exception ignored" not in said, said
        expected = {*codes, *DONE} if 0 in codes else codes
        assert killed if code < 0 else code in expected, f"exit code {code}: {said}"
        if code in (2, 3, 4):
            assert "\ndeadzone: " in f"\n{said}", f"exit code {code}: {said}"
        run = self.run()
        if run:
            oracle.check_kept(run, self._kept)
            self.forget()
        if killed:
            self.await_kernels()
        check_published(self.home / "reports")

    def await_kernels(self) -> None:
        """A kernel whose command was killed sees that and ends."""
        ours = [one for one in psutil.process_iter(["environ"]) if self._is_ours(one)]
        psutil.wait_procs(ours, timeout=60)

    def _is_ours(self, one: psutil.Process) -> bool:
        return (one.info["environ"] or {}).get("DEADZONE_HOME") == str(self.home)

    def finish(self) -> None:
        """The run and its report are whole."""
        self.story.append("resumed")
        self.ended(self.start(), codes=DONE)
        run = self.run()
        assert run
        oracle.check_whole(run, self.study)
        report = self.home / "reports" / "probe" / run.run_id
        assert report.joinpath("report.pdf").is_file(), "there is no report"
        check_published(self.home / "reports", drafts=False)
        oracle.check_nothing_left(self.commands, self.folder)


def check_published(reports: Path, drafts: bool = True) -> None:
    """Every file of every report is whole, and a page has all that it links to. drafts: whether
    some may be left, of a kill."""
    for path in reports.rglob("*"):
        if path.name.endswith(".part"):
            assert drafts, f"left: {path}"
        elif path.suffix in ENDS:
            assert path.read_bytes().rstrip().endswith(ENDS[path.suffix]), f"torn: {path}"
    for page in reports.glob("*/*/index.html"):
        there = {one.name for one in page.parent.iterdir()}
        missing = {"report.pdf", "report.ipynb", "report.json"} - there
        assert not missing, f"a page without its {missing}: {page}"


def report_in_trouble(scene: ReportScene) -> None:
    """From a drawn call of any of its processes on, changes to files of report or run fail."""
    draw = scene.draw
    under = draw.choice([scene.home / "reports", scene.home / "reports", scene.home / "data"])
    error = draw.choice(faults.DISK_ERRORS)
    after, times = int(2 ** draw.uniform(0, 7)) - 1, draw.choice([1, 2, -1, -1])
    scene.told(f"{under.name}, error {error} after {after}, {times} times")
    calls = (("trouble", (str(under).encode(), error, after, times)),)
    library = ("LD_PRELOAD", str(trouble_library()))
    inherited = (library, ("TROUBLE", f"{error},{after},{times},{under}"))
    scene.ended(scene.start(Arming(calls, inherited=inherited)), codes={0, 3, 4})
