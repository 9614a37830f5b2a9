"""Words that tell users whether a seat's conversation comes back. Programs read the mode itself."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from agentmux.core.names.status_labels import NATIVE_MARK

NO_EARLIER: Final = "it has no earlier conversation"
"""The reason for a new conversation at the first start of a seat."""

YOU_CHOSE: Final = "you chose it"
"""The reason for how a seat is started, if the user chose that."""

CHOOSE: Final = "you choose: new conversation, shell or stopped"
"""What the user can choose for an agent whose conversation does not come back."""

_NATIVE: Final = "native"
_FRESH: Final = "fresh"
_SHELL: Final = "shell"


class SeatChoice(StrEnum):
    """What the user can choose for one seat of a resume.

    AgentMux plans for each seat how it will be started. The members' values are ``planned`` (the
    seat is started as planned), ``fresh`` (with a new conversation), ``shell`` (with a shell
    instead of the agent) and ``stopped`` (the pane waits until the user chooses there).
    """

    PLANNED = "planned"
    FRESH = _FRESH
    SHELL = _SHELL
    STOPPED = "stopped"


class _ModeWords(NamedTuple):
    """The words for a mode in which a seat's pane is started.

    Attributes:
        short: The words for a column or a mark in a list.
        will: The words for a seat that will be resumed.
        did: The words for a seat that is at work.
    """

    short: str
    will: str
    did: str


_MODES: Final[Mapping[str, _ModeWords]] = {
    _NATIVE: _ModeWords(
        f"{NATIVE_MARK} continued", "its conversation comes back", "its conversation came back"
    ),
    _FRESH: _ModeWords("new", "begins a new conversation", "began a new conversation"),
    _SHELL: _ModeWords("shell", "a shell for you instead of its agent", "got a shell for you"),
    "screen": _ModeWords("no agent", "only its last screen", "shows only its last screen"),
}


def conversation(mode: str) -> str:
    """Return in one or two words whether a seat continues a conversation, such as ``↻ continued``.

    Args:
        mode: How the seat's pane is started: ``native`` (the agent continues its conversation),
            ``fresh`` (the agent begins a new one), ``shell`` (a shell instead of the agent) or
            ``screen`` (no agent, only the last screen). An unknown mode is returned unchanged.
    """
    return _MODES[mode].short if mode in _MODES else mode


def which_conversation(mode: str) -> str:
    """Return whether a seat continues a conversation, in words that are clear without a heading.

    They are those of `conversation`, except that ``fresh`` gives ``new conversation``, not ``new``.

    Args:
        mode: How the seat's pane is started: ``native`` (the agent continues its conversation),
            ``fresh`` (the agent begins a new one), ``shell`` (a shell instead of the agent) or
            ``screen`` (no agent, only the last screen). An unknown mode is returned unchanged.
    """
    return f"{conversation(mode)} conversation" if mode == _FRESH else conversation(mode)


def pane_label(seat: str, agent: str, mode: str) -> str:
    """Return the text for the border of a seat's pane: ``<seat> · <agent> · <conversation>``.

    ``mode`` (``native``, ``fresh``, ``shell`` or ``screen``) gives the words for the conversation.
    """
    return f"{seat} · {agent} · {which_conversation(mode)}"


def how_it_comes_back(mode: str, reason: str) -> str:
    """Return in words how a resume will start a seat, such as ``its conversation comes back``.

    Args:
        mode: How the pane will be started: ``native`` (with its conversation), ``fresh`` (with a
            new one), ``shell`` (a shell) or ``screen`` (no agent, only the last screen). Any other
            text stands for itself.
        reason: The reason for the mode, in words, which is added after a colon. It is left out for
            ``native``, and if it is empty.
    """
    words = _MODES[mode].will if mode in _MODES else mode
    return words if mode == _NATIVE or not reason else f"{words}: {reason}"


def seat_choices(mode: str) -> tuple[SeatChoice, ...]:
    """Return what the user can choose for a seat that the plan would start in ``mode``.

    ``mode`` is ``native`` (with its conversation), ``fresh`` (with a new one), ``shell`` or
    ``screen``. The first choice is always ``planned``; if the plan starts no agent (``shell``,
    ``screen``), it is the only one. ``fresh`` is among them only for ``native``.
    """
    if mode == _NATIVE:
        return tuple(SeatChoice)
    if mode == _FRESH:
        return (SeatChoice.PLANNED, SeatChoice.SHELL, SeatChoice.STOPPED)
    return (SeatChoice.PLANNED,)  # there is no agent


def first_choice(offered: Container[SeatChoice], *, fresh: bool) -> SeatChoice:
    """Return the choice that is preselected for a seat.

    Args:
        offered: The choices for the seat, as `seat_choices` returns them.
        fresh: Whether the session is resumed without its conversations. Then ``fresh`` is
            preselected if it is offered; in all other cases ``planned`` is.
    """
    return SeatChoice.FRESH if fresh and SeatChoice.FRESH in offered else SeatChoice.PLANNED


def next_choice(offered: Sequence[SeatChoice], now: SeatChoice) -> SeatChoice:
    """Return the choice after ``now`` in ``offered``; after the last one, the first.

    Raises:
        ValueError: ``now`` is not offered.
    """
    return offered[(offered.index(now) + 1) % len(offered)]


def how_it_is_started(choice: SeatChoice, mode: str, reason: str) -> str:
    """Return in words how a resume will start a seat for which the user made this choice.

    Args:
        choice: What the user chose.
        mode: How the plan would start the seat: ``native``, ``fresh``, ``shell`` or ``screen``;
            only used for ``planned``.
        reason: The plan's reason for the mode, in words; only used for ``planned``.
    """
    if choice is SeatChoice.PLANNED:
        return how_it_comes_back(mode, reason)
    if choice is SeatChoice.STOPPED:
        return "stays stopped until you choose in its pane"
    return how_it_comes_back(choice, YOU_CHOSE)


def how_it_would_start(choice: SeatChoice, mode: str) -> str:
    """Return in words how ``choice`` would start a seat that the plan starts in ``mode``.

    It is for a list of choices: as `how_it_is_started`, without the reason.
    """
    if choice is SeatChoice.STOPPED:
        return how_it_is_started(choice, mode, "")
    return how_it_comes_back(mode if choice is SeatChoice.PLANNED else choice, "")


def how_it_began(mode: str, reason: str) -> str:
    """Return in words how a seat at work was started, such as ``began a new conversation: …``.

    Args:
        mode: How the pane was started: ``native`` (with its conversation), ``fresh`` (with a new
            one), ``shell`` (a shell) or ``screen`` (no agent, only the last screen). Any other text
            stands for itself.
        reason: The reason for the mode, in words, which is added after a colon. It is left out for
            ``native``, and if it is empty.
    """
    words = _MODES[mode].did if mode in _MODES else mode
    return words if mode == _NATIVE or not reason else f"{words}: {reason}"


def needs_reason(mode: str, reason: str) -> bool:
    """Whether to show the user why a seat at work does not continue an earlier conversation.

    False if it does (``native``), if ``reason`` is empty, or at a seat's first start, when there
    was no earlier one (``reason`` is `NO_EARLIER`).
    """
    return mode != _NATIVE and reason not in {"", NO_EARLIER}


def started_again(attempt: int) -> str:
    """Return in words how often a seat was started for the same work: ``started 2 times``.

    ``attempt`` is the number of the last start, from 1; for 1 the result is empty.
    """
    return f"started {attempt} times" if attempt > 1 else ""
