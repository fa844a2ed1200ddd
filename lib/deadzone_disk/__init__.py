"""Disks: files read and written in blocks, by fio or by an engine that needs nothing else."""

from deadzone.plugins import Kind, Pack

PACK = Pack(
    "disk",
    workloads={
        "disk": Kind(
            spec="deadzone_disk.specs:DiskWorkloadSpec",
            make="deadzone_disk.workload:DiskWorkload",
            resolve="deadzone_disk.plan:resolved_disk",
            warning="deadzone_disk.plan:warning_of",
            notebook="disk",
        )
    },
    importers={"fio": "deadzone_disk.fio_results:read_fio"},
)
