"""A run on disk: `data/runs/<study>/<run_id>/` with its study, journal, tables and provenance."""

from __future__ import annotations

import contextlib
import difflib
import json
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadzone.contents import bytes_of, text_of, written_whole
from deadzone.errors import (
    SaidAs,
    StoreError,
    StudyError,
    UnknownRunError,
    did_you_mean,
    resume_option,
)
from deadzone.measurement import HistogramSlice, ProfileFile, Sample
from deadzone.store.lock import held, holder_of, is_held
from deadzone.store.provenance import notebook_facts
from deadzone.store.records import (
    BATCH,
    FACTS,
    HISTOGRAMS,
    SERIES,
    Form,
    Journal,
    each_attempt,
    each_line,
    last_records,
)
from deadzone.store.table import long_pieces, tidy_pieces, whole, write_pieces
from deadzone.study.claims import ClaimSpec, check_claims
from deadzone.study.design import claims_of_study, levels_of
from deadzone.study.loading import dump_document, dump_study, parse_study, yaml_in
from deadzone.study.reasons import reason, reason_of
from deadzone.study.spec import Study

if TYPE_CHECKING:
    import pandas as pd

RUN_NAME = re.compile(r"\w[\w.-]*")
"""A run's name is that of its folder."""

OWN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{4}")

STUDY_FILE = "study.yaml"
JOURNAL_FILE = "trials.jsonl"
TELEMETRY_JOURNAL_FILE = "telemetry.jsonl"
HISTOGRAM_JOURNAL_FILE = "histograms.jsonl"
TRIALS_FILE = "trials.parquet"
TELEMETRY_FILE = "telemetry.parquet"
HISTOGRAM_FILE = "histograms.parquet"
PROVENANCE_FILE = "provenance.json"
VERDICT_FILE = "verdict.json"
LOCK_FILE = "lock"
LOGS = "logs"
"""Folder of what a service under test printed, a file for each time it was started."""

PROFILES_FOLDER = "profiles"
"""Profiles taken during the trials: TRIAL-KIND.ENDING, TRIAL.ATTEMPT-KIND.ENDING where a trial was
tried again."""

LONG_TABLES: dict[str, tuple[str, Form, str, type]] = {
    TELEMETRY_FILE: (TELEMETRY_JOURNAL_FILE, SERIES, "samples", Sample),
    HISTOGRAM_FILE: (HISTOGRAM_JOURNAL_FILE, HISTOGRAMS, "histograms", HistogramSlice),
}
"""Tables of what is told beside the trials: the journal, its form, the key, and what a row is."""

OVERRIDES_FILE = "overrides.json"
"""What the command line changed of the study file, so that neither resuming nor reporting needs it
repeated."""

BATCHES_FILE = "batches.jsonl"
"""What an adaptive sweep chose, batch by batch, with the reason, and why a sweep ended before its
plan did."""

CLAIMS_FILE = "claims.yaml"
"""Claims that were made after the run was measured; those made before it stand in its study."""


def new_run_id() -> str:
    """An id that sorts by time and that two runs started in one second do not share."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"


class RunFolder:
    """One execution of a study: reads and writes its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._journals: dict[str, Journal] = {}

    @property
    def run_id(self) -> str:
        """Name of the run's folder."""
        return self.folder.name

    @property
    def journal_file(self) -> Path:
        """The file that grows by a line a trial."""
        return self.folder / JOURNAL_FILE

    @classmethod
    def create(
        cls,
        runs: Path,
        study: Study,
        run_id: str | None = None,
        beside: Mapping[str, str] | None = None,
    ) -> RunFolder:
        """Make the folder of a new run and write the resolved study into it.

        beside: text of further files, by name.

        Raises StoreError if the folder exists or cannot be made, or run_id is no name.
        """
        if run_id is not None and not (isinstance(run_id, str) and RUN_NAME.fullmatch(run_id)):
            raise StoreError(
                f"A run cannot be called {run_id!r:.60}; its name is a text of letters, digits, "
                "'.', '_' and '-'."
            )
        run = cls(runs / study.study / (run_id or new_run_id()))
        with SaidAs(StoreError, f"{run.folder}: cannot make the run's folder"):
            try:
                run.folder.mkdir(parents=True)
            except FileExistsError as error:
                if not run.folder.is_dir():
                    raise
                raise StoreError(
                    f"{run.folder} exists already; two runs never share a folder. Use "
                    f"{resume_option(run.run_id)} to go on."
                ) from error
        try:
            for name, text in {**(beside or {}), STUDY_FILE: dump_study(study)}.items():
                run._write(name, text)
        except StoreError:
            run.discard()
            raise
        return run

    @classmethod
    def find(cls, runs: Path, name: str) -> RunFolder:
        """A run by its folder, its id, or `latest`, optionally with its study: STUDY/latest. Of
        some bundled studies STUDY/reference is a run that the repository holds.

        Raises UnknownRunError if there is none, or several studies have it.
        """
        name = str(name)
        with contextlib.suppress(OSError):  # a name of 300 letters is no path
            if (Path(name) / STUDY_FILE).is_file():
                return cls(Path(name).resolve())
        study, _, run_id = name.rpartition("/")
        if run_id == "reference":
            from deadzone.store.reference import reference_run  # it needs pandas

            if folder := reference_run(study):
                return cls(folder)
        known = [run.folder for run in list_runs(runs, study or None)]
        if run_id == "latest" and known:
            return cls(known[-1])
        folders = [path for path in known if path.name == run_id]
        if len(folders) == 1:
            return cls(folders[0])
        if folders:
            raise UnknownRunError(f"Several studies have a run {run_id!r}; write `STUDY/{run_id}`.")
        hint = did_you_mean(run_id, [path.name for path in known])
        raise UnknownRunError(f"There is no run {name!r} in {runs}.{hint}")

    def study(self) -> Study:
        """The study as it was resolved when the run started."""
        path = self.folder / STUDY_FILE
        try:
            with SaidAs(StoreError, f"{path}: cannot read the run's study"):
                return _parsed(text_of(path), str(path), is_stored=True)
        except StudyError as error:
            raise StoreError(f"{error} The run's study was changed by something else.") from None

    def overrides(self) -> dict[str, Any]:
        """What the command line changed of the study file when the run started, by name or key
        path."""
        return self._facts(OVERRIDES_FILE)

    def check_same_study(self, study: Study) -> None:
        """Raise StoreError, with the difference, unless the study is the one the run started with.

        When it ends may differ: each batch records the rule in force. The run keeps its unit, and
        a goal that was not asked for.
        """
        before, after = (_without_end(spec) for spec in (self.study(), study))
        kept = {"unit"} if study.response.goal_from == "asked" else {"unit", "goal", "goal_from"}
        own = before.response.model_dump(include=kept)
        after = after.model_copy(update={"response": after.response.model_copy(update=own)})
        if before == after:
            return  # writing both takes as long as twenty trials
        was, now = (dump_study(spec).splitlines() for spec in (before, after))
        ours = f"the run's {STUDY_FILE}"
        if lines := [*difflib.unified_diff(was, now, ours, "now", lineterm="", n=1)]:
            raise StoreError(
                f"The study was changed since run {self.run_id} started, so the run cannot be "
                f"continued:\n" + "\n".join(lines) + "\nUndo the change, or start a new run."
            )

    def lock(self) -> AbstractContextManager[None]:
        """Hold the run for writing; a second process is refused, a dead one's lock is gone with
        it."""
        return held(self.folder / LOCK_FILE, self.run_id)

    def discard(self) -> None:
        """Remove a run that holds no trial, as if it had not been started."""
        if not self.journal_file.exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                self.folder.parent.rmdir()

    def check_not_pruned(self) -> None:
        """Raise StoreError where the trials were removed and the verdict is kept."""
        if (self.folder / VERDICT_FILE).exists() and not self.journal_file.exists():
            raise StoreError(
                f"The trials of run {self.run_id} were removed by `--prune`; what it said stands "
                f"in `deadzone history {self.folder.parent.name}`."
            )

    def writer(self) -> int | None:
        """Process that holds the run for writing; None where none does, or it is not known."""
        return holder_of(self.folder / LOCK_FILE)

    def is_held(self) -> bool:
        """Whether a process holds the run for writing."""
        return is_held(self.folder / LOCK_FILE)

    def append(
        self,
        record: dict[str, Any],
        samples: Sequence[Sample] = (),
        histograms: Sequence[HistogramSlice] = (),
        profiles: Sequence[ProfileFile] = (),
    ) -> None:
        """Add a finished trial to the journal, its time series and histograms beside it, its
        profiles as files."""
        of = {"trial": record["trial"], "attempt": record["attempt"]}
        for name, key, rows in (
            (TELEMETRY_JOURNAL_FILE, "samples", samples),
            (HISTOGRAM_JOURNAL_FILE, "histograms", histograms),
        ):
            if rows:
                self._journal(name).append({**of, key: [[*vars(row).values()] for row in rows]})
        kept = {"profiles": self._keep(record, profiles)} if profiles else {}
        self._journal(JOURNAL_FILE).append({**record, **kept})

    def _journal(self, name: str) -> Journal:
        """A journal of the run, opened once: whatever a kill left torn is cut off then."""
        if name not in self._journals:
            self._journals[name] = Journal(self.folder / name, durable=name == JOURNAL_FILE)
        return self._journals[name]

    def _keep(self, record: Mapping[str, Any], profiles: Sequence[ProfileFile]) -> dict[str, str]:
        """Write the profiles of a trial; by kind, the name of the file within the run's folder."""
        again = "" if record["attempt"] == 1 else f".{record['attempt']}"
        trial = f"{record['trial']}{again}"
        names = {
            profile.kind: f"{PROFILES_FOLDER}/{trial}-{profile.kind}.{profile.ending}"
            for profile in profiles
        }
        with SaidAs(StoreError, f"{self.folder / PROFILES_FOLDER}: cannot be made"):
            (self.folder / PROFILES_FOLDER).mkdir(exist_ok=True)
        for profile in profiles:
            self._write(names[profile.kind], profile.content)
        return names

    def each_record(self) -> Iterator[dict[str, Any]]:
        """The journal's records, one at a time: one for each attempt at a trial, in the order they
        ended."""
        return each_attempt(self.journal_file)

    def records(self) -> list[dict[str, Any]]:
        """The journal's records, all of them."""
        return [*self.each_record()]

    def finished(self) -> set[int]:
        """Numbers of the trials that need no further attempt."""
        return finished_trials(self.each_record())

    def trials(self) -> pd.DataFrame:
        """The tidy table, one row an attempt at a trial, made from the journal."""
        return whole(self._pieces(TRIALS_FILE))

    def telemetry(self) -> pd.DataFrame:
        """Time series in long format: run_id, trial, attempt, t_s, metric, value."""
        return whole(self._pieces(TELEMETRY_FILE))

    def histograms(self) -> pd.DataFrame:
        """Latencies of the trials as histograms of a second each: see `deadzone.store.histograms`.
        Often empty."""
        return whole(self._pieces(HISTOGRAM_FILE))

    def _pieces(self, name: str) -> Iterator[pd.DataFrame]:
        """The table of a file of the run, made from the journals piece by piece."""
        if name == TRIALS_FILE:
            return tidy_pieces(self.each_record, self.run_id, self.study().factor_names())
        journal, form, key, kind = LONG_TABLES[name]
        attempts = ((record["trial"], record["attempt"]) for record in self.each_record())
        records = last_records(self.folder / journal, form, attempts)
        return long_pieces(records, self.run_id, key, kind)

    def append_batch(self, record: dict[str, Any]) -> None:
        """Record which trials come next and why, or why there are none, before the first of them
        starts."""
        Journal(self.folder / BATCHES_FILE).append(record)

    def batches(self) -> list[dict[str, Any]]:
        """The batches of an adaptive sweep: batch, trials, gain, reason, until, budget_s; and its
        end: stopped, open."""
        return [*each_line(self.folder / BATCHES_FILE, BATCH)]

    def ending(self) -> list[str]:
        """Why a sweep ended before its plan did, and what was open, in the language spoken; nothing
        of a whole one."""
        batches = self.batches()
        if not batches or "stopped" not in batches[-1]:
            return []
        why = batches[-1]["stopped"]
        is_spent = isinstance(why, dict) and why.get("reason") == "budget_spent"
        if is_spent and why["n"] < len(self.finished()):
            return []  # a grid that went on
        questions = map(reason_of, batches[-1]["open"])
        still_open = (reason("still_open", question=question) for question in questions)
        return [reason_of(batches[-1]["stopped"]), *still_open]

    def claims(self) -> list[tuple[ClaimSpec, str]]:
        """Every claim on the run, and when it was made if that was after measuring (ISO 8601; else
        empty)."""
        before = [(claim, "") for claim in claims_of_study(self.study())]
        path = self.folder / CLAIMS_FILE
        try:
            later = (yaml_in(path) if path.exists() else None) or []
            return before + [
                (ClaimSpec.model_validate(entry["claim"]), str(entry["added_at"]))
                for entry in later
            ]
        except StudyError as error:
            raise StoreError(str(error)) from error
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(f"{path}: cannot be read: {error}.") from error

    def add_claims(self, claims: Sequence[ClaimSpec]) -> None:
        """Keep claims that are made now, stamped with the time.

        Raises StudyError for claims that the run cannot test, and StoreError if they cannot be
        written.
        """
        if not claims:
            return
        study, columns = self.study(), [str(name) for name in self.trials().columns]
        made = self.claims()
        every = [*(claim for claim, _ in made), *claims]
        check_claims(every, levels_of(study), study.knob_name, columns)
        added_at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        made += [(claim, added_at) for claim in claims]
        document = [{"added_at": when, "claim": claim.stated()} for claim, when in made if when]
        self._write(CLAIMS_FILE, dump_document(document))

    def write_tables(self) -> None:
        """Write the tables from the journals, in pieces: see `deadzone.store.table`. Raises
        StoreError if they cannot be written."""
        has_histograms = (self.folder / HISTOGRAM_JOURNAL_FILE).exists()
        for name in (TRIALS_FILE, TELEMETRY_FILE, HISTOGRAM_FILE)[: 3 if has_histograms else 2]:
            with SaidAs(StoreError, f"{self.folder / name}: cannot be written"):
                write_pieces(self._pieces(name), self.folder / name)

    def provenance(self) -> dict[str, Any]:
        """The circumstances of the run; empty before the first trial."""
        return self._facts(PROVENANCE_FILE)

    def _facts(self, name: str) -> dict[str, Any]:
        """A file of JSON of the run; empty where there is none."""
        path = self.folder / name
        with SaidAs(StoreError, f"{path}: cannot be read"):
            return (
                FACTS.read(bytes_of(path), f"{path}: cannot be read: it") if path.exists() else {}
            )

    def write_provenance(self, facts: dict[str, Any]) -> None:
        """Write the circumstances of the run; those of earlier parts of a resumed run are kept
        beside them."""
        earlier = self.provenance()
        resumed = [*earlier.pop("earlier_parts", []), earlier] if earlier else []
        self._write_json(PROVENANCE_FILE, {**facts, "earlier_parts": resumed} if resumed else facts)

    def verdict(self) -> dict[str, Any]:
        """What the run said when it ended; empty where that was not kept."""
        return self._facts(VERDICT_FILE)

    def write_verdict(self, verdict: Mapping[str, Any]) -> None:
        """Keep what the run says."""
        self._write_json(VERDICT_FILE, verdict)

    def note_notebook(self, path: Path, home: Path) -> None:
        """Note in the provenance which notebook analyses the run, from home where it lies in it;
        nothing where there is none yet, or it cannot be written."""
        facts = self.provenance()
        noted = {**facts, "notebook": notebook_facts(path.resolve(), home.resolve())}
        if facts and noted != facts:
            with contextlib.suppress(StoreError):  # a run in a read-only place is published, too
                self._write_json(PROVENANCE_FILE, noted)

    def _write_json(self, name: str, facts: Mapping[str, Any]) -> None:
        self._write(name, json.dumps(facts, indent=1, ensure_ascii=False, default=str) + "\n")

    def _write(self, name: str, content: str | bytes) -> None:
        """Write a file of the run, whole or not at all."""
        path = self.folder / name
        with SaidAs(StoreError, f"{path}: cannot be written"), written_whole(path) as draft:
            draft.write_bytes(content.encode() if isinstance(content, str) else content)


_parsed = lru_cache(maxsize=16)(parse_study)
"""A study does not change, and one command asks several times for that of its run."""


def _without_end(study: Study) -> Study:
    """The study without what says when its sweep ends, what it does about changes by others, and
    how the warm-up of a run begins, which its plan holds to."""
    design = study.design.model_copy(update={"until": None, "budget_s": None, "rehearsal": None})
    target = study.target.model_copy(update={"on_change": "stop"})
    return study.model_copy(update={"design": design, "target": target})


def finished_trials(records: Iterable[dict[str, Any]]) -> set[int]:
    """Trials whose last attempt is final: all but those marked to be tried again, and those
    lost."""
    last = {record["trial"]: record["final"] and record["status"] != "lost" for record in records}
    return {trial for trial, is_final in last.items() if is_final}


def list_runs(runs: Path, study: str | None = None) -> list[RunFolder]:
    """Runs in a folder, oldest first."""
    folders = (path.parent for path in runs.glob(f"*/*/{STUDY_FILE}"))
    ours = (folder for folder in folders if study in (None, folder.parent.name))
    return [RunFolder(folder) for folder in sorted(ours, key=_began)]


def _began(folder: Path) -> tuple[str, str]:
    """When a run began: by its id, else by its provenance, else by the file of its study."""
    if OWN_ID.fullmatch(folder.name):
        return folder.name, ""
    with contextlib.suppress(StoreError, KeyError, ValueError):  # a copy has the time of copying
        facts = RunFolder(folder).provenance()
        first = [*facts.get("earlier_parts", ()), facts][0]["recorded_at"]
        return f"{datetime.fromisoformat(first):%Y%m%dT%H%M%SZ}", folder.name
    written = datetime.fromtimestamp((folder / STUDY_FILE).stat().st_mtime, UTC)
    return f"{written:%Y%m%dT%H%M%SZ}", folder.name
