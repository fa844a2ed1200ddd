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
    targets={
        "container": Kind(
            spec="deadzone_services.container_spec:ContainerTargetSpec",
            make="deadzone_services.container:make_target",
            give_back="deadzone_services.container:give_back",
        )
    },
    commands={
        "attribute": (
            "deadzone_services.command:command",
            "Say which difference makes a service slow.",
        )
    },
    verbs={"attribute": "deadzone_services.attribution.attributing:attribute"},
    remove_left_containers="deadzone_services.container:remove_left_containers",
    services="deadzone_services.measuring:ServiceMeasuring",
    coresident_processes="deadzone_services.coresident.watching:CoresidentProcesses",
    recognising="deadzone_services.coresident.detection:CoresidentDetection",
)
