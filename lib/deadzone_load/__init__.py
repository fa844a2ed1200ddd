"""Load tests: requests, messages or connections at a given rate, and the highest rate that a
setting bears."""

from deadzone.plugins import Kind, Pack

PACK = Pack(
    "load",
    workloads={
        "load": Kind(
            spec="deadzone_load.specs:LoadWorkloadSpec",
            make="deadzone_load.workload:make_load",
            notebook="load_test",
        )
    },
    importers={
        "k6": "deadzone_load.imports.k6:read_k6",
        "locust": "deadzone_load.imports.locust:read_locust",
    },
    next_rates="deadzone_load.rate_search:next_rates",
    capacities="deadzone_load.rate_search:capacities",
    verbs={"capacity": "deadzone_load.capacity.load_test:capacity"},
)
