"""A file that follows from an event."""

from __future__ import annotations

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Implied:
    """One file to add to a session, at a path relative to the session's directory.

    Exactly one of these is given: ``text``, the content; ``fields``, the content as a mapping, to
    be written as JSON (which is also YAML); or ``copy_of``, the path of a copy from which the file
    is restored if it is missing.
    """

    path: str
    text: str | None = None
    fields: Json | None = None
    copy_of: str | None = None
