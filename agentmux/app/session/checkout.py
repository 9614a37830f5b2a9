"""The rule that only one session at a time is live in a checkout.

A checkout is one copy of a project's files, such as a git worktree; here it is the project's
directory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.session.lookup import Liveness, SessionEntry, list_resumable_sessions, live
from agentmux.errors import BlockedError
from agentmux.ports.terminal import TerminalUnreachableError

if TYPE_CHECKING:
    from agentmux.app.world import Site


def require_free(site: Site, *, but: Path | None = None) -> None:
    """Check that no session of the project except ``but`` is live.

    Raises:
        BlockedError: One is live; the reason is ``checkout_taken``.
        MissingError: A tmux server does not answer, so that nobody can tell.
    """
    entries = list_resumable_sessions(site)
    lives = live(site, entries)
    found = taken(lives, busy(lives, entries), but=but)
    if found is not None:
        raise found


def busy(
    lives: Mapping[Path, Liveness], entries: Iterable[SessionEntry]
) -> tuple[SessionEntry, ...]:
    """Return the sessions in ``entries`` that are live in the checkout, or may be.

    One that is done does not count.

    Args:
        lives: Path of each session to what runs of it, as `live` returns it.
        entries: The sessions to look at.
    """
    return tuple(each for each in entries if _is_busy(each, lives[each.path]))


def taken(
    lives: Mapping[Path, Liveness], busy: Iterable[SessionEntry], *, but: Path | None
) -> BlockedError | None:
    """Return why no session can start while a session in ``busy`` is live; None if none is.

    Args:
        lives: As in `busy`.
        busy: The sessions that are live, or may be.
        but: Path of a session that does not count; None for none.

    Raises:
        MissingError: A tmux server does not answer, so that nobody can tell.
    """
    entry = next((each for each in busy if each.path != but), None)
    if entry is None:
        return None
    found = lives[entry.path]
    if found.live is None and not found.locked:
        raise TerminalUnreachableError(
            f"cannot tell whether session {entry.name} is live in this checkout: {found.because}",
            hints=("check the tmux server, then try again",),
        )
    return _refusal(entry, found)


def _is_busy(entry: SessionEntry, found: Liveness) -> bool:
    if found.copy_of is not None:
        return False  # the live original works in another checkout
    if found.locked or found.starter is not None or found.live is None:
        return not entry.is_done
    # A tmux session with its name but another uuid is not ours.
    ours = found.tmux is None or found.tmux.uuid == entry.text("session_id") != ""
    return found.live and ours and not entry.is_done


def _refusal(entry: SessionEntry, found: Liveness) -> BlockedError:
    word = "attach" if found.starter is None else "status"
    return BlockedError(
        f"session {entry.name} is live in this checkout; only one session at a time may be",
        reason="checkout_taken",
        hints=(
            f"see it: agentmux {word} {entry.name}",
            f"or end it for now: agentmux stop {entry.name}",
            "or start in another clone of the repository",
        ),
    )
