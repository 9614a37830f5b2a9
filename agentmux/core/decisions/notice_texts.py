"""The texts of notifications; pure. They contain no output of agents and no escape sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agentmux.core.decisions.attention import Notice
from agentmux.core.names.occasion import Occasion
from agentmux.core.names.words.listing import join_names
from agentmux.core.terminal.text.text_width import cell_width, clean, cut

_LONGEST: Final = 100
_WHAT: Final[Mapping[Occasion, tuple[str, str]]] = {
    Occasion.DECISION: ("wants your decision", "want your decision"),
    Occasion.QUESTION: ("waits for you", "wait for you"),
    Occasion.STALLED: ("has stalled", "have stalled"),
    Occasion.FAILED: ("has failed", "have failed"),
    Occasion.PARKED: ("waits until a usage limit ends", "wait until usage limits end"),
    Occasion.DONE: ("is done", "are done"),
}
"""The text for each occasion: for a single seat or session, and for several seats."""
_COMMAND: Final[Mapping[Occasion, str]] = {
    Occasion.DECISION: "agentmux attach",
    Occasion.QUESTION: "agentmux attach",
    Occasion.STALLED: "agentmux attach",
    Occasion.FAILED: "agentmux status",
    Occasion.PARKED: "agentmux status",
    Occasion.DONE: "agentmux status",
}


def notice_title(name: str, notices: Sequence[Notice]) -> str:
    """Return one line that says which session and seats need a person, and why.

    Args:
        name: The name of the session, as commands take it.
        notices: One or more notices with the same occasion.
    """
    seats = _seats(notices)
    return _describe_notices(f"{name}: {join_names(seats)}" if seats else name, notices)


def notice_line(name: str, notices: Sequence[Notice]) -> str:
    """Return one line for tmux's status line: who needs a person, why, and which command to type.

    The session's name appears only in the command, to keep the line short.

    Args:
        name: The name of the session, as commands take it.
        notices: One or more notices with the same occasion.
    """
    description = _describe_notices(join_names(_seats(notices)) or "a session", notices)
    return f"{description}: {notice_command(name, notices[0].on)}"


def notice_command(name: str, on: Occasion) -> str:
    """Return the command with which the user follows up an occasion, to type in the project.

    It is ``agentmux attach NAME`` or ``agentmux status NAME``. ``name`` is the name of the session.
    """
    return f"{_COMMAND[on]} {_line(name)}"


def notice_body(project: str, subject: str, command: str) -> str:
    """Return the body of a notification: a line with ``subject``, and ``in PROJECT: COMMAND``.

    Args:
        project: The name of the project.
        subject: What the session is about; only its first line is used. If it is empty, the first
            line of the body is left out.
        command: The command to type, as `notice_command` returns it.
    """
    first = next(iter(subject.strip().splitlines()), "")
    return "\n".join(line for line in (_line(first), f"in {_line(project)}: {command}") if line)


def _seats(notices: Sequence[Notice]) -> list[str]:
    return [each.seat for each in notices if each.seat]


def _describe_notices(who: str, notices: Sequence[Notice]) -> str:
    one, several = _WHAT[notices[0].on]
    return f"{_line(who)} {several if len(_seats(notices)) > 1 else one}"


def _line(text: str) -> str:
    return cut(clean(text), _LONGEST, cells=cell_width)
