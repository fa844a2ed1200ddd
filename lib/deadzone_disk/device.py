"""The disk below a folder: its file system, mount, block device and scheduler, called what they
are."""

import os
import re
from pathlib import Path
from typing import Any

from deadzone.run.targets.limits.io import disk_below, mount_of
from deadzone.store.provenance import first_line

IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs")
"""File systems that lie in memory."""

SHARED = ("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph", "glusterfs", "lustre")
"""File systems that another machine serves."""

VIRTUAL_NAMES = re.compile(r"^(vd[a-z]+|xvd[a-z]+|pmem)")
"""Disks that a hypervisor presents: virtio (vda), Xen (xvda)."""

VIRTUAL_MODELS = re.compile(
    r"qemu|vbox|vmware|virtual|msft|elastic block store|persistentdisk|nvme_card-pd|ephemeral",
    re.IGNORECASE,
)
"""Words in the models of disks that are virtual whatever their bus: QEMU, VirtualBox, VMware,
Hyper-V, EBS, GCP."""

SCHEDULER_IN_USE = re.compile(r".*\[([\w-]+)\].*")
"""Of those that the kernel lists, as in `mq-deadline [none]`."""

MEMORY_DEVICES = re.compile(r"^(zram|ram)\d")


def disk_of(folder: Path) -> dict[str, Any]:
    """What is known of the whole disk that a folder lies on, for the provenance; empty where there
    is no block device below it (network, overlay).

    disk_kind: one of virtual, memory, ssd, rotating, stacked (a volume manager or loop device over
    others). Figures and words that the kernel does not tell are None.
    """
    place = disk_below(folder)
    if place is None:
        return {}
    block = first_line(place / "queue" / "logical_block_size")
    model = first_line(place / "device" / "model") or first_line(place / "device" / "name") or ""
    scheduler = first_line(place / "queue" / "scheduler") or ""
    return {
        "disk_device": place.name,
        "disk_kind": _kind(place, place.name, model),
        "disk_model": model.strip() or None,
        "disk_scheduler": SCHEDULER_IN_USE.sub(r"\1", scheduler) or None,
        "disk_write_cache": first_line(place / "queue" / "write_cache") or None,
        "disk_logical_block_bytes": int(block) if block and block.isdigit() else None,
    }


def in_memory(folder: Path) -> str | None:
    """The name of the file system or device that keeps a folder in this machine's memory; None if
    none does."""
    file_system = str(mount_of(folder).fstype)
    if file_system in IN_MEMORY:
        return file_system
    disk = disk_of(folder)
    return disk["disk_device"] if disk.get("disk_kind") == "memory" else None


def facts(folder: Path) -> dict[str, Any]:
    """What a reader must know of the disk, for the provenance."""
    mount, space = mount_of(folder), os.statvfs(folder)
    served = "shared" if mount.fstype in SHARED else "unknown"
    return {
        "file_system": mount.fstype,
        "mount_options": mount.opts,
        "disk_free_bytes": space.f_bavail * space.f_frsize,
        "disk_size_bytes": space.f_blocks * space.f_frsize,
        "disk_kind": "memory" if mount.fstype in IN_MEMORY else served,
        **disk_of(folder),
    }


def _kind(place: Path, name: str, model: str) -> str:
    if MEMORY_DEVICES.match(name):
        return "memory"
    if (place / "device").exists():
        if VIRTUAL_NAMES.match(name) or VIRTUAL_MODELS.search(model):
            return "virtual"
        return "rotating" if first_line(place / "queue" / "rotational") == "1" else "ssd"
    return "stacked"
