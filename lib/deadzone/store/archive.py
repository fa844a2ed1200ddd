"""The archive: runs and reports kept beyond this machine, on a volume or an object store, by one
URL.

Any URL that fsspec knows will do: `s3://bucket/prefix`, `gs://...`, `file:///mnt/volume`. Below it
lie `runs/` and `reports/`, as in the repository. Credentials come from the environment, as the
store's own client reads them; a URL that holds some is refused, because URLs are printed and
logged.
"""

import contextlib
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from deadzone.contents import is_draft, written_whole
from deadzone.errors import DeadzoneError, MissingExtraError, StoreError, UnknownRunError
from deadzone.extras import missing_sentence
from deadzone.store.run import LOCK_FILE, STUDY_FILE, RunFolder
from deadzone.study.masking import masked

RUNS, REPORTS = "runs", "reports"

SYNC_PERIOD_S = 30.0
"""A run that is measured is copied this often: an object store takes whole files only, and a
machine that is lost takes no more than this with it."""

LOG_SUFFIX = ".log"
"""A program's own log is masked on its way: while the program runs, the file holds whatever it
says."""

FOR_THE_INDEX = ("report.json", "thumbnail.svg")
"""What the index of all reports is made from."""


PATIENCE_S, SLOWEST_BYTES_PER_S = 90.0, 100_000.0
"""A write may take so long, and its bytes at such a rate besides."""


class ArchiveError(StoreError):
    """An archive cannot be reached, read or written."""


class Archive:
    """Runs and reports below a URL."""

    def __init__(self, url: str) -> None:
        """Open the file system of a URL; nothing is read or written yet.

        Raises ArchiveError if the URL is of an unknown kind, needs a package that is not installed,
        or holds credentials.
        """
        import fsspec

        parts = urlsplit(url)
        if parts.username or parts.password or masked(url) != url:
            raise ArchiveError(
                f"The archive {parts.scheme}://... has credentials in its URL; leave them out and "
                "set them in the environment, as the store's own client reads them (for S3: "
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)."
            )
        self.url = url.rstrip("/")
        try:
            self._files, self._root = fsspec.core.url_to_fs(self.url, skip_instance_cache=True)
        except ImportError as error:
            kept_by = missing_sentence("s3fs") if parts.scheme == "s3" else f"{error}."
            raise MissingExtraError(f"{url}: {kept_by}") from error
        except Exception as error:
            raise ArchiveError(f"{url}: this is no URL of an archive: {_reason(error)}.") from error

    def push(self, folder: Path, name: str, since: float = 0.0) -> None:
        """Copy a folder's files to `name` below the archive; those changed before `since`
        (time.time()) are left out.

        Raises ArchiveError if one cannot be copied.
        """
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and _belongs(path)]
        for path in paths:
            # The run that is copied goes on: an empty log of a service, say, is removed when that
            # stops.
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime >= since:
                    self.push_file(path, f"{name}/{path.relative_to(folder).as_posix()}")

    def push_file(self, path: Path, name: str) -> None:
        """Copy one file to `name` below the archive. Raises ArchiveError if it cannot be copied."""
        target = f"{self._root}/{name}"
        try:
            in_time = self._in_time(path.stat().st_size)
            self._files.makedirs(target.rpartition("/")[0], exist_ok=True, **in_time)
            if path.suffix == LOG_SUFFIX:
                text = path.read_text(encoding="utf-8", errors="replace")
                self._files.pipe_file(target, masked(text).encode(), **in_time)
            else:
                self._files.put_file(str(path), target, **in_time)
        except Exception as error:
            if path.exists() or not isinstance(error, FileNotFoundError):
                raise self._unreachable("written", error) from error

    def _in_time(self, size_bytes: int) -> dict[str, float]:
        """What ends a call of an asynchronous store that never answers: that of S3 tries for
        minutes, and has no time-out of its own where it asks whether it may send a file ("100
        Continue")."""
        return (
            {"timeout": PATIENCE_S + size_bytes / SLOWEST_BYTES_PER_S}
            if self._files.async_impl
            else {}
        )

    def pull(self, name: str, folder: Path, only: tuple[str, ...] = ()) -> int:
        """Copy the files below `name` into a folder; files that are there already stay. Returns how
        many there are.

        only: names of files; all of them by default. Raises ArchiveError if the archive cannot be
        read.
        """
        base = f"{self._root}/{name}"
        try:
            self._files.invalidate_cache()
            paths = [
                path
                for path in self._files.find(base)
                if not only or path.rpartition("/")[2] in only
            ]
            for path in paths:
                inside = Path(path).relative_to(self._files._strip_protocol(base))
                if ".." in inside.parts:  # an object store takes any name
                    raise ValueError(f"it holds the name {path}, which leads out of {folder}")
                target = folder / inside
                if not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with written_whole(target) as draft:
                        self._files.get_file(path, str(draft))
        except FileNotFoundError:
            return 0
        except Exception as error:
            raise self._unreachable("read", error) from error
        return len(paths)

    def runs(self, study: str) -> list[str]:
        """Ids of the archived runs of a study, oldest first. Raises ArchiveError if the archive
        cannot be read."""
        try:
            self._files.invalidate_cache()
            folders = self._files.ls(f"{self._root}/{RUNS}/{study}", detail=False)
        except FileNotFoundError:
            return []
        except Exception as error:
            raise self._unreachable("read", error) from error
        return sorted(str(path).rstrip("/").rpartition("/")[2] for path in folders)

    def pull_run(self, runs: Path, study: str, run_id: str) -> None:
        """Copy a run, or the `latest` of its study, into the folder of runs.

        Raises UnknownRunError if the archive has none, ArchiveError if it cannot be read.
        """
        known = self.runs(study)
        wanted = known[-1] if run_id == "latest" and known else run_id
        if wanted not in known:
            raise UnknownRunError(
                f"{self.url}: the archive has no run {run_id!r} of the study {study}."
            )
        self.pull(f"{RUNS}/{study}/{wanted}", runs / study / wanted)

    def _unreachable(self, how: str, error: Exception) -> ArchiveError:
        return ArchiveError(f"{self.url}: the archive cannot be {how}: {_reason(error)}.")


class ArchivedRun:
    """A run that is being measured, copied to an archive as it grows."""

    def __init__(self, archive: Archive, run: RunFolder) -> None:
        self._archive = archive
        self._run = run
        self._copied_at = time.time()
        self._since = 0.0
        self.problem: str | None = None

    def sync(self) -> None:
        """Copy what is new, at most every SYNC_PERIOD_S; a failure is remembered, for it must not
        stop the measuring."""
        if time.time() - self._copied_at >= SYNC_PERIOD_S:
            try:
                self.copy()
            except DeadzoneError as error:
                self.problem = str(error)

    def copy(self) -> None:
        """Copy what is new. Raises ArchiveError if it cannot be written."""
        self._copied_at = time.time()
        if (self._run.folder / STUDY_FILE).is_file():
            self._archive.push(self._run.folder, name_of(self._run), self._since)
            self._since = self._copied_at
            self.problem = None


def name_of(run: RunFolder) -> str:
    """Where a run lies below an archive."""
    return f"{RUNS}/{run.folder.parent.name}/{run.run_id}"


def _belongs(path: Path) -> bool:
    return path.name != LOCK_FILE and not is_draft(path)


def _reason(error: Any) -> str:
    if isinstance(error, TimeoutError):  # whose words are none
        return "it does not answer"
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")
