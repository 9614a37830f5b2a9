"""Snapshots: the last screen of each seat, kept so that it can be shown once the pane is gone."""

from __future__ import annotations

import json
import logging
from typing import Final

from agentmux.app.session.writer import Session, stamp
from agentmux.core.names import layout
from agentmux.core.names.statuses import STOPPED
from agentmux.errors import AgentmuxError
from agentmux.ports.session.session_files import SessionFiles
from agentmux.ports.tmux.terminal import Pane, Screen

logger = logging.getLogger(__name__)

_STANDING_STILL: Final = frozenset({STOPPED, "screen"})


def snapshot(session: Session, pane: Pane, screen: Screen) -> str | None:
    """Return the snapshot of a pane's screen, as JSON text for `save_snapshot`; write nothing.

    None if the pane belongs to no seat, or only shows an older screen itself.

    Args:
        session: The session.
        pane: The pane.
        screen: What the pane shows.
    """
    state = session.state
    seat = state.seats.get(pane.seat)
    if seat is None or seat.launch != pane.launch:
        seat = None
    if not pane.seat or (seat is not None and _STANDING_STILL & {seat.status, seat.mode}):
        return None
    return json.dumps(
        {
            "ansi": screen.ansi,
            "cols": screen.cols,
            "rows": screen.rows,
            "cursor_row": screen.cursor_row,
            "cursor_col": screen.cursor_col,
            "seat": pane.seat,
            "agent": state.agents.get(pane.seat, {}).get("agent"),
            "captured_at": stamp(session.now()),
            "exit_status": seat.exit_status if seat is not None else None,
        }
    )


def save_snapshot(files: SessionFiles, seat: str, text: str) -> None:
    """Write the snapshot of a seat, ``text`` from `snapshot`; a failure is logged, not raised."""
    try:
        files.write(layout.snapshot(seat), text)
    except (AgentmuxError, OSError) as error:
        logger.warning("could not keep a screen: %s", error)
