"""The report of the published study `pod-cpu-limit`: which difference makes the request slow."""

from dataclasses import dataclass

from deadzone.explaining.attribution import page
from deadzone.explaining.attribution.attributing import Attribution, attribute_table
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Figure, Table
from deadzone.reports.figures.bars import bars
from deadzone.reports.limit_attribution.run import LimitRun, load_run
from deadzone.reports.published.report import REFERENCE, Published, PublishedReport, load_report


@dataclass(frozen=True, eq=False)
class LimitAttribution(PublishedReport):
    """The study. result: what the rules for runs say of its times."""

    FOLDER = "limit_attribution"
    result: Attribution

    def times_figure(self) -> Figure:
        """The total of each environment."""
        totals = self.published.table("request-phases").set_index("environment")["total_s"]
        order = ("pod", "docker", "pod_unlimited")
        names, axis = [environment_name(name) for name in order], say("request_times.axis")
        lengths = {str(axis): [float(totals[name]) for name in order]}
        return bars(names, lengths, axis, self.said("request_times.figure"), "response")

    def rules_table(self) -> Table:
        """One row a hypothesis: the verdict by the rules for runs, and why."""
        return Table.of("limit_attribution.by-rules", page.hypotheses(self.result))


def environment_name(environment: str) -> str:
    """An environment in words."""
    return say(f"request_times.environment_{environment}")


def read_study(published: Published) -> LimitAttribution:
    """The study, its requests judged as a table of trials: one row an environment, in the columns of a run."""
    walls, phases = published.table("request-time"), published.table("request-phases")
    client = walls.set_index("environment")[["client_user_s", "client_sys_s"]].sum(axis=1)
    kept = phases[["environment", "cpu_limit", "dns_s", "connect_s", "ttfb_s", "total_s"]]
    names = kept["environment"].map(environment_name)
    trials = kept.assign(client_cpu_s=kept["environment"].map(client), environment=names, status="ok")
    return LimitAttribution(published, attribute_table(trials))


def load(source: str = REFERENCE, lang: str = "en") -> LimitAttribution | LimitRun:
    """The published study, or a run with its attribution; see `deadzone.reports.published.report.load_report`."""
    return load_report("pod-cpu-limit", source, lang, read_study, load_run, "upload-cpu-limit")
