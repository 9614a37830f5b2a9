"""The tmux options from which tmux's status line and the borders of panes show a session.

They are options of our session and its panes, never global ones. This is their only writer; the
adapter gives the formats that show them (`adapters/tmux/commands.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.decisions.attention import Attention
from agentmux.core.decisions.seat_needs import restartable
from agentmux.core.journal.state import SessionState
from agentmux.core.names import statuses
from agentmux.core.names.phase import ENDS
from agentmux.core.names.status_labels import status_label
from agentmux.core.pipeline.registry import working_phase
from agentmux.core.terminal.text.text_width import clean, cut
from agentmux.ports.tmux.display import SeatStatus
from agentmux.ports.tmux.terminal import OwnSession, StatusOption

_ASKING: Final = frozenset({statuses.WAITING, statuses.STALLED})
_CHOICE: Final = statuses.LEFT | {statuses.STOPPED, statuses.BROKEN}
_URGENT: Final = _ASKING | _CHOICE | statuses.PERSON_MODES
_FEATURE_CELLS: Final = 120
_YES: Final = "1"
_NO: Final = ""


def waits(status: SeatStatus) -> bool:
    """Return whether the agent of a seat waits for the user, who has to look at its pane.

    So does one whose prompt has not arrived.

    An agent at its usage limit does not: it is told to go on when the limit should be over.
    """
    return bool(status.unsent) or status.status in _URGENT


def is_marked(state: SessionState, name: str, seen: SeatStatus | None) -> bool:
    """Return whether the pane of a seat is marked as one that waits for the user.

    So is that of an agent which only the user can start again, since the session has failed.

    Args:
        state: Of the session.
        name: Of the seat.
        seen: What its agent does; None where unknown.
    """
    return name in restartable(state) or (seen is not None and waits(seen))


def session_options(state: SessionState, seen: Attention) -> Mapping[str, str]:
    """Return the options that show a session's feature, phase and status.

    Args:
        state: Of the session.
        seen: What it wants of its user.
    """
    return {
        StatusOption.FEATURE: cut(clean(state.subject), _FEATURE_CELLS),
        StatusOption.PHASE: working_phase(state).replace("_", " "),
        StatusOption.STATUS: status_label(seen.status),
        StatusOption.NEEDS_YOU: seen.needs_you,
    }


def left_options(state: SessionState) -> Mapping[str, str]:
    """Return the options of a session whose orchestrator ends and leaves its agents running.

    A session that has failed stays failed.
    """
    if state.phase in ENDS:
        return {}
    return {StatusOption.STATUS: status_label(statuses.INTERRUPTED), StatusOption.NEEDS_YOU: ""}


class TmuxOptions:
    """Writes the options of one session; only those whose values have changed."""

    def __init__(self, terminal: OwnSession) -> None:
        self._terminal = terminal
        self._session: Mapping[str, str] = {}
        self._panes: Mapping[str, bool] | None = None

    def write(self, session: Mapping[str, str], waiting: Mapping[str, bool]) -> None:
        """Set the options of the session, and mark the panes that wait for the user.

        Args:
            session: Values by option.
            waiting: Whether its agent waits for the user, by pane id.

        Raises:
            TerminalError: As from `OwnSession.set_options`; the next call writes everything again.
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
        """Return whether a pane is marked; None if unknown, as it may be by an orchestrator before.

        A pane that is new has no mark.
        """
        return None if self._panes is None else self._panes.get(pane, False)
