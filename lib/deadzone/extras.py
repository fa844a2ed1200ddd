"""The extras of the wheel: what each brings, and the sentence that ends what needs one that is not
installed.

The library imports a package of an extra where it first needs it, like any other. Where that
package is missing, the import raises MissingExtraError in place of ModuleNotFoundError, because the
last finder of `sys.meta_path` is the one below: it is asked for what no other has found, and
answers the library's own imports alone. So a program that tries an import of its own, as pandas and
tqdm do, learns what it always does.
"""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType

from deadzone.errors import MissingExtraError

DISTRIBUTION = "deadzone"

PACKAGES = {
    "IPython": "ipykernel",
    "bs4": "nbconvert",
    "google": "protobuf",
    "google.protobuf": "protobuf",
    "hdrh": "hdrhistogram",
    "traitlets": "nbconvert",
}
"""The package of a module that has another name; ipykernel and nbconvert bring those of others."""

REQUIREMENT = re.compile(r"([\w.-]+)\s*([^;\[]*?)\s*;.*?extra == ['\"]([\w-]+)['\"]")
"""A package, its versions and its extra in the metadata of a distribution."""


@dataclass(frozen=True)
class Requirement:
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


def missing(extra: str) -> list[Requirement]:
    """What an extra brings that is not installed."""
    return [
        requirement
        for requirement in requirements()
        if requirement.extra == extra and not _is_installed(requirement.package)
    ]


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
                f"[{requirement.extra}] brings it: install Deadzone with that extra, from where "
                "you have it."
            )
    return ""


def watch_imports() -> None:
    """Let the library's imports of packages that are missing raise MissingExtraError."""
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)


def _is_installed(package: str) -> bool:
    from importlib import metadata

    try:
        return bool(metadata.version(package))
    except metadata.PackageNotFoundError:
        return False


class _Finder:
    """Finds no module, and says which extra brings one that is missing."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        """Raise MissingExtraError for a module of an extra that the library imports; leave all
        others missing."""
        is_part = path is not None and name not in PACKAGES
        if not is_part and _is_ours(sys._getframe(1)) and (sentence := missing_sentence(name)):
            raise MissingExtraError(sentence, name=name)


def _is_ours(frame: FrameType | None) -> bool:
    """Whether the import that ends in this frame stands in the library; `importlib.util.find_spec`
    only asks."""
    while frame and (importer := str(frame.f_globals.get("__name__"))).startswith("importlib"):
        if importer == "importlib.util":
            return False
        frame = frame.f_back
    return bool(frame and importer.split(".")[0].startswith(DISTRIBUTION))
