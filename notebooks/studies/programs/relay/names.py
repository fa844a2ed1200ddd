"""Finds the address of a name by reading the list of all names again each time: the part that costs
time alone."""

ZONE = "\n".join(
    f"camera-{number}.studio.local 10.0.{number // 256}.{number % 256}" for number in range(2_000)
)


def resolve(name: str) -> str:
    """The address of a name, or an empty string."""
    for line in ZONE.splitlines():
        known, _, address = line.strip().lower().partition(" ")
        if known == name:
            return address
    return ""
