"""Creates unique ids."""

from __future__ import annotations

import os

from agentmux.core.codec.digests import random_uuid


def new_id() -> str:
    """Return a random uuid (version 4) as text."""
    return random_uuid(os.urandom(16))
