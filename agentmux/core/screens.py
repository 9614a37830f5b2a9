"""What the screen of an agent says, by the patterns of its registry entry."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from agentmux.core.agents import AgentSpec

LAST_ROWS: Final = 25
"""Of a screen that are read, blank ones not counted: composer, busy mark and dialogs are there."""

_LAST_WORDS: Final = 5
"""Rows with text at the end of a screen: an error, and the hint that goes with it."""


class ScreenMark(StrEnum):
    """What an agent's screen says about it."""

    TRUST = "trust"
    LIMIT = "limit"
    WAITING = "waiting"
    BUSY = "busy"
    READY = "ready"
    UNKNOWN = "unknown"


def read_screen(spec: AgentSpec, text: str) -> ScreenMark:
    """Say what the plain text of a screen shows; a dialog wins over what stands around it.

    Only the last rows count: what stands above them is talk of an earlier time.
    """
    rows = text.split("\n")
    written = [number for number, row in enumerate(rows) if row.strip()][-LAST_ROWS:]
    text = "\n".join(rows[written[0] :]) if written else ""
    for mark, pattern in (
        (ScreenMark.TRUST, spec.trust),
        (ScreenMark.WAITING, spec.waiting),
        (ScreenMark.BUSY, spec.busy),
        (ScreenMark.LIMIT, spec.limit),
        (ScreenMark.READY, spec.ready),
    ):
        if pattern is not None and re.search(pattern, text, re.MULTILINE):
            return mark
    return ScreenMark.UNKNOWN


def shows_prompt(spec: AgentSpec, text: str, mark: str) -> bool:
    """Whether the screen of an idle agent shows, above its composer, a prompt that holds ``mark``.

    So a prompt counts as arrived whose turn was over before anybody saw it at work. ``mark`` must
    be a word that stands in no other prompt; a terminal may break it over two rows.
    """
    if spec.ready is None or read_screen(spec, text) is not ScreenMark.READY:
        return False
    *_, composer = re.finditer(spec.ready, text, re.MULTILINE)
    return mark in "".join(text[: composer.start()].split())


def is_rejection(spec: AgentSpec, text: str) -> bool:
    """Whether the screen says that the agent does not know its conversation."""
    return spec.rejected is not None and bool(re.search(spec.rejected, text, re.MULTILINE))


def refuses(spec: AgentSpec, text: str) -> bool:
    """Whether all that the agent has to say is that it does not know its conversation.

    The same words further up, or above a composer, may stand in a conversation that was resumed.
    """
    written = [row for row in text.split("\n") if row.strip()][-_LAST_WORDS:]
    unmarked = read_screen(spec, text) is ScreenMark.UNKNOWN
    return unmarked and is_rejection(spec, "\n".join(written))


def switches_shown(spec: AgentSpec, text: str) -> int:
    """Count how often the screen says that the user has left the conversation."""
    return 0 if spec.switched is None else len(re.findall(spec.switched, text, re.MULTILINE))
