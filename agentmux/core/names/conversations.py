"""Whether a seat's conversation comes back, in words for people; programs read the mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from agentmux.core.names.status_labels import NATIVE_MARK

NO_EARLIER: Final = "it has no earlier conversation"
"""The reason why a seat begins a new conversation at its first start."""

_NATIVE: Final = "native"
_FRESH: Final = "fresh"


class _ModeWords(NamedTuple):
    """The words for a way in which a seat's pane comes up.

    Attributes:
        short: For a column or a mark in a list.
        will: Of a seat that is to be resumed.
        did: Of a seat that is at work.
    """

    short: str
    will: str
    did: str


_MODES: Final[Mapping[str, _ModeWords]] = {
    _NATIVE: _ModeWords(
        f"{NATIVE_MARK} continued", "its conversation comes back", "its conversation came back"
    ),
    _FRESH: _ModeWords("new", "begins a new conversation", "began a new conversation"),
    "shell": _ModeWords("shell", "a shell for you instead of its agent", "got a shell for you"),
    "screen": _ModeWords("no agent", "only its last screen", "shows only its last screen"),
}


def conversation(mode: str) -> str:
    """Return in a word or two whether a seat's agent goes on with a conversation of before.

    A mode that is not known is returned as it is, here and in the other functions.
    """
    return _MODES[mode].short if mode in _MODES else mode


def which_conversation(mode: str) -> str:
    """Return the words of `conversation` for a place without a heading: ``new conversation``."""
    return f"{conversation(mode)} conversation" if mode == _FRESH else conversation(mode)


def pane_label(seat: str, agent: str, mode: str) -> str:
    """Return the text in the border of a seat's pane."""
    return f"{seat} · {agent} · {which_conversation(mode)}"


def how_it_comes_back(mode: str, reason: str) -> str:
    """Return in words how a resume starts a seat: ``begins a new conversation: …``.

    That a conversation comes back needs no reason; the evidence is in ``--explain`` and in JSON.
    """
    words = _MODES[mode].will if mode in _MODES else mode
    return words if mode == _NATIVE or not reason else f"{words}: {reason}"


def how_it_began(mode: str, reason: str) -> str:
    """Return in words how a seat at work was started: ``began a new conversation: …``."""
    words = _MODES[mode].did if mode in _MODES else mode
    return words if mode == _NATIVE or not reason else f"{words}: {reason}"


def needs_reason(mode: str, reason: str) -> bool:
    """Return whether to say why a seat at work does not go on with a conversation of before.

    At its first start there was none (`NO_EARLIER`).
    """
    return mode != _NATIVE and reason not in {"", NO_EARLIER}


def started_again(attempt: int) -> str:
    """Return how often a seat was started for the same work; empty for once."""
    return f"started {attempt} times" if attempt > 1 else ""
