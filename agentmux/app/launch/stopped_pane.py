"""Panes that wait for the user's choice before an agent starts in them."""

from __future__ import annotations

from collections.abc import Iterator

from agentmux.core.codec.frozen import dataclass
from agentmux.core.journal.events import LaunchChosen
from agentmux.core.journal.state import SessionState
from agentmux.core.names.statuses import STOPPED
from agentmux.ports.session.session_files import SessionFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPolicy:
    """How the panes of a session come up.

    Attributes:
        fresh: The seats that are to start a new conversation; ``*`` is all of them.
        stopped: Whether each pane that a resume opens waits for the user's choice.
    """

    fresh: frozenset[str] = frozenset()
    stopped: bool = False


def unheard(state: SessionState, files: SessionFiles) -> Iterator[tuple[str, str, LaunchChosen]]:
    """Yield seat, launch and choice for each choice that no orchestrator has recorded yet.

    The user made it in a pane while no orchestrator was running.
    """
    for name, seat in state.seats.items():
        choice = files.launch_record(seat.launch).choice if seat.status == STOPPED else None
        if choice is not None:
            yield name, seat.launch, choice
