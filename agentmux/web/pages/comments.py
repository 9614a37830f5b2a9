"""Keeps comments on lines of diffs until they are sent with a request for changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agentmux.core.documents.diff_comments import LineComment

_KEPT: Final = 200
"""The most comments that one session can have."""

_NONE: Final[Mapping[str, LineComment]] = {}


class Comments:
    """The comments on the diff of each session, shared by all browsers of a server.

    Only forms change them, in the event loop. Pages read them in threads; each change is atomic.
    """

    def __init__(self, changed: Callable[[str], object]) -> None:
        """Start without comments.

        Args:
            changed: A function that is called with a session's name when a comment was added,
                replaced or removed.
        """
        self._changed = changed
        self._held: Mapping[Path, Mapping[str, LineComment]] = {}

    def of(self, session: Path) -> Mapping[str, LineComment]:
        """Return the comments on a session's diff, by place; empty if there are none.

        A place is file and number of a line, as `diff_places` yields it, such as ``calc.py:12``.

        Args:
            session: The session's directory.
        """
        return self._held.get(session, _NONE)

    def put(self, session: Path, place: str, comment: LineComment) -> bool:
        """Add or replace the comment at a place; a comment with an empty text removes it.

        Comments are in memory only. Unless the result is False, the function ``changed`` that was
        given to the constructor is called.

        Args:
            session: The session's directory.
            place: The place, such as ``calc.py:12``, or ``calc.py:9 (removed)`` for a line of the
                old file.
            comment: The comment.

        Returns:
            False, with nothing changed, if the session would have too many comments; else True.
        """
        held = {each: remark for each, remark in self.of(session).items() if each != place}
        if comment.text:
            held[place] = comment
        if len(held) > _KEPT:
            return False
        self._held = {**self._held, session: held}
        self._changed(session.name)
        return True

    def drop(self, session: Path) -> None:
        """Delete all comments on the session with this directory.

        The function ``changed`` that was given to the constructor is not called.
        """
        self._held = {each: held for each, held in self._held.items() if each != session}
