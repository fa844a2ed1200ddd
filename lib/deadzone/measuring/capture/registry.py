"""The profilers, by the name a study gives them."""

from deadzone.measuring.capture.base import Profiler
from deadzone.measuring.capture.pprof_pages import PprofPages
from deadzone.measuring.capture.py_spy import PySpy
from deadzone.study.profile_specs import ProfilesSpec


def make_profiler(spec: ProfilesSpec) -> Profiler:
    """The profiler of a study."""
    match spec.profiler:
        case "pprof":
            return PprofPages(spec.url)
        case "py-spy":
            return PySpy(spec.rate_hz, spec.subprocesses)
