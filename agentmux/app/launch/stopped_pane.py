"""Panes that wait for the user's choice before an agent starts in them."""

from __future__ import annotations

from collections.abc import Iterator

from agentmux.core.journal.events import LaunchChosen
from agentmux.core.journal.state import SessionState
from agentmux.core.names.statuses import STOPPED
from agentmux.ports.session.session_files import SessionFiles


def unrecorded_choices(
    state: SessionState, files: SessionFiles
) -> Iterator[tuple[str, str, LaunchChosen]]:
    """Yield seat, launch id and choice for each choice that no orchestrator has recorded yet.

    The user made these choices in panes while no orchestrator was running.
    """
    for name, seat in state.seats.items():
        choice = files.launch_record(seat.launch).choice if seat.status == STOPPED else None
        if choice is not None:
            yield name, seat.launch, choice
