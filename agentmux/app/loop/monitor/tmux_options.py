"""Writes the tmux options from which tmux's status line and the panes' borders show the session.

They are options of our session and its panes, never global ones. Nothing else writes them; the
formats that show them are in `adapters/tmux/commands.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.decisions.attention import Attention
from agentmux.core.decisions.seat_needs import list_restartable_seats
from agentmux.core.journal.state import SessionState
from agentmux.core.names import statuses
from agentmux.core.names.phase import ENDS
from agentmux.core.names.status_labels import status_label
from agentmux.core.pipeline.registry import working_phase
from agentmux.core.terminal.text.text_width import clean, cut
from agentmux.ports.tmux.display import SeatStatus
from agentmux.ports.tmux.terminal import OwnSession, StatusOption

_ASKING: Final = frozenset({statuses.WAITING, statuses.STALLED})
_CHOICE: Final = statuses.ENDED_STATUSES | {statuses.STOPPED, statuses.BROKEN}
_URGENT: Final = _ASKING | _CHOICE | statuses.PERSON_MODES
_FEATURE_CELLS: Final = 120
_YES: Final = "1"
_NO: Final = ""


def waits(status: SeatStatus) -> bool:
    """Return whether the user has to look at the pane of a seat with this status.

    True also if the seat's prompt has not arrived. False for an agent at its usage limit, because
    it is told to go on when the limit should be over.
    """
    return bool(status.unsent) or status.status in _URGENT


def is_marked(state: SessionState, name: str, seen: SeatStatus | None) -> bool:
    """Return whether the pane of a seat is to be marked as waiting for the user.

    A seat that made the session fail is marked, too, because only the user can restart it.

    Args:
        state: The state of the session.
        name: The name of the seat, such as ``coder-2``.
        seen: What the seat's agent does; None if unknown.
    """
    return name in list_restartable_seats(state) or (seen is not None and waits(seen))


def session_options(state: SessionState, seen: Attention) -> Mapping[str, str]:
    """Return the tmux options that show a session's feature, phase and status: value by name.

    Args:
        state: The state of the session.
        seen: What the session needs from its user.
    """
    return {
        StatusOption.FEATURE: cut(clean(state.subject), _FEATURE_CELLS),
        StatusOption.PHASE: working_phase(state).replace("_", " "),
        StatusOption.STATUS: status_label(seen.status),
        StatusOption.NEEDS_YOU: seen.needs_you,
    }


def left_options(state: SessionState) -> Mapping[str, str]:
    """Return the tmux options to set when an orchestrator ends and leaves its agents running.

    Empty for a session that is done or has failed: its status stays.
    """
    if state.phase in ENDS:
        return {}
    return {StatusOption.STATUS: status_label(statuses.INTERRUPTED), StatusOption.NEEDS_YOU: ""}


class TmuxOptions:
    """Writes the tmux options of one session; only those whose values have changed."""

    def __init__(self, terminal: OwnSession) -> None:
        self._terminal = terminal
        self._session: Mapping[str, str] = {}
        self._panes: Mapping[str, bool] | None = None

    def write(self, session: Mapping[str, str], waiting: Mapping[str, bool]) -> None:
        """Set the options of the session, and mark the panes that wait for the user.

        Args:
            session: The value of each option, by the option's name (`StatusOption`).
            waiting: For each pane id, whether the pane waits for the user.

        Raises:
            TerminalError: tmux fails (see `OwnSession.set_options`); the next call writes
                everything again.
        """
        changed = {k: text for k, text in session.items() if self._session.get(k) != text}
        marks: dict[str, Mapping[str, str]] = {
            pane: {StatusOption.WAITS: _YES if yes else _NO}
            for pane, yes in waiting.items()
            if self._read_mark(pane) != yes
        }
        if changed or marks:
            self._session, self._panes = {}, None
            self._terminal.set_options(changed, marks)
        self._session, self._panes = dict(session), dict(waiting)

    def _read_mark(self, pane: str) -> bool | None:
        """Return whether a pane is marked; None if an earlier orchestrator may have marked it.

        A new pane has no mark.
        """
        return None if self._panes is None else self._panes.get(pane, False)
