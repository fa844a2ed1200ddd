"""Keeps the messages that were relayed, and sends some of them again: the part that costs memory
and copies."""

import copy
import json
from collections import deque
from typing import Any

KEPT = 4_000
RECEIVERS = 8
"""Each of them gets a copy of its own."""

RESEND_EACH = 4
"""Every fourth message is written out again, as if somebody had missed it."""


class History:
    """The messages sent last, each a copy of its own."""

    def __init__(self) -> None:
        self._kept: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._count = 0

    def remember(self, message: dict[str, Any]) -> None:
        """Keep a copy of a message for each receiver."""
        self._kept.extend(copy.deepcopy(message) for _ in range(RECEIVERS))
        self._count += 1

    def resend(self) -> bytes:
        """The last message again for every fourth one, else nothing; a real relay would send it."""
        if self._count % RESEND_EACH or not self._kept:
            return b""
        return json.dumps(self._kept[-1]).encode()
