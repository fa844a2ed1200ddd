"""Services: one that is started and asked, one that is up already, and what makes one slow."""

from deadzone.plugins import Kind, Pack

PACK = Pack(
    "services",
    workloads={
        "http": Kind(
            spec="deadzone_services.specs:HttpWorkloadSpec",
            make="deadzone_services.http:HttpWorkload",
            notebook="attribution",
        )
    },
    commands={
        "attribute": (
            "deadzone_services.command:command",
            "Say which difference makes a service slow.",
        )
    },
    verbs={"attribute": "deadzone_services.attribution.attributing:attribute"},
    parts={
        "services": "deadzone_services.measuring:ServiceMeasuring",
        "belongings": "deadzone_services.coresident.watching:CoresidentProcesses",
        "recognising": "deadzone_services.coresident.detection:CoresidentDetection",
    },
)
