"""The texts of notifications; pure. They hold no output of an agent, and no escape sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agentmux.core.decisions.attention import Notice
from agentmux.core.names.occasion import Occasion
from agentmux.core.terminal.text_width import cell_width, clean, cut

_LONGEST: Final = 100
_WHAT: Final[Mapping[Occasion, str]] = {
    Occasion.DECISION: "wants your decision",
    Occasion.QUESTION: "waits for you",
    Occasion.STALLED: "has stalled",
    Occasion.FAILED: "has failed",
    Occasion.PARKED: "is parked until a usage limit ends",
    Occasion.DONE: "is done",
}
_COMMAND: Final[Mapping[Occasion, str]] = {
    Occasion.DECISION: "agentmux show",
    Occasion.QUESTION: "agentmux attach",
    Occasion.STALLED: "agentmux attach",
    Occasion.FAILED: "agentmux status",
    Occasion.PARKED: "agentmux status",
    Occasion.DONE: "agentmux show",
}


def notice_title(name: str, notices: Sequence[Notice]) -> str:
    """Return one line that says which session calls for a person, and why.

    Args:
        name: The name of the session for commands.
        notices: One or more with the same occasion.
    """
    seats = ", ".join(each.seat for each in notices if each.seat)
    who = f"{name}: {seats}" if seats else name
    return f"{_line(who)} {_WHAT[notices[0].on]}"


def notice_command(name: str, on: Occasion) -> str:
    """Return the command to type in the project's directory."""
    return f"{_COMMAND[on]} {_line(name)}"


def notice_body(project: str, subject: str, command: str) -> str:
    """Return which feature it is, and the command to type, a line each.

    Args:
        project: The name of the project.
        subject: What the session is about; only its first line is told.
        command: The command.
    """
    first = next(iter(subject.strip().splitlines()), "")
    return "\n".join(line for line in (_line(first), f"in {_line(project)}: {command}") if line)


def _line(text: str) -> str:
    return cut(clean(text), _LONGEST, cells=cell_width)
