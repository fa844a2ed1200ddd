"""The sentences of a load test's report, each made from the analysis."""

from deadzone.explaining.capacity.cold_start import ColdStart
from deadzone.explaining.capacity.feasibility import CONFIDENCE
from deadzone.explaining.mechanisms.wording import sentences, untold
from deadzone.explaining.phases.quantities import listing, number, percent, plain_name, setting
from deadzone.language.catalogue import join, say
from deadzone.reports.figures.curves import names
from deadzone.reports.thread_pool.pool_run import PoolRun
from deadzone.steady_state.warmup import TOLERANCE

MOST_SURE = 0.99
"""Beyond this a probability is not told more finely: it rests on a few trials."""


def names_of(run: PoolRun) -> dict[str, str]:
    """Response and knob in words."""
    return names(run.source.response, run.source.knob)


def rate_text(rate: float) -> str:
    """A rate with its thousands separated."""
    return f"{rate:,g}"


def pool_text(run: PoolRun, pool: float) -> str:
    """A setting of the knob in words."""
    return setting(pool, run.source.knob)


def sure(probability: float) -> str:
    """A probability in percent; never 100 %, which a few trials cannot show."""
    return f"> {percent(MOST_SURE)}" if probability > MOST_SURE else percent(probability)


def smallest_sentence(run: PoolRun) -> str:
    """The smallest pool that meets the targets at the rate that is judged, or that none does."""
    if run.feasible is None:
        return say("pool_run.no_objectives")
    found = run.feasible.smallest(run.judged_rate)
    shared = {"knob": plain_name(run.source.knob), "rate": rate_text(run.judged_rate)}
    if not found.sure:
        return say("pool_run.smallest_unknown", **shared)
    key, pool = found.named
    shared |= {"pool": f"{pool:g}", "confidence": sure(found.sure[pool])}
    said = say(f"pool_run.{key}", wanted=CONFIDENCE, **shared)
    if found.pool is not None and found.undecided:
        return join([said, say("pool_run.undecided", pools=listing([f"{p:g}" for p in found.undecided]))])
    return said


def reversal_sentence(run: PoolRun) -> str:
    """Where more threads hurt, with interval and probability."""
    there = [one for one in run.turning if one.start is not None]
    if run.models is None:
        return say("pool_run.not_fitted", reason=run.problem)
    if not there:
        largest = max(float(model.levels["level"].max()) for model in run.models.values())
        return say("pool_run.no_reversal", largest=f"{largest:g}")
    said = [
        say("pool_run.reversal_at", start=f"{one.start:g}", rate=rate_text(one.rate),
            interval=say("pool_run.reversal_interval", low=f"{one.low:g}", high=f"{one.high:g}")
            if one.low < one.high else "",
            probability=sure(one.probability), worse=_worse(one.worse))
        for one in there
    ]  # fmt: skip
    return say("pool_run.reversal", where=join(said, "; "))


def _worse(share: float) -> str:
    """How much worse the largest pool is, for a person: from twice as much on as a multiple."""
    if share < 1:
        return say("pool_run.worse_by", share=share)
    return say("pool_run.worse_times", times=f"{1 + share:,.2g}" if share < 9 else f"{1 + share:,.0f}")


def verdict(run: PoolRun) -> str:
    """The verdict in a line, for the index of reports."""
    if run.feasible is None:
        return reversal_sentence(run)
    found = run.feasible.smallest(run.judged_rate)
    rate, pool = rate_text(run.judged_rate), found.likely if found.pool is None else found.pool
    if pool is None:
        return say("pool_run.verdict_none", knob=plain_name(run.source.knob), rate=rate)
    return say("pool_run.verdict", pool=pool_text(run, pool), rate=rate, confidence=sure(found.sure[pool]))


def doubts(run: PoolRun) -> list[str]:
    """What a reader must know before anything else."""
    said: list[str] = []
    if run.wanted is not None and run.judged_rate != run.wanted:
        key = "doubt_wanted" if run.judged_rate < run.wanted else "doubt_wanted_between"
        said.append(say(f"pool_run.{key}", wanted=rate_text(run.wanted), rate=rate_text(run.judged_rate)))
    if run.feasible is not None:
        cells = run.feasible.cells.by_place.values()
        unknown = [reason for cell in cells for reason in cell.unknown]
        failed = [reason for cell in cells for reason in cell.failed]
        if unknown:
            said.append(say("pool_run.doubt_saturated", n=len(unknown)))
        if failed:
            said.append(say("pool_run.doubt_failed", n=len(failed), reason=failed[0].rstrip(".")))
        if not run.feasible.scatter_known:
            said.append(say("pool_run.doubt_one_trial"))
    if run.cold.unsteady:
        said.append(say("pool_run.doubt_unsteady", n=len(run.cold.unsteady)))
    return said


def why_sentences(run: PoolRun) -> tuple[str, ...]:
    """Why each phase is what it is and what changes between two, rate by rate, and what could not be told."""
    said = (
        say("pool_run.why", rate=rate_text(rate), sentence=one)
        for rate, found in run.why.items()
        for one in sentences(found)
    )
    return (*said, *untold(run.source.provenance, *run.why.values()))


def law_sentences(run: PoolRun) -> tuple[str, ...]:
    """What Little's law says of the cells."""
    service = number(float(run.law["service_ms"].iloc[0]))
    full = run.law[run.law["state"].isin(["full", "unstable"])]
    places = [
        say("pool_run.law_place", pool=f"{row.pool:g}", rate=rate_text(float(row.rate)))  # type: ignore[arg-type]
        for row in full.itertuples()
    ]
    said = say("pool_run.law_full", cells=listing(places)) if places else say("pool_run.law_free")
    return say("pool_run.law_text", service=service), said


def warmup_sentences(run: PoolRun) -> tuple[str, ...]:
    """How long trials warm up, whether it matters, and how long to warm up."""
    cold = run.cold
    if not cold.warmups:
        return (say("pool_run.warmup_unknown"),)
    there = [found for found in cold.warmups.values() if found.is_present]
    unsteady = say("pool_run.doubt_unsteady", n=len(cold.unsteady)) if cold.unsteady else ""
    if not there:
        return (say("pool_run.warmup_none", unsteady=unsteady).strip(),)
    n, trials = len(there), len(cold.warmups)
    said = [
        say("pool_run.warmup_some", n=n, trials=trials, seconds=f"{cold.advised_s:.1f}"),
        say("pool_run.warmup_first", ratio=number(cold.slowdown)),
        say("pool_run.warmup_matters", n=len(cold.mattering), tolerance=TOLERANCE)
        if cold.mattering
        else say("pool_run.warmup_harmless", tolerance=TOLERANCE),
        say("pool_run.warmup_cut", n=len(cold.reaching_in))
        if cold.reaching_in
        else say("pool_run.warmup_before"),
        warmup_advice(run, cold),
    ]
    return (join(said), *([unsteady] if unsteady else []))


def warmup_advice(run: PoolRun, cold: ColdStart) -> str:
    """How long to warm up, against how long the study does."""
    now = float(getattr(run.source.study.workload, "warmup_s", 0.0)) if run.source.study else 0.0
    if cold.advised_s <= now:
        return say("pool_run.warmup_enough", now=f"{now:g}")
    return say("pool_run.warmup_advice", seconds=f"{cold.advised_s:.0f}", now=f"{now:g}")


def limits(run: PoolRun) -> tuple[str, ...]:
    """What these figures cannot say."""
    pools = sorted(float(pool) for pool in run.source.trials[run.source.knob].dropna().unique())
    said = [say("pool_run.limits_tried", pools=listing([f"{pool:g}" for pool in pools], most=12))]
    longest = run.feasible is not None and any(one.is_extreme for one in run.feasible.objectives)
    seconds = getattr(run.source.study.workload, "duration_s", None) if run.source.study else None
    if longest and seconds:
        said.append(say("pool_run.limits_max", seconds=f"{seconds:g}"))
    said += [say("pool_run.limits_time")] if run.why else []
    return (*said, say("pool_run.limits_latency"), say("pool_run.limits_place"))
