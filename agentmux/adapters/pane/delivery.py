"""Typing into a pane, and proving that it arrived.

"Sent" without evidence is the most reported fault of programs like this one. So: nothing is typed
over a person's draft or into a dialog, a body is typed once, Enter goes only after the text has
been seen in the composer, and only an emptied composer counts as submitted.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Final

from agentmux.core.agents.screens import ScreenMark, read_screen
from agentmux.core.agents.spec import AgentSpec
from agentmux.core.codec.frozen import dataclass
from agentmux.ports.terminal import (
    Delivery,
    DeliveryResult,
    Panes,
    Screen,
    TerminalError,
    TerminalUnreachableError,
)

LINE_MAX: Final = 4000
"""Bytes: a program that reads in canonical mode loses what goes beyond 4096, Enter included."""

_TAIL: Final = 40
"""Characters at the end of a text by which it is known again."""

_POLL_S: Final = 0.04
_STILL_THERE_S: Final = 0.4
"""Between the two looks that must both find our text before Enter is pressed once more."""

_CONTROLS = re.compile(r"\x1b\[20[01]~|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PASTED = re.compile(r"\[Pasted ")
_RULE = re.compile(r"^[\s╭╮╰╯┌┐└┘├┤─━═╌┄▀▄]*$")
_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
# Dim, inverse, underlined, coloured.
_BEGINS: Final = {"2": "d", "7": "i", "4": "u"} | dict.fromkeys(
    map(str, (*range(30, 39), *range(90, 98))), "c"
)
_ENDS: Final = {"1": "d", "22": "d", "27": "i", "24": "u", "39": "c"}
_PLACEHOLDER = re.compile(r"(?<!i)i(?=d)|d+|(?<!u)uc+")
_BORDERS: Final = "│┃║"
_NO_WIDTH: Final = "\u200b-\u200d\u2060\ufeff"
"""qwen draws its cursor with one of them."""


def clean(text: str) -> str:
    """Take out of a text what would end the paste early or act on the terminal; tabs stay."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def undimmed(ansi: str) -> str:
    """The plain text of a screen with its placeholders blanked.

    Dim text in a composer is a suggestion, not a draft; so is the one inverse character in front
    of it that some agents draw as their cursor. qwen does not dim: its cursor is underlined, and
    what it suggests stands behind that in a colour, up to the end of the row.
    """
    cells: list[str] = []
    marks: list[str] = []
    style: frozenset[str] = frozenset()
    for index, part in enumerate(_SGR.split(ansi)):
        if index % 2:
            style = _style(part, style)
            continue
        mark = next((each for each in "diuc" if each in style), " ")
        cells.extend(part)
        marks.extend("\n" if cell == "\n" else mark for cell in part)
    text = "".join(cells)
    for match in _PLACEHOLDER.finditer("".join(marks)):
        blank = re.sub(r"[^\n]", " ", text[match.start() : match.end()])
        text = text[: match.start()] + blank + text[match.end() :]
    return text


def _style(codes: str, style: frozenset[str]) -> frozenset[str]:
    numbers = iter(codes.split(";"))
    for number in numbers:
        if number in {"38", "48", "58"}:  # a colour: its numbers are not styles
            for _ in range(1 if next(numbers, "") == "5" else 3):
                next(numbers, None)
        if number in {"", "0"}:
            style = frozenset()
        style = style - set(_ENDS.get(number, "")) | set(_BEGINS.get(number, ""))
    return style


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """Where an agent takes text in, as one screen shows it.

    Attributes:
        draft: What stands in it, without placeholder.
        body: All from it to the end of the screen, with nothing between the characters.
        above: All before it, likewise.
    """

    draft: str
    body: str
    above: str


def find_composer(screen: Screen, spec: AgentSpec) -> Composer | None:
    """Find the composer: after the last prompt, or up to the cursor where no prompt is known."""
    text = undimmed(screen.ansi)
    if spec.ready is None:
        rows = text.split("\n")[: screen.cursor_row + 1]
        at_rest = not rows[-1][: screen.cursor_col].strip()
        body = "" if at_rest else _squeezed("\n".join(rows[-10:]))
        return Composer(draft="", body=body, above="")
    found = list(re.finditer(spec.ready, text, re.MULTILINE))
    if not found:
        return None
    last = found[-1]
    start, end = last.span("draft") if "draft" in last.groupdict() else (last.end(), None)
    return Composer(
        draft=_draft(text[start:end]),
        body=_squeezed(text[start:]),
        above=_squeezed(text[: last.start()]),
    )


def _draft(text: str) -> str:
    """The text up to a rule or an empty line, without what is drawn around it."""
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and _RULE.match(line):
            break
        lines.append(line.rstrip().rstrip(_BORDERS).strip(" " + _BORDERS))
    return "\n".join(lines).strip()


def _squeezed(text: str) -> str:
    """Without blanks, borders and what has no width: agents wrap text where they like."""
    return re.sub(rf"[\s{_BORDERS}{_NO_WIDTH}]", "", text)


class _Typing:
    """One text on its way into one pane."""

    def __init__(  # noqa: PLR0913 (what `deliver` was given)
        self,
        panes: Panes,
        pane: str,
        text: str,
        spec: AgentSpec,
        *,
        once: bool,
        deadline: float,
        clock: Callable[[], float],
        pause: Callable[[float], Awaitable[object]],
    ) -> None:
        self.panes = panes
        self.pane = pane
        self.text = text
        self.tail = _squeezed(text)[-_TAIL:]
        self.spec = spec
        self.once = once
        self.deadline = deadline
        self.clock = clock
        self.pause = pause
        self.was_busy = False
        self.typed = False
        self.begun = False
        self.held_since: float | None = None
        self.pressed_again = False

    def look(self) -> Screen | None:
        return self.panes.capture([self.pane]).get(self.pane)

    def has_time(self) -> bool:
        return self.clock() < self.deadline

    def mark(self, screen: Screen) -> ScreenMark:
        return read_screen(self.spec, screen.text)

    def composer(self, screen: Screen) -> Composer | None:
        """The composer; none while a dialog is up, above which our own line may look like one."""
        return None if self.mark(screen) in _DIALOGS else find_composer(screen, self.spec)

    def holds_text(self, composer: Composer) -> bool:
        """Whether our text, or the marker that stands for it, is in the composer."""
        return self.holds_tail(composer) or bool(_PASTED.search(composer.draft))

    def holds_tail(self, composer: Composer) -> bool:
        if self.spec.ready is None:
            return composer.body.endswith(self.tail)
        return self.tail in composer.body

    async def run(self) -> Delivery:
        refusal = await self.wait_for_room()
        if refusal is not None:
            return refusal
        self.typed = True
        if not self.begun:
            self.panes.paste(self.pane, self.text)
        missing = await self.see_text()
        if missing is not None:
            return missing
        self.panes.press_enter(self.pane)
        return await self.see_submitted()

    async def wait_for_room(self) -> Delivery | None:
        """Wait for an empty composer, the same on two looks; else say why nothing was typed."""
        last: tuple[DeliveryResult | None, str] | None = None
        while True:
            screen = self.look()
            if screen is None:
                return _said(DeliveryResult.PANE_GONE, "the pane is gone; nothing was typed")
            found = self.judge(screen)
            if found == last and found[1] != _NO_COMPOSER:
                self.was_busy = self.mark(screen) is ScreenMark.BUSY
                self.begun = found[1] == _BEGUN
                return _said(found[0], found[1] + "; nothing was typed") if found[0] else None
            if not self.has_time():
                return _said(DeliveryResult.UNKNOWN, f"{found[1] or 'no calm'}; nothing was typed")
            last = found
            await self.pause(_POLL_S)

    def judge(self, screen: Screen) -> tuple[DeliveryResult | None, str]:
        """What speaks against typing now; None with an empty reason where nothing does."""
        mark = self.mark(screen)
        if mark in _DIALOGS:
            return DeliveryResult.REFUSED_DIALOG, f"the screen shows a dialog ({mark})"
        composer = find_composer(screen, self.spec)
        # A program that has drawn nothing yet is not there to be typed at: what it finds waiting
        # when it begins to read may answer the first dialog that it shows.
        if composer is None or not screen.text.strip():
            return None, _NO_COMPOSER
        if self.once and self.holds_tail(composer):
            return None, _BEGUN
        if self.once and self.tail in _squeezed(undimmed(screen.ansi)):
            return DeliveryResult.SUBMITTED, "the text is in the transcript already"
        if composer.draft:
            return DeliveryResult.REFUSED_DRAFT, "somebody's draft is in the composer"
        return None, ""

    async def see_text(self) -> Delivery | None:
        """Wait until the pasted text is seen; else say what is known of it."""
        while True:
            screen = self.look()
            if screen is None:
                return _said(DeliveryResult.PANE_GONE, "the pane went away after the paste")
            composer = self.composer(screen)
            if composer is not None and self.holds_text(composer):
                return None
            if not self.has_time():
                return _said(DeliveryResult.UNKNOWN, "pasted, but not seen in the composer")
            await self.pause(_POLL_S)

    async def see_submitted(self) -> Delivery:
        """Wait for the emptied composer and a sign of work; press Enter once more at most."""
        emptied = 0
        while True:
            screen = self.look()
            if screen is None:
                return _said(DeliveryResult.PANE_GONE, "the pane went away after Enter")
            composer = self.composer(screen)
            holds = composer is not None and self.holds_text(composer)
            self.press_again(holds=holds)
            if composer is not None and not holds and not composer.draft:
                emptied += 1
                proof = self.proof(screen, composer, emptied)
                if proof is not None:
                    return proof
            else:
                emptied = 0
            if not self.has_time():
                return self.unproved(screen, holds=holds)
            await self.pause(_POLL_S)

    def press_again(self, *, holds: bool) -> None:
        """Press Enter a second and last time for a text that two looks found still there."""
        if not holds:
            self.held_since = None
        elif self.held_since is None:
            self.held_since = self.clock()
        elif not self.pressed_again and self.clock() - self.held_since >= _STILL_THERE_S:
            self.pressed_again = True
            self.panes.press_enter(self.pane)

    def proof(self, screen: Screen, composer: Composer, emptied: int) -> Delivery | None:
        """What an empty composer proves, together with the rest of the screen."""
        busy = self.mark(screen) is ScreenMark.BUSY
        if busy and self.was_busy:
            return _said(DeliveryResult.QUEUED, "the composer is empty, the agent was busy before")
        if busy:
            return _said(DeliveryResult.SUBMITTED, "the composer is empty, the agent is busy")
        if emptied > 1 and self.tail in composer.above:
            return _said(
                DeliveryResult.SUBMITTED, "the composer is empty, the text is in the transcript"
            )
        if emptied > 1 and self.spec.busy is None:
            return _said(DeliveryResult.SUBMITTED, "the text has left the composer")
        return None

    def unproved(self, screen: Screen, *, holds: bool) -> Delivery:
        if holds:
            return _said(DeliveryResult.TYPED_NOT_SUBMITTED, "the text is still in the composer")
        mark = self.mark(screen)
        return _said(DeliveryResult.UNKNOWN, f"Enter was sent; the screen says {mark}")


_DIALOGS: Final = frozenset({ScreenMark.TRUST, ScreenMark.WAITING, ScreenMark.LIMIT})
_NO_COMPOSER: Final = "no composer was seen"
_BEGUN: Final = "the text is in the composer already"


def _said(result: DeliveryResult, evidence: str) -> Delivery:
    return Delivery(result=result, evidence=evidence)


async def deliver(  # noqa: PLR0913 (clock and pause are the environment)
    panes: Panes,
    pane: str,
    text: str,
    spec: AgentSpec,
    *,
    deadline_s: float,
    once: bool = False,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> Delivery:
    """Type ``text`` into a pane, submit it with one Enter, and say what became of it.

    One call per pane at a time is the caller's duty. Never presses Escape, never types twice.

    Args:
        panes: Where the pane is.
        pane: Its id.
        text: Control characters are taken out; newlines stay newlines.
        spec: The agent that runs there.
        deadline_s: For all of it.
        once: The text is like no other. Where it is on the screen already, another process has
            begun, and only what is left is done: nothing, or Enter.
        clock: Monotonic seconds.
        pause: Lets that many seconds pass.

    Raises:
        ValueError: The text is empty, or has a line of more than `LINE_MAX` bytes.
    """
    text = clean(text)
    if not text or max(len(line.encode()) for line in text.split("\n")) > LINE_MAX:
        raise ValueError(f"a text to type has 1 to {LINE_MAX} bytes a line; put it into a file")
    typing = _Typing(
        panes,
        pane,
        text,
        spec,
        once=once,
        deadline=clock() + deadline_s,
        clock=clock,
        pause=pause,
    )
    try:
        return await typing.run()
    except TerminalUnreachableError as error:
        return _said(DeliveryResult.UNKNOWN, error.message + _typed(typing))
    except TerminalError as error:
        gone = pane not in panes.capture([pane])
        result = DeliveryResult.PANE_GONE if gone else DeliveryResult.UNKNOWN
        return _said(result, error.message + _typed(typing))


def _typed(typing: _Typing) -> str:
    return "; the text may have been typed" if typing.typed else "; nothing was typed"
