"""`sweep`: measure a study, or a command or a function over the levels of its parameters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from deadzone import places
from deadzone.errors import StudyError, check_known, check_type
from deadzone.run.sweep.progress import Progress, progress_on
from deadzone.store.provenance import usable_cores
from deadzone.store.run import RunFolder
from deadzone.study.coresident_specs import LIMITS
from deadzone.study.loading import parse_study
from deadzone.study.plan import Plan
from deadzone.study.scales import level_name
from deadzone.study.spec import Study
from deadzone.study.trying import OPTIONS, slug, study_of_line
from deadzone.verbs.studies import changed_by, load_study

if TYPE_CHECKING:
    import pandas as pd

    from deadzone.verbs.run import Run

Levels = Mapping[str, Sequence[Any] | str]


def sweep(
    source: Study | str | Path | Mapping[str, Any] | Sequence[str] | Callable[..., Any],
    levels: Levels | None = None,
    *,
    replicates: int | None = None,
    warmup: int | None = None,
    response: str | None = None,
    goal: str | None = None,
    timeout_s: float | None = None,
    adaptive: bool = False,
    name: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    run_id: str | None = None,
    resume: str | None = None,
    quiet: bool = False,
    **design: Any,
) -> "Run":
    """Measure every trial of a study, of a command, or of a Python function over the levels of its
    parameters.

    source: a study (its path, name, YAML text or mapping); a command as a list, in which `{name}`
    stands for a level; or a function, which takes levels as keyword arguments. Each trial of a
    function is a fresh interpreter that receives it by value (cloudpickle): wall_s, CPU and
    throttling count the call alone, setup_s is the time before it. A number that it returns is the
    column `result`, a dict of numbers its keys; one that raises is a failed trial with its
    traceback. levels: of a command or function, by name: a list, or a range such as "1..32", of
    which 8 to 12 are chosen; cpu_limit [cores], memory_limit [bytes, or "256MiB"] and, of a
    function, limits of I/O are put in force and are no arguments. replicates, warmup: trials of
    each treatment, measured (5) and before (1) [count]. response, goal: the column that is judged,
    by default wall_s, and which way is better, min or max. timeout_s: longest time of a trial [s].
    adaptive: measure the levels that tell most for their time. name: of the study that is made.
    overrides: values of the study to replace, as for `load_study`. run_id: name of the new run, by
    default made of the time. resume: an interrupted run to go on with. quiet: show no progress.
    design: further overrides as keywords; of a command, the other options of `deadzone try`: setup,
    prepare, cleanup, shell, output, budget, resolution, role, ...

    Ctrl-C keeps what was measured; `resume` goes on.

    Raises StudyError for what cannot be meant, WorkloadError for a program that is missing,
    SweepError where trials keep failing, TargetError where limits cannot be put in force.

    >>> def work(n):
    ...     return sum(range(n))
    >>> run = sweep(work, {"n": [1000, 2000]}, replicates=2, quiet=True)  # doctest: +SKIP
    >>> run.trials[["n", "wall_s", "setup_s", "result"]]  # doctest: +SKIP
    >>> sweep(["xz", "-T{threads}", "-k", "-f", "input"], {"threads": [1, 2, 4]}).recommend()  # doctest: +SKIP
    """  # noqa: E501
    from deadzone.run.sweep.opening import OpenRun, open_run, planned

    _check_levels(levels)
    asked = {"replicates": replicates, "warmup": warmup, "timeout_s": timeout_s}
    design |= {key: value for key, value in asked.items() if value is not None}
    design = changed_by(overrides, design)
    named = {"name": name, "response": response, "goal": goal}
    chosen = {"design.kind": "adaptive"} if adaptive else {}
    study: Study | None = source if isinstance(source, Study) else None
    if callable(source):
        from deadzone.verbs.functions import study_of

        study = study_of(source, levels or {}, **named, changed=design | chosen)
    elif levels is not None:
        study = _study_of_command(source, levels, {**named, "adaptive": adaptive, **design})
    else:
        design |= chosen
        if study and (given := [*design, *(key for key, one in named.items() if one)]):
            raise StudyError(
                f"The study is loaded already: give {', '.join(given)} to `dz.load_study`, or "
                "the name of the study here."
            )
        if response and response != load_study(cast("Any", source), design).response.name:
            better = {"goal": goal} if goal else {}
            design["response"] = {"name": response, **better}  # with its own direction
        elif goal:
            design["response.goal"] = goal
        design |= {"study": slug(name)} if name else {}
    if study is None and isinstance(source, str | Path) and "\n" not in str(source):
        opened = open_run(str(source), design, resume=resume, run_id=run_id)
    else:
        study = study or load_study(cast("Any", source), design)
        plan, runs = planned(study, Path.cwd()), places.runs_folder()
        resume = f"{plan.study.study}/latest" if resume == "latest" else resume
        run = RunFolder.find(runs, resume) if resume else RunFolder.create(runs, plan.study, run_id)
        opened = OpenRun(plan, run)
    measure(opened.plan, opened.run, Progress() if quiet else progress_on())
    from deadzone.verbs.run import Run  # what analyses is loaded when something is analysed

    return Run(opened.run.folder)


def _check_levels(levels: Any) -> None:
    if levels is not None:
        check_type(StudyError, levels, Mapping, "A mapping such as {'threads': [1, 2, 4]}")
        for name, known in levels.items():
            check_type(StudyError, known, Iterable, f"A list of levels of {name!r}")


def measure(plan: Plan, run: RunFolder, progress: Progress) -> None:
    """Measure what a run lacks of its plan, rehearsed first; what judges or proposes trials is
    loaded where it does."""
    from deadzone.run.sweep.proposed import trials_of
    from deadzone.run.sweep.running import run_sweep

    def judge() -> Callable[["pd.DataFrame"], Sequence[Any]]:
        from deadzone.analysis.findings.rehearsing import judge_of

        return judge_of(plan)

    proposer = None
    if plan.is_adaptive:
        from deadzone.analysis.adaptive.slices import proposer_of

        proposer = proposer_of(plan)
    run_sweep(plan, run, progress, trials_of(plan, proposer, progress), judge)


def _study_of_command(command: Any, levels: Levels, design: dict[str, Any]) -> Study:
    if isinstance(command, str) or not isinstance(command, Sequence):
        raise StudyError(
            "Levels belong to a command as a list, such as ['xz', '-T{threads}', 'input']."
        )
    paths = {name: value for name, value in design.items() if "." in name}
    design = {name: value for name, value in design.items() if name not in paths}
    for name in design:
        check_known(StudyError, f"A command has no option {name!r}", name, OPTIONS, "Options are")
    for name in ("setup", "prepare", "cleanup", "shell"):
        check_type(StudyError, design.get(name) or "", str, f"{name}, a line as text,")
    for name in ("belongs", "sentences"):
        check_type(StudyError, design.get(name) or [], list | tuple, f"{name}, a list of texts,")
    words = tuple(map(str, command))
    texts = {name: _text_of(name, known) for name, known in levels.items()}
    own = [name for name in LIMITS if name in texts and f"{{{name}}}" not in words]
    limits = {name: texts.pop(name) for name in own}
    asked = {**design, **limits, "lists": [*texts.items()]}
    return parse_study(study_of_line(words, asked, usable_cores()), "", paths)


def _text_of(name: str, levels: Sequence[Any] | str) -> str:
    """Levels as they are typed after `-L`. Raises StudyError for one that is none."""
    if isinstance(levels, str):
        return levels
    from deadzone.verbs.functions import written_level

    written = (level_name(written_level(name, level)) for level in levels)
    return ",".join(level.replace(",", "\\,") for level in written)
