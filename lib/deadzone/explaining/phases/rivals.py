"""Scaling laws fitted beside the phase model, so that a reader sees whether phases are needed at all.

With the knob x measured from its smallest level (n = x / x_1, at least 1) and the response as a time:

power law   y = y_1 n^-e                                  one straight line on log-log axes
Amdahl      y = y_1 (s + (1 - s) / n)                     Amdahl 1967, AFIPS Conf. Proc. 30, 483-485
USL         y = y_1 (1 + a (n - 1) + b n (n - 1)) / n     Gunther 1993; Guerrilla Capacity Planning, 2007

The serial share s, the contention a and the coherency cost b are at least 0. A response to maximise
(throughput) is fitted as its reciprocal, which is what the laws are about.

All are fitted to ln(response) of the trials with the weights of the phase model (an outlier that counts
for little there counts for little here), by least squares, and judged by a Gaussian likelihood with their
own noise level; `weighted_gaussian` gives the same figure for the phase model, so that AIC and BIC stand
side by side.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.explaining.phases.quantities import listing, number
from deadzone.explaining.phases.result import PhaseResult
from deadzone.language.catalogue import say, term

AT_BOUND = 1e-6
"""A parameter this close to its lower bound is reported as lying there: its standard error means nothing."""

MOST_EVALUATIONS = 2000
"""Function evaluations after which a fit of three parameters is not going to converge."""


@dataclass(frozen=True, eq=False)
class Rival:
    """A law fitted to the trials of a phase model.

    parameters, std_errors: by name, y_1 in the unit of the response, the rest dimensionless; a standard
    error is nan where the parameter lies at its bound. n_parameters includes the noise level.
    converged: False where no optimum was found; log_likelihood, aic and bic are then nan and `note` says why.
    """

    name: str
    parameters: dict[str, float]
    std_errors: dict[str, float]
    log_likelihood: float
    n_parameters: int
    aic: float
    bic: float
    converged: bool
    note: str


LEAST_VARIANCE = 1e-24
"""Residuals of exact arithmetic data are rounding errors; below this their logarithm means nothing."""

Law = Callable[[np.ndarray, np.ndarray], np.ndarray]


def power_law(theta: np.ndarray, n: np.ndarray) -> np.ndarray:
    """ln(y / y_1) of the power law. theta: (e,). n: relative knob, any shape, >= 1."""
    return -theta[0] * np.log(n)


def amdahl(theta: np.ndarray, n: np.ndarray) -> np.ndarray:
    """ln(y / y_1) of Amdahl's law. theta: (s,), the serial share. n: relative knob, any shape, >= 1."""
    return np.log(theta[0] + (1 - theta[0]) / n)


def universal_scalability(theta: np.ndarray, n: np.ndarray) -> np.ndarray:
    """ln(y / y_1) of the Universal Scalability Law. theta: (a, b). n: relative knob, any shape, >= 1."""
    return np.log((1 + theta[0] * (n - 1) + theta[1] * n * (n - 1)) / n)


LAWS: dict[str, tuple[Law, tuple[str, ...], tuple[float, ...], tuple[tuple[float, float], ...]]] = {
    "one power law": (power_law, ("elasticity",), (0.5,), ((-np.inf, np.inf),)),
    "Amdahl's law": (amdahl, ("serial share",), (0.2,), ((0.0, 1.0),)),
    "Universal Scalability Law": (
        universal_scalability,
        ("contention", "coherency"),
        (0.1, 0.001),
        ((0.0, np.inf), (0.0, np.inf)),
    ),
}
"""Name, function, names of the parameters after y_1, where the search starts, bounds."""


def fit_rivals(model: PhaseResult) -> tuple[Rival, ...]:
    """Every law of `LAWS` fitted to the trials of a phase model, in that order; none on an interval scale, where the
    knob of twice the capacity is not twice the number."""
    if model.axis.is_interval:
        return ()
    trials = model.trials
    level = trials["level"].to_numpy(float)
    response = trials["corrected"].to_numpy(float)
    return fit_laws(level, response, trials["weight"].to_numpy(float), model.goal)


def fit_laws(
    level: np.ndarray, response: np.ndarray, weight: np.ndarray, goal: str = "min"
) -> tuple[Rival, ...]:
    """Every law of `LAWS` fitted to trials.

    level, response, weight: shape (m,); level and response > 0, weight in 0 ... 1. goal: "min" or "max".
    """
    log_time = np.log(response) * (1.0 if goal == "min" else -1.0)
    return tuple(_fit(name, level / level.min(), log_time, weight, goal) for name in LAWS)


def weighted_gaussian(
    residual: np.ndarray, weight: np.ndarray, n_mean_parameters: int
) -> tuple[float, float, float]:
    """Log-likelihood, AIC and BIC of residuals of ln(response) with one noise level.

    residual, weight: shape (m,). n_mean_parameters: parameters of the curve; the noise level is added.
    A trial with weight w counts as w of a trial; the noise level is that of highest likelihood. All three
    are nan where there are no more trials than parameters: the curve then passes through every point.
    """
    count = float(weight.sum())
    if count < n_mean_parameters + 1:
        return np.nan, np.nan, np.nan
    variance = max(float(np.sum(weight * residual**2)) / count, LEAST_VARIANCE)
    log_likelihood = float(-0.5 * count * (np.log(2 * np.pi * variance) + 1))
    k = n_mean_parameters + 1
    return log_likelihood, 2 * k - 2 * log_likelihood, float(k * np.log(count)) - 2 * log_likelihood


def phase_criteria(model: PhaseResult) -> tuple[float, float, float, int]:
    """Log-likelihood, AIC, BIC and number of parameters of the phase model on the rivals' footing.

    The curve of p phases has 2 p parameters: its value at the start, p elasticities and p - 1 joints.
    """
    k = 2 * len(model.phases)
    weight = model.trials["weight"].to_numpy(float)
    residual = np.log(model.trials["corrected"].to_numpy(float) / model.trials["fitted"].to_numpy(float))
    return *weighted_gaussian(residual, weight, k), k + 1


def rivals_table(model: PhaseResult) -> pd.DataFrame:
    """Phase model and rivals in one table, the smallest AIC first.

    Columns: model, parameters (in words), n_parameters, log_likelihood, aic, bic, delta_aic (to the
    smallest), note. A law that could not be fitted has nan criteria and a note, and stands last.
    """
    likelihood, aic, bic, k = phase_criteria(model)
    note = "" if np.isfinite(aic) else say("rival.too_many_parameters")
    name = say("rival.phase_model", n=len(model.phases))
    rows: list[tuple[str, str, int, float, float, float, str]]
    rows = [(name, say("rival.see_phases"), k, likelihood, aic, bic, note)]
    rows += [
        (term("law", r.name), _in_words(r), r.n_parameters, r.log_likelihood, r.aic, r.bic, r.note)
        for r in fit_rivals(model)
    ]
    columns = ["model", "parameters", "n_parameters", "log_likelihood", "aic", "bic", "note"]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(6, "delta_aic", table["aic"] - table["aic"].min())
    return table.sort_values("aic", na_position="last", kind="stable", ignore_index=True)


def _fit(name: str, n: np.ndarray, log_time: np.ndarray, weight: np.ndarray, goal: str) -> Rival:
    """One law by weighted least squares on ln(time)."""
    from scipy.optimize import least_squares

    law, names, start, bounds = LAWS[name]
    root = np.sqrt(weight)

    def misfit(theta: np.ndarray) -> np.ndarray:
        return root * (log_time - theta[0] - law(theta[1:], n))

    low = np.array([-np.inf, *(bound[0] for bound in bounds)])
    high = np.array([np.inf, *(bound[1] for bound in bounds)])
    first = np.array([float(np.median(log_time[n == n.min()])), *start])
    with np.errstate(all="ignore"):
        try:
            found = least_squares(misfit, first, bounds=(low, high), x_scale="jac", max_nfev=MOST_EVALUATIONS)
        except ValueError as error:
            return _failed(name, len(names) + 2, say("rival.not_fitted", error=str(error)))
    if not found.success or not np.isfinite(found.cost):
        return _failed(name, len(names) + 2, say("rival.not_converged", evaluations=found.nfev))
    likelihood, aic, bic = weighted_gaussian(
        log_time - found.x[0] - law(found.x[1:], n), weight, len(found.x)
    )
    if not np.isfinite(likelihood):
        return _failed(name, len(names) + 2, say("rival.too_many_parameters"))
    errors, stuck = _std_errors(
        found.x, np.asarray(found.jac), 2 * found.cost, float(weight.sum()), low, high
    )
    at_bound = [term("law", names[i]) for i in np.nonzero(stuck[1:])[0]]
    y_1 = float(np.exp(found.x[0] if goal == "min" else -found.x[0]))
    return Rival(
        name=name,
        parameters={"y_1": y_1, **dict(zip(names, map(float, found.x[1:]), strict=True))},
        std_errors={"y_1": y_1 * float(errors[0]), **dict(zip(names, map(float, errors[1:]), strict=True))},
        log_likelihood=likelihood,
        n_parameters=len(found.x) + 1,
        aic=aic,
        bic=bic,
        converged=True,
        note=say("rival.at_the_bound", names=listing(at_bound)) if at_bound else "",
    )


def _std_errors(
    theta: np.ndarray, jacobian: np.ndarray, squares: float, count: float, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors from the curvature, shape (p,), nan at a bound, and which parameters lie there."""
    stuck = (theta - low < AT_BOUND) | (high - theta < AT_BOUND)
    free = ~stuck
    errors = np.full(len(theta), np.nan)
    df = count - free.sum()
    if df > 0:
        covariance = np.linalg.pinv(jacobian[:, free].T @ jacobian[:, free]) * squares / df
        errors[free] = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return errors, stuck


def _failed(name: str, n_parameters: int, note: str) -> Rival:
    return Rival(name, {}, {}, np.nan, n_parameters, np.nan, np.nan, False, note)


def _in_words(rival: Rival) -> str:
    shown = []
    for name, value in list(rival.parameters.items())[1:]:  # y_1 is the first
        error = rival.std_errors[name]
        known = f"{number(value, error)} ± {error:.2g}" if np.isfinite(error) else f"{abs(round(value, 5)):g}"
        shown.append(f"{term('law', name)} {known}")
    return ", ".join(shown)
