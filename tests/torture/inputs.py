"""Input as no program writes it: what every command that reads something makes of it, one case
after another."""

import contextlib
import gzip
import io
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from disturbance import NO_DOUBTS
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from store.imports.test_document import SAMPLES

from deadzone.cli.main import commands
from deadzone.errors import DeadzoneError
from deadzone.run.targets.interrupts import INTERRUPTS
from torture.counting import difference, runs_in
from torture.mutations import TEXTS, VALUES, Draw, damaged, put
from torture.scene import a_number

ROOT = Path(__file__).parents[2]
STUDIES = sorted((ROOT / "notebooks" / "studies").rglob("*.yaml"))
TABLES = sorted((ROOT / "data" / "reference").rglob("*.csv"))
A_TABLE = ROOT / "data" / "reference" / "ffmpeg-threads" / "limit-equals-threads.csv"
RESULTS = ROOT / "tests" / "data" / "imports"
PROFILES = sorted((ROOT / "tests" / "data" / "profiles").glob("*.pb.gz"))

MOST_S = 2.0
"""CPU time that a command may take for any input [s]; wall time is also the neighbours'."""

MOST_BYTES = 500_000_000
"""Memory that a command may take; what the process held before is not its."""

MOST_ADDRESSED_BYTES = 4 * 2**30
"""A process that wants more is told that there is none, long before the machine has none."""

HANGS_S = 60
"""What has not ended by then hangs [s]."""

DOCUMENTED = {0, 2, 3, 4, 5, 7, 8, 9}

ESCAPES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys; of Deadzone's own there is none where it prints to no terminal."""

BATCH = 200
"""Cases of one process: what one leaves ends with it, and the seed of one that crashed is known."""


class Found(Exception):
    """What a command did that it may never do, whatever it was given."""


@dataclass(frozen=True)
class Said:
    """What a command printed, and the code it ended with."""

    code: int
    out: str
    err: str


@contextlib.contextmanager
def watched(most_s: float | None = None) -> Iterator[None]:
    """Inside this context CPU time, MOST_S by default, and memory are limited. Raises Found where
    one is exceeded."""

    def hangs(number: int, frame: Any) -> None:
        raise Found(f"it hangs: more than {HANGS_S} s")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(HANGS_S)
    Path("/proc/self/clear_refs").write_text("5")  # the peak of memory begins anew
    held_bytes = peak_bytes()
    began_s = time.process_time()
    try:
        yield
    finally:
        took_s = time.process_time() - began_s
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    if took_s > (most_s or MOST_S):
        raise Found(f"it took {took_s:.1f} s of CPU time")
    if (took_bytes := peak_bytes() - held_bytes) > MOST_BYTES:
        raise Found(f"it took {took_bytes / 1e6:.0f} MB of memory")


def peak_bytes() -> int:
    """The most memory since it was last asked to begin anew."""
    text = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", text)[1]) * 1024  # type: ignore[index]


def said_by(*arguments: str) -> Said:
    """The command `deadzone`, in this process, with the time and memory that any input may take.

    Raises Found for what it may never do, and whatever escapes it.
    """
    with watched():
        return called(*arguments)


def called(*arguments: str) -> Said:
    """The command `deadzone`, in this process; of signals it heeds nothing longer than that."""
    from deadzone.cli.main import main

    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=how)
        for how in ("strict", "backslashreplace")
    )
    sys.argv = ["deadzone", *arguments]
    code = 0
    handlers = {number: signal.getsignal(number) for number in INTERRUPTS}
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    printed = []
    for stream in (out, err):
        stream.flush()
        printed.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Said(code, *printed)


def check(said: Said, codes: frozenset[int] | set[int] = DOCUMENTED) -> None:
    """A documented exit code, a sentence where it is not 0 whose last one has something to type, no
    traceback, nothing that a terminal obeys."""
    if said.code not in codes:
        raise Found(f"exit code {said.code}: {said.err}")
    if "Traceback" in said.err or "Exception ignored" in said.err:
        raise Found(f"a traceback: {said.err}")
    if said.code in (2, 3, 4):
        if not any(line.startswith("deadzone: ") for line in said.err.splitlines()):
            raise Found(f"exit code {said.code} without a sentence: {said.err!r}")
        if "`" not in re.split(r"(?<=[.?!])\s", said.err.strip())[-1]:
            raise Found(f"no way out: {said.err!r}")
    if said.code and (found := ESCAPES.search(said.err)):
        near = said.err[max(found.start() - 30, 0) : found.end() + 30]
        raise Found(f"stderr holds what a terminal obeys: {near!r}")


def a_study(draw: Draw, folder: Path) -> None:
    path = draw(st.sampled_from(STUDIES))
    file = folder / "study.yaml"
    put(draw, file, damaged(draw, path.read_bytes()))
    check(said_by("sweep", str(file), "--dry-run", *draw(st.sampled_from([(), ("--json",)]))))


def a_parameter(draw: Draw, folder: Path) -> None:
    """A value of a study, set on the command line or in a file."""
    study = draw(st.sampled_from(STUDIES))
    names = ["replicates", "threads", "cpu_limit", "design"]
    names += ["workload.argv", "factors", "response.goal", "claims"]
    name = draw(st.sampled_from([*names, *TEXTS]))
    value = draw(VALUES)
    if draw(st.booleans()):
        file = folder / "parameters.yaml"
        put(draw, file, damaged(draw, yaml.safe_dump({name: _dumpable(value)}).encode()))
        given_them = ("-f", str(file))
    else:
        text = yaml.safe_dump(_dumpable(value), default_flow_style=True)
        given_them = ("-p", _argument(name), _argument(text))
    check(said_by("sweep", str(study), "--dry-run", *given_them))


def a_table(draw: Draw, folder: Path) -> None:
    path = draw(st.sampled_from(TABLES))
    columns = pd.read_csv(path, nrows=1).columns.tolist()
    if draw(st.integers(0, 4)):
        file = folder / "table.csv"
        content = damaged(draw, path.read_bytes())
        put(draw, file, content)
        first = content.split(b"\n", 1)[0].decode(errors="replace")
        columns += [one for one in first.split(",") if "\0" not in one]
    else:
        file = folder / "table.parquet"
        content = pd.read_csv(path).to_parquet()
        put(draw, file, damaged(draw, content) if draw(st.booleans()) else _odd_cells(draw, path))
    knob, response = (_argument(str(draw(st.sampled_from(columns)))) for _ in range(2))
    by = ("--by", _argument(columns[0]))
    options = [(), ("--json",), ("--goal", "max"), by, ("--scale", "interval")]
    more = draw(st.sampled_from(options))
    if draw(st.integers(0, 5)):
        check(said_by("fit", str(file), f"--knob={knob}", f"--response={response}", *more))
    else:
        check(said_by("compare", str(path), str(file), f"--response={response}"))


def _odd_cells(draw: Draw, path: Path) -> bytes:
    """A table of Parquet of which some cells are anything that the format can hold."""
    table = pd.read_csv(path).astype(object)
    for _ in range(draw(st.integers(1, 4))):
        row, column = draw(st.integers(0, len(table) - 1)), draw(st.integers(0, table.shape[1] - 1))
        odd = [None, *TEXTS, 1e308, float("inf"), -1, 0, 5e-324]
        table.iat[row, column] = draw(st.sampled_from(odd))
    table = table.astype({name: str for name in table if draw(st.booleans())})
    return bytes(table.map(lambda cell: None if cell is None else str(cell)).to_parquet())


def a_result(draw: Draw, folder: Path) -> None:
    """A file of another tool, of one test or of several; each run in it is in a row or said."""
    tool, name = draw(st.sampled_from(SAMPLES))
    file = folder / name
    sample = (RESULTS / name).read_bytes()
    content = damaged(draw, sample * draw(st.sampled_from([1, 1, 2, 3])))
    put(draw, file, content)
    written = [("-o", str(folder / name)) for name in ("out.csv", "out.parquet")]
    more = draw(st.sampled_from([(), ("--json",), *written]))
    said = said_by("import", tool, str(file), *more)
    check(said)
    if said.code in (0, 9) and file.is_file() and file.read_bytes() == content:
        count = runs_in(tool, name, content, sample)
        if count and (missing := difference(count, _rows_out(said, more), said.err + said.out)):
            raise Found(missing)


def _rows_out(said: Said, more: tuple[str, ...]) -> pd.DataFrame:
    """The table that `deadzone import` wrote."""
    if "--json" in more:
        return pd.DataFrame(json.loads(said.out)["rows"])
    if more:
        path = Path(more[-1])
        return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    return pd.read_csv(io.StringIO(said.out))


def a_profile(draw: Draw, folder: Path) -> None:
    """Of pprof, zipped or plain, or of folded stacks."""
    one, other = (draw(st.sampled_from(PROFILES)) for _ in range(2))
    content = one.read_bytes()
    match draw(st.sampled_from(["zipped", "damaged, then zipped", "plain", "folded"])):
        case "zipped":
            content = damaged(draw, content)
        case "damaged, then zipped":
            content = gzip.compress(_protobuf_damaged(draw, gzip.decompress(content)))
        case "plain":
            content = _protobuf_damaged(draw, gzip.decompress(content))
        case _:
            content = damaged(draw, b"main;work;inner 40\nmain;work 2\nmain;wait 7\n")
    file = folder / "profile"
    put(draw, file, content)
    sides = draw(st.permutations([str(file), str(other if draw(st.booleans()) else file)]))
    figures = ("--figures", str(folder / "figures"))
    more = draw(st.sampled_from([(), (), ("--json",), figures, ("--per", "second")]))
    check(said_by("profile", *sides, *more))


def _protobuf_damaged(draw: Draw, content: bytes) -> bytes:
    """Bytes here and there are others: most of a message can still be read then."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        changed[draw(st.integers(0, len(changed) - 1))] = draw(st.integers(0, 255))
    return bytes(changed)


@dataclass
class Repository:
    """One with runs that nothing has happened to yet, of all kinds of journals."""

    folder: Path
    runs: Mapping[str, Path] = field(default_factory=dict)


@cache
def repository() -> Repository:
    """Measured once a process."""
    folder = Path(tempfile.mkdtemp(prefix="torture-inputs-"))
    (folder / "notebooks" / "studies").mkdir(parents=True)
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, folder / "notebooks")
    os.environ |= {
        "DEADZONE_HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "KUBECONFIG": "/nonexistent",
    }
    grid: dict[str, Any] = {
        "study": "grid",
        "workload": a_number("sleep 0.00{threads}; echo {threads}"),
        "factors": {"threads": [1, 2, 3, 4]},
        "design": {"replicates": 3, "warmup": 1, "timeout_s": 30, "seed": 1},
        "trust": NO_DOUBTS,
    }
    adaptive = {**grid, "study": "adaptive", "design": {**grid["design"], "kind": "adaptive"}}
    program = str(Path(__file__).with_name("server.py"))
    server = ["{python}", "-I", "-S", program, "{port}", "{scratch}"]
    asked = {"kind": "load", "url": "{service_url}/{threads}", "rate": 50, "duration_s": 0.3}
    load = {
        **grid, "study": "load", "service": {"argv": server, "stop_timeout_s": 0.2},
        "workload": asked, "response": {"name": "latency_p50_ms"}, "factors": {"threads": [1, 2]},
        "design": {**grid["design"], "replicates": 2, "warmup": 0},
    }  # fmt: skip
    runs = {}
    for study in (grid, adaptive, load):
        file = folder / "notebooks" / "studies" / f"{study['study']}.yaml"
        file.write_text(yaml.safe_dump(study))
        said = called("sweep", str(file))
        assert not said.code, said.err
        name = str(study["study"])
        runs[name] = next((folder / "data" / "runs" / name).iterdir())
        called("claims", str(runs[name]), "--add", "threads 2 is best")
    return Repository(folder, runs)


def _damaged_run(draw: Draw, folder: Path, name: str, most: int) -> Path:
    """A copy of a run of which up to so many files were changed by other hands."""
    whole, run = repository().runs[name], folder / "run"
    shutil.copytree(whole, run)
    files = sorted(path.name for path in whole.iterdir() if path.is_file() and path.name != "lock")
    for _ in range(draw(st.integers(1, most))):
        file = run / draw(st.sampled_from(files))
        put(draw, file, damaged(draw, (whole / file.name).read_bytes()))
    return run


def a_run(draw: Draw, folder: Path) -> None:
    """A run of which a file or two were changed by other hands."""
    name = draw(st.sampled_from(["grid", "grid", "adaptive", "load"]))
    run, other = str(_damaged_run(draw, folder, name, 2)), str(repository().runs[name])
    commands: list[tuple[str, ...]] = [
        *(("recommend", run), ("recommend", run, "--json"), ("claims", run)),
        ("claims", run, "--add", "threads 1 is best"),
        *(("compare", run, other), ("compare", other, run), ("export", run)),
        *(("export", run, "--json"), ("attribute", run)),
        ("fit", f"{run}/trials.parquet", "--knob", "threads", "--response", "wall_s"),
    ]
    check(said_by(*draw(st.sampled_from(commands))))


def a_run_to_resume(draw: Draw, folder: Path) -> None:
    """A run that was changed by other hands and is to be gone on with."""
    name = draw(st.sampled_from(["grid", "adaptive"]))
    run = _damaged_run(draw, folder, name, 1)
    study = repository().folder / "notebooks" / "studies" / f"{name}.yaml"
    check(said_by("sweep", str(study), "--resume", str(run)))


def a_notebook_parameter(draw: Draw, folder: Path) -> None:
    """Any parameter of the notebook `phases`, on a run or a table, its cells executed one after the
    other."""
    names = [
        "knob", "response", "goal", "by", "within", "tolerance", "price", "cost", "lang",
        "further", "run", "table",
    ]  # fmt: skip
    words = ["threads", "wall_s", "n", "max", "user_s", "threads * wall_s", "1/0", "ko"]
    values = VALUES | st.sampled_from([*words, ["threads 2 is best"], 0.05, 1.5])
    asked = {draw(st.sampled_from(names)): draw(values) for _ in range(draw(st.integers(1, 2)))}
    whole = {"run": str(repository().runs["grid"])} if draw(st.booleans()) else {
        "table": str(A_TABLE), "knob": "cpu_limit", "response": "wall_s",
    }  # fmt: skip
    error = executed("phases", {**whole, **asked})
    if error and not isinstance(error, DeadzoneError):
        raise error


def executed(notebook: str, parameters: Mapping[str, Any]) -> BaseException | None:
    """What ended a notebook that was given parameters, checked and written down as `report -p`
    does; its kernel is this process."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from papermill.translators import PythonTranslator

    from deadzone.report.document.execution import _refuse_unknown

    path = ROOT / "notebooks" / f"{notebook}.ipynb"
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]
    try:
        _refuse_unknown(path, parameters)
    except DeadzoneError as error:
        return error
    sources.insert(1, PythonTranslator.codify(dict(parameters)))
    shell = InteractiveShell.instance()
    shell.reset()
    with watched(most_s=HANGS_S), capture_output():  # figures, and fits of every slice
        for source in sources:
            result = shell.run_cell(source)
            if error := result.error_before_exec or result.error_in_exec:
                return error  # type: ignore[no-any-return]
    return None


def _argument(text: str) -> str:
    """A word of a command line: the system takes no NUL, and no more than 128 KB."""
    return text.replace("\0", "")[:100_000]


def _dumpable(value: Any) -> Any:
    """A value that YAML can write down: no text of half a character."""
    try:
        yaml.safe_dump(value, allow_unicode=True).encode()
    except (UnicodeEncodeError, yaml.YAMLError):
        return "x"
    return value


KINDS: dict[str, Callable[[Draw, Path], None]] = {
    "study": a_study, "parameter": a_parameter, "table": a_table, "result": a_result,
    "profile": a_profile, "run": a_run, "run to resume": a_run_to_resume,
    "notebook parameter": a_notebook_parameter,
}  # fmt: skip
"""What is bad, and who reads it."""

NEEDS_RUNS = {"run", "run to resume", "notebook parameter"}


@dataclass
class Tried:
    """How many cases there were, and of each defect the first, by where it shows."""

    cases: int = 0
    found: dict[str, str] = field(default_factory=dict)


def _where(error: BaseException) -> str:
    """The innermost line of Deadzone that an error went through, with its kind; of a find, its
    words without figures."""
    if isinstance(error, Found):
        return re.sub(r"[\d.]+|'.*", "#", str(error).splitlines()[0])[:80]
    stack = traceback.extract_tb(error.__traceback__)
    ours = [one for one in stack if "/deadzone/" in one.filename]
    if not ours:
        return repr(error)
    file = ours[-1].filename.rpartition("/deadzone/")[2]
    return f"{type(error).__name__} at {file}:{ours[-1].lineno}"


def _batch(kind: str, seed_: str, cases: int, kept: Path) -> Tried:
    """Cases drawn from a seed, in this process; the files of each new find stay."""
    tried = Tried()
    folder = Path(tempfile.mkdtemp(prefix="torture-"))

    @seed(seed_)
    @settings(
        max_examples=cases,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def case(data: st.DataObject) -> None:
        at = folder / "case"
        shutil.rmtree(at, ignore_errors=True)
        at.mkdir()
        tried.cases += 1
        try:
            KINDS[kind](partial(data.draw), at)
        except (Exception, Found) as error:
            if type(error).__module__.startswith("hypothesis"):
                raise
            where = _where(error)
            if where not in tried.found:
                slug = f"{kind}-{seed_}-{len(tried.found)}"
                name = kept / re.sub("[ /]", "-", slug)
                shutil.copytree(at, name, symlinks=True)
                told = "".join(traceback.format_exception(error))[-6_000:]
                (name / "command.txt").write_text(f"{sys.argv}\n{told}")
                first = next(iter(str(error).splitlines()), "")[:200]
                tried.found[where] = f"{first} ({sys.argv[1:]})"[:400]

    case()
    shutil.rmtree(folder, ignore_errors=True)
    return tried


@cache
def loaded() -> None:
    """Every library that a command may load, so that no case is said to take the time of that."""
    for name in (
        "matplotlib.pyplot",
        "scipy.stats",
        "pyarrow.parquet",
        *(where.partition(":")[0] for where, _ in commands().values()),
    ):
        import_module(name)
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    called("profile", *map(str, PROFILES[:2]), "--figures", str(folder))
    called("fit", str(A_TABLE), "--knob=cpu_limit", "--response=wall_s")
    shutil.rmtree(folder)


def play(kind: str, seed_: int, number: int, cases: int, kept: Path) -> Tried:
    """One batch of cases in a process of its own, so that even one that crashes is a find."""
    loaded()
    if kind in NEEDS_RUNS:
        repository()
    told = Path(tempfile.mkstemp(prefix="torture-told-")[1])
    child = os.fork()
    if not child:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            limited()
            tried = _batch(kind, f"{seed_}/{number}", cases, kept)
            told.write_text(json.dumps({"cases": tried.cases, "found": tried.found}))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    text = told.read_text()
    told.unlink()
    if status or not text:
        return Tried(0, {f"process ended with {status}": f"seed {seed_}, batch {number} of {kind}"})
    return Tried(**json.loads(text))


def limited() -> None:
    """What grows without end fills neither the disk nor the machine's memory."""
    for name, most in ((resource.RLIMIT_FSIZE, 2**30), (resource.RLIMIT_AS, MOST_ADDRESSED_BYTES)):
        resource.setrlimit(name, (most, resource.getrlimit(name)[1]))
