"""Profiles: taken while a trial runs, and compared before and after a change."""

from deadzone.plugins import Pack

PACK = Pack(
    "profiles",
    commands={
        "profile": (
            "deadzone_profiles.command:command",
            "Compare two profiles of a program: what changed, and why.",
        )
    },
    verbs={"diff_profiles": "deadzone_profiles.run_profiles:diff_profiles"},
    profiling="deadzone_profiles.capturing:StudyProfiling",
)
