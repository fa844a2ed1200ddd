"""What must hold after a fault, whatever it was, and after the sweep went on."""

from collections import Counter
from collections.abc import Collection
from pathlib import Path

import pandas as pd
import psutil

from deadzone.run.sweep.opening import planned_file
from deadzone.store.run import RunFolder
from torture.harness import Command

DOCUMENTED = {0, 2, 3, 4, 7, 8, 10, 130}
"""Exit codes of a sweep that is in trouble: 1 is a defect."""

NO_MEMORY_TO_TELL = "Exception ignored in sys.unraisablehook"
OF_THE_PLAN = ("trial", "block", "replicate", "warmup", "threads", "n", "exit_code", "status")
"""Columns of the table that no measured value is in; a load answers with no number of its own."""


def check_ended(command: Command, killed: bool, codes: Collection[int] = DOCUMENTED) -> None:
    """A command ended as documented, with one sentence, and left nothing; one that was killed owes
    nothing yet."""
    code, said = command.code, command.printed()
    assert "Traceback" not in said, said
    # Where there is no memory left, the interpreter has none to tell of what it ignores either.
    assert "Exception ignored" not in said.replace(NO_MEMORY_TO_TELL, ""), said
    if code < 0:
        assert killed, f"it ended by signal {-code}: {said}"
        return
    assert code in codes, f"exit code {code}: {said}"
    sentences = [line for line in said.splitlines() if line.startswith("deadzone: ")]
    assert len(sentences) == (code != 0), f"exit code {code}, {len(sentences)} sentences: {said}"
    assert not command.traces(), f"left: {command.traces()}"


def check_kept(run: RunFolder, before: bytes) -> None:
    """What the journal held is there as it was, and its tables can be read."""
    now = run.journal_file.read_bytes() if run.journal_file.exists() else b""
    whole = before[: before.rfind(b"\n") + 1]
    assert now.startswith(whole), f"{run.journal_file}: lines that were there have changed"
    for path in run.folder.glob("*.parquet"):
        pd.read_parquet(path)


def check_whole(run: RunFolder, study: Path, harmed: int = 0, ordered: bool = True) -> None:
    """The run has every trial of the plan once, begun in the plan's order, with the table of an
    undisturbed run; those that were lost or disturbed come again at the end of their block, those
    of a level that was given up in the sweep that goes on.

    harmed: how many trials may have failed, because their program was killed. ordered: whether one
    trial was measured after the other; those that were measured at once are recorded as they end.
    """
    records, planned = run.records(), planned_file(study).trials
    # with its pod, and a reason to repeat it
    lost = {"lost"} if "kubernetes" in study.read_text() else set()
    repeated = [one for one in records if not one["final"] and one["trusted"]]
    again = [one["trial"] for one in repeated if one["status"] not in lost]
    assert not again, f"repeated without a reason: {again}"
    # a clock that is stepped makes a trial one to repeat
    ended = sorted(one["trial"] for one in records if one["final"])
    begun = [*dict.fromkeys(one["trial"] for one in records)]
    wanted = [one.trial for one in planned]
    assert ended == wanted, f"not every trial once: {ended}, planned {wanted}"
    # a level that failed twice is given up, and tried again by the sweep that goes on
    failed = Counter(str(one["levels"]) for one in records if one["status"] == "failed")
    late = {one["trial"] for one in records if failed[str(one["levels"])] > 1}
    in_order = [one for one in wanted if one not in late]
    assert not ordered or [one for one in begun if one not in late] == in_order, (
        f"not in the plan's order: {begun}, planned {wanted}"
    )
    table = pd.read_parquet(run.folder / "trials.parquet")
    made = run.trials()
    pd.testing.assert_frame_equal(table, made, check_dtype=False)
    undisturbed = pd.DataFrame(
        {
            **{name: getattr(one, name) for name in ("trial", "block", "replicate", "warmup")},
            **one.treatment.levels,
            "n": float(one.treatment.levels["threads"]),
            "exit_code": 0,
            "status": "ok",
        }
        for one in planned
    )
    columns = [name for name in OF_THE_PLAN if name in table]
    table = table[table["attempt"] == table.groupby("trial")["attempt"].transform("max")]
    table = table.sort_values("trial").reset_index(drop=True)
    failed = table["status"] != "ok"
    # What neighbours of this machine took from the generator of a load, and a trial says, was
    # harmed by no fault.
    ours = failed & ~table["error"].fillna("").str.startswith("generator saturated")
    assert ours.sum() <= harmed, table.loc[ours, ["trial", "status", "error"]].to_string()
    pd.testing.assert_frame_equal(
        table.loc[~failed, columns].astype(object).reset_index(drop=True),
        undisturbed.loc[~failed, columns].astype(object).reset_index(drop=True),
    )
    assert table.loc[~failed, "error"].isna().all(), "a trial went well and has an error"
    telemetry = run.telemetry()
    assert set(telemetry["trial"]) <= set(table["trial"]), "telemetry of no trial"
    assert not telemetry.duplicated(["trial", "attempt", "t_s", "metric"]).any(), "telemetry twice"
    left = [path for path in run.folder.iterdir() if path.name.endswith(".part")]
    assert not left, f"drafts are left: {left}"


def check_nothing_left(commands: Collection[Command], folder: Path) -> None:
    """No control group, scratch folder, process or mount of any of the commands is left.

    folder: of the scene; what is mounted elsewhere, and bears no name of a command's, is somebody
    else's.
    """
    left = [path for command in commands for path in command.traces()]
    assert not left, f"left: {left}"
    sessions = {command.pid for command in commands}
    names = [f"/deadzone-{pid}-" for pid in sessions]
    running = [
        one
        for one in psutil.process_iter(["pid", "cmdline"])
        if one.pid in sessions
        or any(name in word for word in one.info["cmdline"] or () for name in names)
    ]
    assert not running, f"still running: {running}"
    mounted = [one for one in mount_points() if any(name in one for name in (str(folder), *names))]
    assert not mounted, f"mounted: {mounted}"


def mount_points() -> list[str]:
    """Where something is mounted here."""
    return [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
