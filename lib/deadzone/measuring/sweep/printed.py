"""What a program printed, as counts: from these it is seen whether its trials ended alike."""

import re
from collections.abc import Mapping

ERROR_WORDS = re.compile(
    r"\b(errors?|fatal|panic(ked)?|exception|traceback|failed|failure|aborted|denied|refused|killed|"
    r"segmentation fault|out of memory)\b|오류|실패",
    re.IGNORECASE,
)
"""Words with which programs say that they did not do their work."""


def printed_counts(stdout: str, stderr: str, units: Mapping[str, str]) -> dict[str, int | str]:
    """Columns of the tidy table: how much was printed, the lines with an error word, the units beside the responses.

    stdout, stderr: the end of what was printed, as far as it is kept. units: by response.
    """
    lines, complaints = stdout.splitlines(), stderr.splitlines()
    return {
        "stdout_bytes": len(stdout.encode()),
        "stdout_lines": len(lines),
        "stderr_lines": len(complaints),
        "error_lines": sum(1 for line in (*lines, *complaints) if ERROR_WORDS.search(line)),
        "printed_units": " ".join(f"{name}={unit}" for name, unit in units.items()),
    }
