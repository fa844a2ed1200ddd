"""The video that a workload decodes or sends."""

from pydantic import Field

from deadzone.study.base import Spec


class ClipSpec(Spec):
    """The video that ffmpeg decodes; generated once and kept in a cache."""

    duration_s: float = Field(default=6.0, gt=0, le=3600)
    """length of the clip [s]"""

    width: int = Field(default=1280, ge=16, le=7680)
    """width [pixels]"""

    height: int = Field(default=720, ge=16, le=4320)
    """height [pixels]"""

    frames_per_second: float = Field(default=29.97, gt=0, le=240)
    """frame rate [1/s]"""


CLIP = "clip"
"""Placeholder for the path of the generated video."""
