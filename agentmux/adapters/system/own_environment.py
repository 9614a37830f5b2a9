"""The environment of this process."""

from __future__ import annotations

import os
from collections.abc import Mapping


def own_environment() -> Mapping[str, str]:
    """Return it: for the edge, which passes it down, and for what a program inherits."""
    return os.environ  # noqa: TID251 (a contract in pyproject.toml says who imports this)
