"""Comments on lines of diffs, until they are sent with a request for changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agentmux.core.documents.diff_comments import LineComment

_KEPT: Final = 200
"""How many comments on one session are kept."""

_NONE: Final[Mapping[str, LineComment]] = {}


class Comments:
    """The comments on each session; all browsers of a server share them.

    Forms change them in the event loop. Pages read them in threads, and see all of a change or
    nothing of it.
    """

    def __init__(self, changed: Callable[[str], object]) -> None:
        """Take what is called with the name of a session on which the comments have changed."""
        self._changed = changed
        self._held: Mapping[Path, Mapping[str, LineComment]] = {}

    def of(self, session: Path) -> Mapping[str, LineComment]:
        """Return the comments on a session, by the place that `diff_places` gives."""
        return self._held.get(session, _NONE)

    def put(self, session: Path, place: str, comment: LineComment) -> bool:
        """Keep a comment; an empty one removes what was said there. False: there are too many."""
        held = {each: remark for each, remark in self.of(session).items() if each != place}
        if comment.text:
            held[place] = comment
        if len(held) > _KEPT:
            return False
        self._held = {**self._held, session: held}
        self._changed(session.name)
        return True

    def drop(self, session: Path) -> None:
        """Forget the comments on a session."""
        self._held = {each: held for each, held in self._held.items() if each != session}
