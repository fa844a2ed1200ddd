"""The extras of the wheel: what each brings, and the sentence that ends a command which needs one
that is not installed."""

import re
from collections import Counter
from typing import NamedTuple

DISTRIBUTION = "deadzone"

PACKAGES = {
    "IPython": "ipykernel",
    "bs4": "nbconvert",
    "google": "protobuf",
    "google.protobuf": "protobuf",
    "hdrh": "hdrhistogram",
    "sklearn": "scikit-learn",
    "traitlets": "nbconvert",
}
"""The package of a module that has another name; ipykernel and nbconvert bring those of others."""

REQUIREMENT = re.compile(r"([\w.-]+)\s*([^;\[]*?)\s*;.*?extra == ['\"]([\w-]+)['\"]")
"""A package, its versions and its extra in the metadata of a distribution."""


class Requirement(NamedTuple):
    """A package that an extra brings. versions: those that will do, such as `>=3.9`."""

    package: str
    versions: str
    extra: str

    def __str__(self) -> str:
        return f"{self.package}{self.versions}"


def requirements() -> list[Requirement]:
    """What the extras bring, those of the smallest extra first, as the metadata of the installed
    distribution say; nothing where it is not installed."""
    from importlib import metadata  # loads a reader of e-mail, which few commands need

    try:
        stated = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    requirements = [
        Requirement(*match.groups()) for text in stated if (match := REQUIREMENT.match(text))
    ]
    sizes = Counter(requirement.extra for requirement in requirements)
    return sorted(requirements, key=lambda requirement: sizes[requirement.extra])


def extras() -> list[str]:
    """The names of the extras that bring a package, in order; that of all is none of them."""
    return sorted({requirement.extra for requirement in requirements()} - {"all"})


def missing_sentence(name: str) -> str:
    """What ends a command that needs a module which is not installed; empty for one that no extra
    brings."""
    package = PACKAGES.get(name, name).lower().replace("_", "-")
    for requirement in requirements():
        if requirement.package.lower() == package:
            return (
                f"{requirement} is needed for this and not installed here; the extra "
                f"[{requirement.extra}] brings it: {install_line(requirement.extra)}."
            )
    return ""


def install_line(extra: str) -> str:
    """How an extra is installed; a package index has none of them, and no command adds one."""
    return f"in the clone `pipx install --force '.[{extra}]'`, with the other extras that you use"


def version_of(package: str) -> str | None:
    """Of an installed package; None where it is not."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
