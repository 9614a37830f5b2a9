"""The monitor: what it displays, and the keys that the user presses there."""

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
        status: For an agent that runs, one of ``starting``, ``busy``, ``idle``,
            ``waiting_for_user``, ``usage_limit``, ``stalled`` and ``unknown``. For a command of
            AgentMux, ``setting_up`` or ``checking``. For a pane without an agent, ``shell`` or
            ``screen`` (the last screen). Otherwise ``stopped``, while the pane waits for the user's
            choice, or why the launch has ended, such as ``finished`` or ``crashed``.
        source: Where the status comes from: ``screen``, ``journal``, ``exit record`` or
            ``delivery`` (typing into the pane).
        since: When the status began: UTC, ISO 8601.
        resets: When a usage limit ends, in the agent's words; empty if unknown.
        until: When a parked agent will be woken: UTC, ISO 8601; empty if it is not parked.
        trouble: The agent's last message about a problem with its own service (an error, a
            retry); empty if there is none.
        unsent: Why the prompt could not be typed into the pane yet; empty if there is no problem.
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
    """A line about something that happened.

    Attributes:
        text: The line.
        at: When it happened; None if that is unknown.
    """

    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayedText:
    """A long text that the monitor displays for reading, instead of the session's status.

    Attributes:
        title: The title of the text.
        lines: The lines of the text, before they are wrapped.
        top: Index of the first wrapped line to show, from 0.
        is_diff: Whether the text is a diff, which is coloured as such.
    """

    title: str
    lines: tuple[str, ...]
    top: int = 0
    is_diff: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """The parts of a result that the user sees before deciding on it, each as lines of text.

    Attributes:
        asked: What the user asked for when the result was shown before; empty if nothing.
        summary: The whole summary, rendered; empty if there is none.
        checks: The outcomes of the checks, with the end of the output of what did not pass.
        verdicts: The verdicts of the reviewers.
        changes: How much each file changed, as printed by ``git diff --stat``.
        goes: What an approval would do, or why it cannot be given; empty if it was not looked up.
        digest: The digest of all these parts, as `decision_digest` returns it; empty if unknown.
        has_failed: Whether a check or a review did not pass.
    """

    asked: tuple[str, ...] = ()
    summary: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    goes: tuple[str, ...] = ()
    digest: str = ""
    has_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorContent:
    """Everything that the monitor displays at one moment.

    Attributes:
        state: The session's state.
        statuses: The status of each seat, by seat.
        problem: The last unsolved problem, as a text for the user; None if there is none.
        messages: Messages about what happened, oldest first.
        now: The current time, with its time zone.
        draft: The request for changes that the user is typing; None if the user is not typing one.
        begins: The phase in which the next cycle would begin, in words; empty while the user is not
            typing.
        question: What a second press of the same key would do, to be confirmed by it; empty if
            there is nothing to confirm.
        note: Why the last key had no effect; empty if it had one.
        reading: A text to display instead of the session; None displays the session.
        result: The result that the user has to decide on; None if there is nothing to decide, or
            the result is not loaded yet.
        last_lines: The last line of each seat's screen, by seat.
        spent_s: The seconds that the session has spent in each phase, by phase.
        name: The shortest name by which commands find the session; empty means its whole name.
        leave: How to leave the session, with the keys of the user's tmux; empty if unknown.
        left_branch: A text that says that HEAD is no longer on the session's branch; empty if it
            is.
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
    """The monitor's terminal, on which the orchestrator draws and from which it reads keys."""

    def show(self, picture: MonitorContent) -> None:
        """Draw ``picture``; never raises."""

    def ring(self) -> None:
        """Ring the bell of the monitor's terminal; never raises."""

    def fileno(self) -> int | None:
        """Return the file descriptor that keys are read from; None if there is no keyboard."""

    def keys(self) -> tuple[Pressed, ...]:
        """Return the keys that were pressed since the last call, oldest first; does not wait."""

    def page(self) -> TextPage:
        """Return how many rows of the text that was displayed last fit on the screen.

        The text is a `DisplayedText`. The result has also the last row that may be at the top.
        """

    def handle_resize(self) -> None:
        """Draw the last picture again, after the size of the terminal has changed."""

    def limit_size(self, cols: int, rows: int) -> None:
        """Limit drawing to this many columns and rows until `handle_resize` is called.

        The caller knows a pane's new size before the terminal does: tmux reports it with a delay.
        """

    def close(self) -> None:
        """Restore the terminal's modes; the last picture stays on the screen."""
