"""The times of a service's environments: every trial, and the phases of the request one after the other."""

import pandas as pd

from deadzone.explaining.attribution.attribution import Attribution
from deadzone.explaining.attribution.wording import duration
from deadzone.explaining.phases.plot_axes import plain_value
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Figure, Table
from deadzone.style import INK, MUTED, TRIAL_COLOUR, figure_style

WIDTH_IN, ROW_IN, FRAME_IN = 7.2, 0.5, 1.0

LOG_FROM = 20.0
"""From this ratio of the slowest to the fastest trial on, a linear axis would hide the fast ones."""

PHASES = ("dns_s", "connecting_s", "tls_handshake_s", "upload_s", "waiting_s", "server_s")
"""Columns of the parts of a request, in the order in which they pass."""


def trials_figure(result: Attribution, trials: pd.DataFrame, by: str, caption: str) -> Figure:
    """Every trial's response, an environment a row, with the medians. trials: the analysed ones."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    names = sorted(result.medians, key=lambda name: result.medians[name])
    with figure_style():
        drawing, ax = plt.subplots(figsize=(WIDTH_IN, FRAME_IN + ROW_IN * len(names)), layout="constrained")
        for row, name in enumerate(names):
            values = trials.loc[trials[by].astype(str) == name, result.response].astype(float)
            ax.scatter(
                values, [row] * len(values), s=26, facecolors="none", edgecolors=TRIAL_COLOUR, zorder=3
            )
            median = result.medians[name]
            ax.plot([median, median], [row - 0.28, row + 0.28], color=INK, linewidth=2, zorder=4)
            ax.annotate(
                duration(median), (1.01, row), xycoords=("axes fraction", "data"), va="center", color=INK
            )
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.tick_params(axis="y", labelcolor=INK, length=0)
        ax.grid(axis="y", visible=False)
        values = trials[result.response].astype(float)
        if values.max() > LOG_FROM * values.min() > 0:
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            ax.xaxis.set_major_formatter(FuncFormatter(plain_value))
            ax.xaxis.set_minor_formatter(NullFormatter())
        else:
            ax.set_xlim(left=0)
        ax.axvline(ax.get_xlim()[0], color=MUTED, linewidth=0.8)
        ax.set_xlabel(say("limit_run.axis"))
    words = "; ".join(f"{name} {duration(result.medians[name])}" for name in names)
    return Figure.of(drawing, caption, say("limit_run.figure_words", words=words), id="response")


def phases_table(result: Attribution, trials: pd.DataFrame, by: str) -> Table | None:
    """Medians of the phases of the request in each environment; None where the client timed no phases."""
    known = [name for name in PHASES if name in trials and trials[name].notna().any()]
    if not known:
        return None
    medians = trials[known].groupby(trials[by].astype(str)).median()
    names = [name for name in result.medians if name in medians.index]
    phases = [say(f"limit_run.phase_{name}") for name in known]
    times = {name: [duration(float(medians[phase][name])) for phase in known] for name in names}
    frame = pd.DataFrame({say("limit_run.phase"): phases, **times})
    return Table(frame, say("limit_run.phases_caption"), numeric=names, id="phases", row_ids=known)
