"""A file that an event implies: what it contains, and where it is written."""

from __future__ import annotations

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Implied:
    """A file that has to be written into a session's directory because of an event.

    Exactly one of ``text``, ``fields`` and ``copy_of`` is given.

    Attributes:
        path: Where the file is written, relative to the session's directory.
        text: The content as text.
        fields: The content as a mapping; it is written as JSON, which is also valid YAML.
        copy_of: The path of a copy, relative to the session's directory. The file is restored from
            it if the file is missing.
    """

    path: str
    text: str | None = None
    fields: Json | None = None
    copy_of: str | None = None
