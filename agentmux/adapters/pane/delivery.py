"""Types a text into an agent's pane and proves that it arrived.

The composer is the agent's input field. The rules: a text is typed only if the composer is
recognised on the screen, or a person has agreed to type blind; nothing is typed over a person's
draft or into a dialog; a text is typed only once; Enter is pressed only after the text was seen in
the composer; the text counts as submitted only if the composer is empty afterwards. Programs
without these checks report messages as sent that never arrive, or that answer questions.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Final

from agentmux.core.agents.screens import ScreenState, command_in, read_screen, shows_limit_menu
from agentmux.core.agents.spec import AgentSpec
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.terminal.text.sgr import SEQUENCE, Style
from agentmux.ports.tmux.terminal import (
    LINE_MAX,
    NO_FIELD,
    DeliveryResult,
    Panes,
    Screen,
    TerminalError,
    TerminalUnreachableError,
    TypingResult,
)

_TAIL: Final = 40
"""The number of characters at the end of a text by which the text is recognised on a screen."""

_POLL_S: Final = 0.04
_STILL_THERE_S: Final = 0.4
"""Seconds after which Enter is pressed once more if the text is still in the composer."""

_CONTROLS = re.compile(
    r"\x1b\[20[01]~|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
    # Characters that change the text direction, or are invisible: no screen shows them as typed.
    r"|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
_PASTED = re.compile(r"\[Pasted ")
_RULE = re.compile(r"^[\s╭╮╰╯┌┐└┘├┤─━═╌┄▀▄]*$")
_PLACEHOLDER = re.compile(r"(?<!i)i(?=d)|d+|(?<!u)uc+")
_BORDERS: Final = "│┃║"
_NO_WIDTH: Final = "\u200b-\u200d\u2060\ufeff"
"""Characters without width, as a range for a regular expression; qwen draws its cursor with one
of them."""

_ERASE_S: Final = 2.0
"""The maximum time, in seconds, to remove our own text from the input field."""


def clean(text: str) -> str:
    """Return ``text`` without the characters that must not be typed into a pane.

    These are control characters, which could end the paste or act on the terminal, invisible
    characters, and those that change the text direction. Tabs and newlines stay; a carriage return
    becomes a newline. White space at both ends is removed. Nothing on a screen is changed.
    """
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def blank_placeholder(ansi: str) -> str:
    """Return the plain text of a screen, with the placeholder in the input field blanked out.

    ``ansi`` is the screen with SGR sequences, as `Screen.ansi`. A placeholder is a suggestion that
    nobody typed, shown in dim text; it must not count as a draft. An inverse character before dim
    text belongs to the placeholder, because some agents draw their cursor so. qwen draws its
    placeholder in a colour, from its underlined cursor to the end of the row. The horizontal rules
    around an input field stay, although pi dims them.
    """
    cells: list[str] = []
    marks: list[str] = []
    style = Style()
    for index, part in enumerate(SEQUENCE.split(ansi)):
        if index % 2:
            style.take(part)
            continue
        mark = _mark(style)
        cells.extend(part)
        marks.extend("\n" if cell == "\n" else mark for cell in part)
    text = "".join(cells)
    for match in _PLACEHOLDER.finditer("".join(marks)):
        blank = re.sub(r"[^\n─━]", " ", text[match.start() : match.end()])
        text = text[: match.start()] + blank + text[match.end() :]
    return text


def _mark(style: Style) -> str:
    """Return the letter of a style: d(im), i(nverse), u(nderlined), c(oloured).

    A blank for others.
    """
    if style.dim:
        return "d"
    if 7 in style.marks:
        return "i"
    return "u" if 4 in style.marks else "c" if style.fg else " "


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """An agent's input field, as read from one screen capture.

    Attributes:
        draft: The text typed into the field; a placeholder does not count.
        body: All text from the start of the field to the end of the screen, without blanks and
            borders.
        above: All text above the field, without blanks and borders.
    """

    draft: str
    body: str
    above: str


def find_composer(screen: Screen, spec: AgentSpec) -> Composer | None:
    """Return the agent's input field on a screen; None if the screen does not show it.

    The field begins after the last match of the agent's ``ready`` pattern; without such a pattern,
    the result is None. If ``spec.blind`` is set, because the agent's field cannot be recognised,
    the field is assumed to be at the cursor: ``body`` is then the text of up to ten rows that end
    with the cursor's row (empty if the row is blank before the cursor), and ``draft`` and ``above``
    are empty.
    """
    text = blank_placeholder(screen.ansi)
    if spec.blind:
        rows = text.split("\n")[: screen.cursor_row + 1]
        at_rest = not rows[-1][: screen.cursor_col].strip()
        body = "" if at_rest else _squeeze("\n".join(rows[-10:]))
        return Composer(draft="", body=body, above="")
    matches = list(re.finditer(spec.ready, text, re.MULTILINE)) if spec.ready is not None else []
    if not matches:
        return None
    last = matches[-1]
    start, end = last.span("draft") if "draft" in last.groupdict() else (last.end(), None)
    return Composer(
        draft=_draft(text[start:end]),
        body=_squeeze(text[start:]),
        above=_squeeze(text[: last.start()]),
    )


def _draft(text: str) -> str:
    """Return ``text`` without borders, up to the first line of only blanks and frame characters.

    The first line of ``text`` does not count as such a line.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and _RULE.match(line):
            break
        lines.append(line.rstrip().rstrip(_BORDERS).strip(" " + _BORDERS))
    return "\n".join(lines).strip()


def _squeeze(text: str) -> str:
    """Return ``text`` without blanks, borders and characters without width.

    Texts can then be compared although agents wrap them at any place.
    """
    return re.sub(rf"[\s{_BORDERS}{_NO_WIDTH}]", "", text)


class _Typing:
    """One delivery of a text to a pane, and what was seen and done in it so far."""

    def __init__(  # noqa: PLR0913 (what `deliver` was given)
        self,
        panes: Panes,
        pane: str,
        text: str,
        spec: AgentSpec,
        *,
        once: bool,
        begins: Callable[[], object] | None,
        keyboard_lock: asyncio.Lock,
        deadline: float,
        clock: Callable[[], float],
        pause: Callable[[float], Awaitable[object]],
    ) -> None:
        self.panes = panes
        self.pane = pane
        self.text = text
        self.tail = _squeeze(text)[-_TAIL:]
        self.is_long = len(self.tail) == _TAIL
        self.spec = spec
        self.once = once
        self.begins = begins
        self.keyboard_lock = keyboard_lock
        self.has_hands = False
        self.deadline = deadline
        self.clock = clock
        self.pause = pause
        self.was_busy = False
        self.typed = False
        self.begun = False
        self.held_since: float | None = None
        self.pressed_again = False
        self.left_menu = False
        self.above_before = 0

    def look(self) -> Screen | None:
        return self.panes.capture([self.pane]).get(self.pane)

    def has_time(self) -> bool:
        return self.clock() < self.deadline

    def mark(self, screen: Screen) -> ScreenState:
        return read_screen(self.spec, screen.text)

    def composer(self, screen: Screen) -> Composer | None:
        """Return the agent's input field; None if the screen shows no field, or shows a dialog."""
        return None if self.mark(screen) in _DIALOGS else find_composer(screen, self.spec)

    def holds_text(self, composer: Composer) -> bool:
        """Return whether the input field contains our text, or the agent's mark of a pasted one."""
        return self.holds_tail(composer) or bool(_PASTED.search(composer.draft))

    def holds_tail(self, composer: Composer) -> bool:
        if self.spec.blind:
            return composer.body.endswith(self.tail)
        # A few characters can stand anywhere, such as in the hints below the input field.
        return self.tail in (composer.body if self.is_long else _squeeze(composer.draft))

    async def take_hands(self) -> None:
        await self.keyboard_lock.acquire()
        self.has_hands = True

    def free_hands(self) -> None:
        """Release the lock, so that others may press keys in the pane.

        Do nothing if this delivery does not have the lock.
        """
        if self.has_hands:
            self.has_hands = False
            self.keyboard_lock.release()

    async def rest(self, *, free: bool) -> None:
        """Wait for a moment, until the next look at the screen.

        With ``free``, the lock is released meanwhile, so that others may press keys in the pane.
        """
        if free:
            self.free_hands()
        await self.pause(_POLL_S)
        if free:
            await self.take_hands()

    async def run(self) -> TypingResult:
        try:
            await self.take_hands()
            return replace(await self.type(), typed=self.typed)
        finally:
            self.free_hands()

    async def type(self) -> TypingResult:
        refusal = await self.wait_for_room()
        if refusal is not None:
            return refusal
        if self.begins is not None and not self.begun:
            self.begins()
        self.typed = True
        if not self.begun:
            # A backslash right before Enter would make a new line of it.
            end = " " if self.text.endswith("\\") else ""
            self.panes.paste(self.pane, self.text + end)
        missing = await self.see_text()
        if missing is not None:
            return missing
        self.panes.press_enter(self.pane)
        return await self.see_submitted()

    async def wait_for_room(self) -> TypingResult | None:
        """Wait until two screens in a row show an empty input field, and return None.

        With ``once`` (see `deliver`), a field that already contains our text is accepted, too. If
        the text must not be typed, or the time is up, return the result of the delivery: nothing
        was typed.
        """
        last: tuple[DeliveryResult | None, str] | None = None
        while True:
            screen = self.look()
            if screen is None:
                return _report(DeliveryResult.PANE_GONE, "the pane is gone; nothing was typed")
            ruling = self.judge(screen)
            if ruling == last and ruling[1] != NO_FIELD:
                self.was_busy = self.mark(screen) is ScreenState.BUSY
                self.begun = ruling[1] == _BEGUN
                self.count_above(screen)
                return _report(ruling[0], ruling[1] + "; nothing was typed") if ruling[0] else None
            if not self.has_time():
                return _report(
                    DeliveryResult.UNKNOWN,
                    f"{ruling[1] or 'the screen kept changing'}; nothing was typed",
                )
            last = ruling
            # The agent may need a person's keys before it shows its composer.
            await self.rest(free=ruling[1] == NO_FIELD)

    def count_above(self, screen: Screen) -> None:
        """Record how often the text occurs above the input field before it is typed."""
        composer = find_composer(screen, self.spec)
        self.above_before = composer.above.count(self.tail) if composer is not None else 0

    def is_above(self, composer: Composer) -> bool:
        """Return whether the text has appeared above the input field since it was typed.

        A short text counts only if it occurs more often than before.
        """
        return composer.above.count(self.tail) > (0 if self.is_long else self.above_before)

    def judge(self, screen: Screen) -> tuple[DeliveryResult | None, str]:
        """Judge whether to end the delivery, wait, or type now; first leave a usage limit's menu.

        If the screen shows such a menu, this presses Enter, once per delivery, and the answer is to
        wait.

        Returns:
            A pair. To end the delivery: its result (because of a dialog or a draft, for example),
            and a sentence with the evidence. To wait: None and `NO_FIELD`. To type: None and an
            empty text, or `_BEGUN` if the input field contains our text already.
        """
        mark = self.mark(screen)
        if mark in _DIALOGS:
            return DeliveryResult.REFUSED_DIALOG, f"the screen shows a dialog ({mark})"
        if shows_limit_menu(self.spec, screen.text):
            self.leave_menu()
            return None, NO_FIELD
        if self.spec.ready is None and not self.spec.blind:
            return DeliveryResult.UNKNOWN, _NO_PATTERN.format(self.spec.name)
        composer = find_composer(screen, self.spec)
        # A program that has drawn nothing yet must not be typed at: text that waits for it may
        # answer its first dialog.
        if composer is None or not screen.text.strip():
            return None, NO_FIELD
        if self.once and self.holds_tail(composer):
            return None, _BEGUN
        if self.once and self.tail in _squeeze(blank_placeholder(screen.ansi)):
            return DeliveryResult.SUBMITTED, "the text is in the transcript already"
        if composer.draft:
            return DeliveryResult.REFUSED_DRAFT, "the composer has a draft"
        return None, ""

    def leave_menu(self) -> None:
        """Press Enter, once, to leave the menu of a usage limit."""
        if not self.left_menu:
            self.left_menu = True
            self.panes.press_enter(self.pane)

    async def see_text(self) -> TypingResult | None:
        """Wait until the input field shows the pasted text, and return None.

        If it is not seen in time, or the pane ends, return the result of the delivery.
        """
        while True:
            screen = self.look()
            if screen is None:
                return _report(DeliveryResult.PANE_GONE, "the pane ended after the paste")
            composer = self.composer(screen)
            if composer is not None and self.holds_text(composer):
                return None
            if not self.has_time():
                return _report(DeliveryResult.UNKNOWN, "pasted, but not seen in the composer")
            await self.rest(free=composer is None)

    async def see_submitted(self) -> TypingResult:
        """Wait for an empty input field and a sign that the agent works; return the result.

        Press Enter at most once more meanwhile.
        """
        emptied = 0
        while True:
            screen = self.look()
            if screen is None:
                return _report(DeliveryResult.PANE_GONE, "the pane ended after Enter")
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
                return await self.report_unproved(screen, holds=holds)
            await self.rest(free=not holds)

    def press_again(self, *, holds: bool) -> None:
        """Press Enter once more if the text has stayed in the input field for `_STILL_THERE_S`.

        The caller calls this after every look at the screen; ``holds`` says whether the input field
        contains the text. Enter is pressed at most once here, and only for agents whose screen
        shows when they are working: another agent may already have accepted the text, and Enter
        would answer its next question.
        """
        if not holds or self.spec.busy is None:
            self.held_since = None
        elif self.held_since is None:
            self.held_since = self.clock()
        elif not self.pressed_again and self.clock() - self.held_since >= _STILL_THERE_S:
            self.pressed_again = True
            self.panes.press_enter(self.pane)

    def proof(self, screen: Screen, composer: Composer, emptied: int) -> TypingResult | None:
        """Return the result if the screen proves that Enter sent the text, else None.

        Call it when the input field ``composer`` is empty; ``emptied`` is the number of screens in
        a row on which it was.
        """
        busy = self.mark(screen) is ScreenState.BUSY
        if busy and self.was_busy:
            return _report(
                DeliveryResult.QUEUED, "the composer is empty, the agent was busy before"
            )
        if busy:
            return _report(DeliveryResult.SUBMITTED, "the composer is empty, the agent is busy")
        if emptied > 1 and self.is_above(composer):
            return _report(
                DeliveryResult.SUBMITTED, "the composer is empty, the text is in the transcript"
            )
        if emptied > 1 and self.spec.busy is None:
            return _gone_from(self.spec)
        return None

    async def report_unproved(self, screen: Screen, *, holds: bool) -> TypingResult:
        if not holds:
            mark = self.mark(screen)
            return _report(DeliveryResult.UNKNOWN, f"Enter was sent; the screen shows {mark}")
        erased = not self.once and await self.erase()
        end = "Enter did not submit the text, so it was removed again"
        evidence = end if erased else "the text is still in the composer"
        return _report(DeliveryResult.TYPED_NOT_SUBMITTED, evidence)

    async def erase(self) -> bool:
        """Remove our own text from the input field; return whether the field is empty afterwards.

        Nothing is removed unless the field contains our text and nothing else. Nor is text removed
        if the agent's screen does not show when it is working, because the agent may already have
        accepted the text.
        """
        if self.spec.busy is None or self.spec.blind:
            return False
        text, end, last = _squeeze(self.text), self.clock() + _ERASE_S, ""
        while self.clock() < end:
            screen = self.look()
            composer = self.composer(screen) if screen is not None else None
            if composer is None:
                return False
            left = _squeeze(composer.draft)
            if not left:
                return True
            if not (text.startswith(left) if last else text == left):
                return False
            # The first key erases a line; if it erases nothing, the second one joins two lines.
            self.panes.press_keys(self.pane, ["BSpace" if left == last else "C-u"])
            last = left
            await self.rest(free=False)
        return False


def _gone_from(spec: AgentSpec) -> TypingResult:
    """Return the result for a text that has left the composer of an agent that shows no work."""
    if spec.blind:
        return _report(DeliveryResult.UNKNOWN, "it was typed; nothing on the screen can prove more")
    return _report(DeliveryResult.SUBMITTED, "the text has left the composer")


_DIALOGS: Final = frozenset({ScreenState.TRUST, ScreenState.WAITING, ScreenState.LIMIT})
_NO_PATTERN: Final = "its input field is not known (no `agents.{}.ready` in the configuration)"
_BEGUN: Final = "the text is in the composer already"


def _report(result: DeliveryResult, evidence: str) -> TypingResult:
    return TypingResult(result=result, evidence=evidence)


async def deliver(  # noqa: PLR0913 (clock and pause are the environment)
    panes: Panes,
    pane: str,
    text: str,
    spec: AgentSpec,
    *,
    deadline_s: float,
    once: bool = False,
    begins: Callable[[], object] | None = None,
    keyboard_lock: asyncio.Lock | None = None,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> TypingResult:
    """Type ``text`` into a pane, submit it with Enter, and return the result with its evidence.

    It never presses Escape and never types the text twice. If the screen shows the menu of a usage
    limit, it first presses Enter, once, to leave the menu. A text that stays in the input field is
    removed again if the field contains nothing else, ``once`` is false, and the agent's screen
    shows when it is working. Do not start a second call for the same pane before the first has
    returned. Errors of tmux become part of the result.

    Args:
        panes: The session's panes.
        pane: The pane's id.
        text: The text to type; control characters are removed, newlines stay.
        spec: The agent in the pane.
        deadline_s: The time limit for the whole delivery, in seconds.
        once: Whether this text is unique and must be typed only once. If it is on the screen
            already, another process has begun to deliver it, and this call only does the rest:
            press Enter if the text is in the input field, else nothing.
        begins: Called right before the text is pasted; an exception from it ends the call. It is
            not called if the text is on the screen already (see ``once``).
        keyboard_lock: The lock that everyone who presses keys in the pane must hold. This call
            takes it, and frees it while the agent shows no input field. None if nobody else presses
            keys there.
        clock: Returns monotonic seconds.
        pause: Waits for a number of seconds.

    Returns:
        As ``result``: ``submitted`` or ``queued`` if the text arrived; ``refused_dialog``,
        ``refused_draft`` or ``refused_command`` if nothing was typed because of a dialog, of a
        draft in the input field, or of a command to the agent at the beginning of the text;
        ``typed_not_submitted``; ``pane_gone``; or ``unknown``, also if the time is over.

    Raises:
        ValueError: The text is empty, or a line is longer than `LINE_MAX` bytes.
    """
    text = clean(text)
    command = command_in(spec, text)
    if command:
        evidence = f"`{command}` at its beginning is a command to {spec.name}; nothing was typed"
        return TypingResult(result=DeliveryResult.REFUSED_COMMAND, evidence=evidence, typed=False)
    if not text or max(len(line.encode()) for line in text.split("\n")) > LINE_MAX:
        raise ValueError(f"a text to type must not be empty, nor have a line over {LINE_MAX} bytes")
    typing = _Typing(
        panes,
        pane,
        text,
        spec,
        once=once,
        begins=begins,
        keyboard_lock=keyboard_lock or asyncio.Lock(),
        deadline=clock() + deadline_s,
        clock=clock,
        pause=pause,
    )
    try:
        return await typing.run()
    except TerminalUnreachableError as error:
        return _report_error(typing, DeliveryResult.UNKNOWN, error)
    except TerminalError as error:
        gone = pane not in panes.capture([pane])
        result = DeliveryResult.PANE_GONE if gone else DeliveryResult.UNKNOWN
        return _report_error(typing, result, error)


def _report_error(typing: _Typing, result: DeliveryResult, error: TerminalError) -> TypingResult:
    what = "the text may have been typed" if typing.typed else "nothing was typed"
    return TypingResult(result=result, evidence=f"{error.message}; {what}", typed=typing.typed)
