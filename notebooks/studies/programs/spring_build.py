"""Builds the Spring Boot server of the study `spring-websocket`: `python spring_build.py PROJECT
FOLDER`.

The jar is built once with Maven and kept in the cache under the checksum of its sources; FOLDER
gets a link to it.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from deadzone.errors import DeadzoneError, WorkloadError
from deadzone.places import cache_folder

JAR = "spring-websocket.jar"

BUILD_TIMEOUT_S = 580.0
"""A build that also downloads its libraries takes minutes on a slow line; a hook of a service may
take ten [s]."""


def built_jar(project: Path) -> Path:
    """Where the cache has the jar of a Maven project, or would have it."""
    checksum = hashlib.sha256()
    for path in sorted(path for path in project.rglob("*") if path.is_file() and "target" not in path.parts):
        checksum.update(str(path.relative_to(project)).encode() + b"\0" + path.read_bytes())
    return cache_folder() / f"spring-websocket-{checksum.hexdigest()[:16]}.jar"


def build(project: Path) -> Path:
    """The jar of a Maven project, from the cache or built now.

    Raises WorkloadError if Java or Maven is missing, or the build fails.
    """
    if not (project / "pom.xml").is_file():
        raise WorkloadError(f"{project}: there is no Maven project (pom.xml).")
    if not shutil.which("java"):
        raise WorkloadError(
            "Java is not installed here, and this study's server needs it: install a JDK of 17 or "
            "newer (on Debian default-jdk-headless), or run the study thread-pool, whose server "
            "needs nothing."
        )
    jar = built_jar(project)
    if jar.is_file():
        return jar
    if not shutil.which("mvn"):
        raise WorkloadError(
            "Maven is not installed here, and this study's server is built with it (on Debian maven)."
        )
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "project"
        shutil.copytree(project, copy, ignore=shutil.ignore_patterns("target"))
        _run_maven(copy)
        jar.parent.mkdir(parents=True, exist_ok=True)
        draft = jar.with_suffix(".part")
        shutil.copyfile(copy / "target" / JAR, draft)
        draft.replace(jar)
    return jar


def _run_maven(project: Path) -> None:
    try:
        subprocess.run(
            ("mvn", "-q", "-B", "-DskipTests", "package"),
            cwd=project,
            check=True,
            capture_output=True,
            text=True,
            timeout=BUILD_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.CalledProcessError as error:
        said = (error.stdout + error.stderr).strip()[-600:]
        raise WorkloadError(f"Maven could not build the server: {said}") from error
    except subprocess.TimeoutExpired as error:
        raise WorkloadError(f"Maven did not build the server within {BUILD_TIMEOUT_S:g} s.") from error


def main() -> int:
    """Build, and link the jar into the folder."""
    project, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    try:
        link = folder / JAR
        link.unlink(missing_ok=True)
        link.symlink_to(build(project))
    except DeadzoneError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
