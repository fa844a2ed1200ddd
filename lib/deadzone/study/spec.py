"""The study: a question with its workload, target, factors, design, response and goal."""

from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from deadzone import packs
from deadzone.errors import check_known
from deadzone.study.base import COLUMN_PATTERN, NAME_PATTERN, STORED, Spec
from deadzone.study.claims import MOST_CLAIMS, ClaimSpec
from deadzone.study.coresident_specs import CoresidentSpec, each_called_once
from deadzone.study.direction import Goal, GoalFrom, direction_of
from deadzone.study.factors import (
    EqualFactorSpec,
    Factor,
    FactorLevel,
    FactorName,
    LevelsFactorSpec,
    limit_named,
)
from deadzone.study.finding_keys import FINDINGS
from deadzone.study.objective_specs import Column, ObjectiveSpec, check_objectives, in_own_units
from deadzone.study.profile_specs import ProfilesSpec
from deadzone.study.scales import WORDS, scale_of
from deadzone.study.service_specs import (
    ENVIRONMENT,
    EnvironmentName,
    EnvironmentSpec,
    ServiceSpec,
    service_in,
)
from deadzone.study.target_specs import AnyTarget, LocalTargetSpec
from deadzone.study.until_specs import Seconds, UntilSpec
from deadzone.study.workload_spec import CAPACITY, RateSearchSpec, with_unit
from deadzone.study.workload_specs import AnyWorkload

CONVENTIONAL_UNITS = {
    "cpu_limit": "cores",
    "cpu_request": "cores",
    "memory_limit": "bytes",
    "memory_request": "bytes",
    "io_bandwidth_limit": "bytes/s",
    "iops_limit": "1/s",
    "queue_depth": "calls",
    "jobs": "processes",
    "threads": "threads",
    "pool_size": "threads",
    "rate": "requests/s",
    "block_size": "bytes",
}
"""Units of factors, where a study names none."""

MOST_REPLICATES = 1_000
"""More repeats of a treatment than this narrow no interval that anybody acts on."""


Analysis = Literal[
    "phases", "attribution", "load_test", "connections", "profiles", "disk", "search"
]  # fmt: skip
"""The notebooks that can analyse a run, by their names."""

OLD_ANALYSES = {
    "limit_attribution": "attribution",
    "thread_pool": "load_test",
    "profile_diff": "profiles",
    "disk_block_size": "disk",
}
"""What notebooks were called that studies and runs still name."""

TodaysAnalysis = Annotated[
    Analysis,
    BeforeValidator(lambda name: OLD_ANALYSES.get(name, name) if isinstance(name, str) else name),
]


SEARCH_KEYS = ("trials", "along", "gain", "where", "when", "baseline")
"""Of a design, those of a search alone."""


class DesignSpec(Spec):
    """Which treatments, how often, in what order."""

    kind: Literal["factorial", "paired", "list", "adaptive", "search"] = "factorial"
    """factorial: every combination; paired: first with first, second with second; list: as written;
    adaptive: of every combination those that tell most per second; search: of several knobs those
    that lead to the best combination"""

    treatments: tuple[dict[str, FactorLevel], ...] | None = None
    """the treatments of a list design, each {factor: level, ...}"""

    replicates: int = Field(default=5, ge=1, le=MOST_REPLICATES)
    """measured trials a treatment; a search repeats as it needs [count]"""

    warmup: int = Field(default=1, ge=0, le=100)
    """trials of each treatment before the first block, recorded, not analysed; of an adaptive
    design and of a search so many in all"""

    rehearsal: bool | None = None
    """whether warm-up begins with both ends of the range, and what is wrong there is told at once;
    by default it does"""

    seed: int = Field(default=1, ge=0)
    """seed of the run order"""

    timeout_s: float = Field(default=600.0, gt=0)
    """longest time a trial may take [s]"""

    cooldown_s: float = Field(default=0.0, ge=0, le=3600)
    """pause between trials [s]"""

    batch: int = Field(default=3, ge=1, le=100)
    """trials that an adaptive design chooses at once [count]"""

    until: UntilSpec | None = None
    """when an adaptive design knows enough; by default what the keys below it say"""

    budget_s: Seconds | None = Field(default=None, gt=0)
    """time that the trials may take, anew where a run goes on; a grid ends with a whole block,
    unless trials take longer than expected [s]"""

    trials: int | None = Field(default=None, ge=1, le=10_000)
    """trials of a search until it is confirmed, beside the warm-up; 60 by default [count]"""

    along: int | None = Field(default=None, ge=0, le=10_000)
    """most trials after a search along each live knob, the others as set; 24 by default [count]"""

    gain: float | None = Field(default=None, ge=0, lt=1)
    """a search is confirmed once a block is expected to gain less; 0.01 by default [share]"""

    where: str | None = Field(default=None, min_length=1)
    """what combinations of a search have to meet, such as workers * memory_mb <= 8192"""

    when: dict[FactorName, dict[FactorName, FactorLevel | tuple[FactorLevel, ...]]] | None = None
    """by knob of a search, levels of others without which it has no effect and stays as it is"""

    baseline: dict[FactorName, FactorLevel] | None = None
    """the levels in force today, with which a search compares; by default the first of each"""

    def _hangs_together(self) -> None:
        if self.until is not None and self.kind != "adaptive":
            raise ValueError("until is given for kind: adaptive, and only there")
        for name in SEARCH_KEYS:
            if getattr(self, name) is not None and self.kind != "search":
                raise ValueError(f"{name} is given for `kind: search`, and only there")
        if (self.kind == "list") != (self.treatments is not None):
            raise ValueError("treatments are given for kind: list, and only there")


class ResponseSpec(Spec):
    """What is judged, and which way is better."""

    name: str = Field(default="wall_s", pattern=COLUMN_PATTERN)
    """column of the tidy table"""

    unit: str | None = "s"
    """unit of the response, where its name does not say it"""

    goal: Goal = "min"
    """whether smaller or larger is better; by default what the name or the unit says"""

    goal_from: GoalFrom = "asked"
    """how the goal is known; a run keeps it, no study needs it"""

    scale: Literal["ratio", "interval", "count"] | None = None
    """ratio (logarithms; default where all values are positive), interval, or count of events"""

    @model_validator(mode="before")
    @classmethod
    def _goal_by_the_rule(cls, document: Any, info: ValidationInfo) -> Any:
        """Without a goal the name and the unit say it; a run that exists keeps its own."""
        if not isinstance(document, dict) or "goal" in document or info.context == STORED:
            return document
        name, unit = (str(document.get(key) or "") for key in ("name", "unit"))
        return {**document, **direction_of(name or "wall_s", unit=unit)._asdict()}


class TrustSpec(Spec):
    """When a trial is not trusted, and how often it is repeated."""

    max_foreign_cpu: float = Field(default=0.15, gt=0)
    """CPU others may use during a trial, as far as it meets the trial [cores]"""

    max_steal: float = Field(default=0.05, gt=0)
    """CPU the hypervisor may withhold [cores]"""

    max_pressure: float = Field(default=0.10, gt=0, le=1)
    """share of time tasks may stall on memory or I/O"""

    max_clock_drift: float = Field(default=0.01, gt=0)
    """wall clock against monotonic clock [share]"""

    max_attempts: int = Field(default=3, ge=1, le=20)
    """attempts at a trial before it is left as it is"""


class Study(Spec):
    """A question and all it takes to answer it."""

    gone: ClassVar = {
        "gates": "write a claim, such as {not_worse: {response: latency_p99_ms, by_at_most: 0.05}, "
        "from: before, to: after}"
    }

    study: str = Field(pattern=NAME_PATTERN, max_length=64)
    """short name; becomes a folder name"""

    title: str = ""
    """one line"""

    question: str = ""
    """what the study is to decide"""

    workload: AnyWorkload
    """what one trial runs"""

    target: AnyTarget = Field(default_factory=LocalTargetSpec)
    """where it runs, and under which limits"""

    factors: dict[FactorName, Factor] = Field(default_factory=dict)
    """the knobs with their levels, by name"""

    service: ServiceSpec | None = None
    """the service that the trials ask"""

    environments: dict[EnvironmentName, EnvironmentSpec] = Field(default_factory=dict)
    """where the service is tested, by name; the names are the levels of the factor environment"""

    belongs: tuple[CoresidentSpec, ...] = ()
    """what runs already and works for the trials, such as a server: counted as theirs and not as
    neighbours'"""

    design: DesignSpec = Field(default_factory=DesignSpec)
    """which levels are measured, how often, in which order"""

    knob: str | None = None
    """the factor that phases are fitted over; default the first"""

    response: ResponseSpec = Field(default_factory=ResponseSpec)
    """the column that decides, its unit, and whether less or more is better"""

    trust: TrustSpec = Field(default_factory=TrustSpec)
    """how much of the machine others may use in a trial that counts"""

    analysis: TodaysAnalysis | None = None
    """notebook that analyses the run; default profiles with profiles, attribution for http,
    load_test or connections for load, disk for disk, search for a search, and phases"""

    notebook: str = Field(default="", pattern=r"^(.+\.ipynb)?$")
    """a notebook that analyses the run in place of that: a path, from the study's
    folder or that of the notebooks; it takes the run by its parameter run or source"""

    profiles: ProfilesSpec | None = None
    """profiles taken during the trials"""

    objectives: dict[Column, ObjectiveSpec] = Field(default_factory=dict)
    """what responses have to be for a setting to be good enough; of a factor such as rate: the load
    to be borne"""

    claims: tuple[ClaimSpec, ...] = Field(default=(), max_length=MOST_CLAIMS)
    """what is believed before the run, judged by it"""

    accept: dict[str, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)
    """findings about the experiment that are meant, by key, each with its reason"""

    @field_validator("accept")
    @classmethod
    def _known_findings(cls, accept: dict[str, str]) -> dict[str, str]:
        for key in accept:
            check_known(ValueError, f"{key!r} is no finding", key, FINDINGS, "Findings are")
        return accept

    @model_validator(mode="before")
    @classmethod
    def _as_it_follows(cls, document: Any) -> Any:
        """Environments are a factor of their own, with all of them as levels, and the response of a
        study that searches the rate is what is found, unless the study says otherwise."""
        if not isinstance(document, dict):
            return document
        parts = [document.get(key) or {} for key in ("environments", "factors", "design")]
        environments, factors, design = parts
        readable = all(isinstance(part, dict) for part in parts) and environments
        if readable and ENVIRONMENT not in factors and design.get("kind") != "list":
            levels = [*map(str, environments)]
            document = {**document, "factors": {**factors, ENVIRONMENT: levels}}
        match document:
            case {"workload": {"rate": dict()}} if document.get("response") is None:
                response = {"name": CAPACITY, "unit": "requests/s", "goal": "max"}
                return {**document, "response": response}
        return with_unit(document)

    @field_validator("factors")
    @classmethod
    def _equals_a_factor(cls, factors: dict[str, Factor]) -> dict[str, Factor]:
        for name, factor in factors.items():
            if isinstance(factor, EqualFactorSpec) and isinstance(
                factors.get(factor.equals), EqualFactorSpec | None
            ):
                raise ValueError(
                    f"{name}: `equals` names {factor.equals!r}, which is not a factor with levels"
                )
        return factors

    _units = field_validator("objectives", mode="before")(in_own_units)

    _called_once = field_validator("belongs")(each_called_once)

    def _hangs_together(self) -> None:
        names = self.factor_names()
        if not names:
            raise ValueError("has no factors: nothing is varied, so nothing can be learnt")
        if self.knob is not None and self.knob not in names:
            raise ValueError(
                f"knob is {self.knob!r}, which is no factor; factors are {', '.join(names)}"
            )
        searched = "rate" if self.search else None
        check_objectives(self.objectives, names, self.knob_name, searched)
        kind = self.design.kind
        if searched and (self.response.name != CAPACITY or kind in ("adaptive", "search")):
            raise ValueError(
                f"searches the {searched}: its response is {CAPACITY} and its trials are chosen by "
                "that search, so leave out response and kind: adaptive or search"
            )
        self._check_services()

    def _check_services(self) -> None:
        """Every environment that is a level exists, and says how its service is reached."""
        listed = (treatment.get(ENVIRONMENT) for treatment in self.design.treatments or ())
        levels = (*getattr(self.factors.get(ENVIRONMENT), "levels", ()), *listed)
        for level in levels if self.environments else ():
            said = f"has the level {level!r} of environment, which is not one of its environments"
            check_known(ValueError, said, str(level), self.environments, "They are")
        if not self.has_service:
            if self.target.runs_services_only:
                raise ValueError(
                    f"has target.kind: {self.target.kind}, which runs services only; add a service"
                )
            return
        everywhere: dict[str, EnvironmentSpec | None] = {**self.environments} or {"": None}
        for name, environment in everywhere.items():
            service, target = service_in(self.service, environment), self.target_in(environment)
            if getattr(target, "mode", None) == "job":
                raise ValueError(
                    "has a service with target.mode: job, whose pods live for one trial; name the "
                    "workload that runs it, and its url"
                )
            # The command of an image may start the service.
            if not (service.argv or service.url or getattr(target, "image", None)):
                raise ValueError(
                    "does not say how the service is reached in "
                    f"{f'environments.{name}' if name else 'service'}: give service.argv or url"
                )

    def target_in(self, environment: EnvironmentSpec | None) -> AnyTarget:
        """The target of an environment: its own, or the study's."""
        return (environment.target if environment else None) or self.target

    def environment_of(self, name: object) -> EnvironmentSpec | None:
        """The environment that a level names; None where the study has none."""
        return self.environments.get(str(name))

    @property
    def search(self) -> RateSearchSpec | None:
        """How trials search the rate that is borne; None where the study gives the rates."""
        return self.workload.search

    @property
    def is_search(self) -> bool:
        """Whether trials search, be it the rate that is borne or the best of several knobs."""
        return self.search is not None or self.design.kind == "search"

    @property
    def has_service(self) -> bool:
        """Whether trials ask a service, which is under test in their place."""
        return self.service is not None or bool(self.environments)

    def factor_names(self) -> tuple[str, ...]:
        """Names of the factors, in the order written; those of a list design come from its
        treatments."""
        listed = (name for treatment in self.design.treatments or () for name in treatment)
        return tuple(dict.fromkeys((*self.factors, *listed)))

    def varied(self) -> tuple[str, ...]:
        """The factors with several levels that equal no other, of a resolved study."""
        names = self.factors
        return tuple(n for n in names if len({*getattr(names[n], "levels", ())}) > 1)

    @property
    def knob_name(self) -> str:
        """The factor phases are fitted over: the first one that has an order, where the study does
        not say. One of a single level is a condition, and the knob only where there is no other."""
        if self.knob:
            return self.knob
        ordered = [name for name in self.factor_names() if not self._is_choice(name)]
        varied = (name for name in ordered if not self._is_condition(name))
        return next(varied, (*ordered, *self.factor_names())[0])

    def _is_condition(self, factor: str) -> bool:
        """Whether a factor has one level."""
        written = self.factors.get(factor)
        return isinstance(written, LevelsFactorSpec) and len({*written.levels}) == 1

    def _is_choice(self, factor: str) -> bool:
        """Whether the levels of a factor are words."""
        listed = [t[factor] for t in self.design.treatments or () if factor in t]
        levels = getattr(self.factors.get(factor), "levels", ()) or listed
        are_texts = bool(levels) and all(isinstance(level, str) for level in levels)
        return are_texts and scale_of(levels).kind == WORDS

    @property
    def analysis_notebook(self) -> Analysis:
        """Name of the notebook that analyses a run of the study."""
        if self.is_search and not self.analysis:
            return "phases" if self.search else "search"
        kind: Analysis = cast(Analysis, packs.kind_of("workloads", self.workload.kind).notebook)
        named = self.analysis or ("profiles" if self.profiles else kind)
        of_connections = getattr(self.workload, "mode", "constant") != "constant"
        return "connections" if named == "load_test" and of_connections else named

    def unit_of(self, factor: str) -> str | None:
        """Unit of a factor: as declared, else what its name says by convention."""
        declared = self.factors[factor].unit if factor in self.factors else None
        return declared or CONVENTIONAL_UNITS.get(limit_named(factor))
