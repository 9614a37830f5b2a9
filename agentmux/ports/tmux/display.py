"""The monitor: what it shows, and the keys that are pressed there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from agentmux.core.codec.frozen import dataclass, field

if TYPE_CHECKING:  # who only needs tmux must not import the core
    from agentmux.core.journal.state import SessionState
    from agentmux.core.terminal.keys.console import TextPage
    from agentmux.core.terminal.keys.keys import Pressed


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatStatus:
    """What the agent of one seat is doing, as far as the orchestrator can see.

    Attributes:
        status: ``starting``, ``busy``, ``idle``, ``waiting_for_user``, ``usage_limit``,
            ``stalled`` or ``unknown``. If the pane was opened without an agent, the mode of the
            launch (such as ``shell``). If the agent has ended or waits to be started, the seat's
            status in the session's state.
        source: Where the status comes from: ``screen``, ``journal``, ``exit record`` or
            ``delivery`` (typing into the pane).
        since: When the status began: UTC, ISO 8601.
        resets: When a usage limit ends, in the agent's words; empty where unknown.
        until: When a parked agent is to be woken: UTC, ISO 8601; empty if it is not parked.
        trouble: The agent's last message about trouble with its own service (an error, a
            retry); empty for none.
        unsent: Why its prompt, which is to be typed, has not arrived; empty if it has.
    """

    status: str
    source: str
    since: str
    resets: str = ""
    until: str = ""
    trouble: str = ""
    unsent: str = ""


@dataclass(frozen=True, slots=True)
class MonitorMessage:
    """A line about something that happened; ``at`` is None where the time is not known."""

    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayedText:
    """A text that the user reads in the monitor, instead of the picture of the session.

    Attributes:
        title: What it is.
        lines: The text, line by line.
        top: The first line to show, counted as they are on the screen.
        is_diff: Whether the lines are those of a diff, which has colours of its own.
    """

    title: str
    lines: tuple[str, ...]
    top: int = 0
    is_diff: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """What a user sees of a result before deciding, each part line by line.

    Attributes:
        summary: The whole summary, rendered; empty where there is none.
        checks: What the checks have found.
        verdicts: What the reviewers said.
        changes: How much each file changed, as ``git diff --stat`` says it.
        digest: The digest of all that, as `decision_digest` returns it; empty where unknown.
    """

    summary: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What the monitor shows.

    Attributes:
        problem: The last problem that is not solved yet, as a text for the user; None for none.
        left_branch: That HEAD has left the session's branch, in words; empty where it has not.
        messages: What happened, oldest first.
        now: The current time, with its zone.
        draft: The request for changes that the user is writing; None while they write none.
        begins: Where the next cycle would begin, in words, while the user writes.
        question: What another press of the same key would do; empty while nothing is asked.
        note: What the last key could not do; empty for nothing.
        reading: A text to show instead of the session; None for none.
        result: What the user decides on; None while there is nothing to decide, or it is not known.
        last_lines: The last line of each seat's screen, by seat.
        spent_s: The seconds that the session has spent in each phase.
        name: The shortest name of the session that commands take; empty: its whole name.
        leave: How to leave the session, with the real keys; empty where unknown.
    """

    state: SessionState
    statuses: Mapping[str, SeatStatus]
    problem: str | None
    messages: tuple[MonitorMessage, ...]
    now: datetime
    draft: str | None = None
    begins: str = ""
    question: str = ""
    note: str = ""
    reading: DisplayedText | None = None
    result: ResultView | None = None
    last_lines: Mapping[str, str] = field(default_factory=dict)
    spent_s: Mapping[str, float] = field(default_factory=dict)
    name: str = ""
    leave: str = ""
    left_branch: str = ""


class Display(Protocol):
    """The monitor: the orchestrator shows pictures on it, and reads the keys pressed there."""

    def show(self, picture: Picture) -> None:
        """Draw the picture; never raises."""

    def ring(self) -> None:
        """Ring the bell of the monitor's terminal; never raises."""

    def fileno(self) -> int | None:
        """Return the file descriptor that keys are read from; None without a keyboard."""

    def keys(self) -> tuple[Pressed, ...]:
        """Return the keys that were pressed since the last call, in their order."""

    def page(self) -> TextPage:
        """Return how much of the text that was shown last is on the screen."""

    def handle_resize(self) -> None:
        """Draw the last picture again, since the size of the terminal has changed."""

    def fits(self, cols: int, rows: int) -> None:
        """Draw no more than this, until `handle_resize`: the terminal's size may be an older one.

        tmux passes the new size of a pane on only after a while.
        """

    def close(self) -> None:
        """Leave the last picture on the screen, and restore the terminal's modes."""
