"""The workloads by the kind a study names."""

from deadzone.run.workloads.registry import make_workload
from deadzone.study.workload_specs import CommandWorkloadSpec, FfmpegWorkloadSpec


def test_each_kind_has_its_workload_with_the_responses_it_adds(tmp_path):
    assert make_workload(FfmpegWorkloadSpec(), tmp_path).responses == ("frames", "fps", "speed_x")
    spec = CommandWorkloadSpec(argv=("true",), responses={"speed": {"regex": "x"}})
    assert make_workload(spec, tmp_path).responses == ("speed",)
