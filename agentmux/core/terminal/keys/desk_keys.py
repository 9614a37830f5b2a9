"""The table of keys of the terminal desk, which the desk, its help and its palette read.

Keys have Textual's names. A key that is not in this table does nothing in the list of sessions.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from agentmux.core.codec.frozen import dataclass


class DeskCommand(Enum):
    """What a key of the desk does."""

    # Keys that run a command.
    ATTACH = "attach"
    APPROVE = "approve"
    CHANGES = "ask for changes"
    ANSWER = "answer"
    TELL = "tell"
    NEW = "new"
    RESUME = "resume"
    RESTART = "restart"
    UNPARK = "unpark"
    STOP = "stop"
    REMOVE = "remove"
    EDIT = "edit"
    PAGER = "pager"
    # Keys that only change what the desk shows.
    SEARCH = "search"
    MARK = "mark"
    UNMARK = "unmark all"
    NEEDY = "next in need"
    NEXT_TAB = "next tab"
    LAST_TAB = "tab before"
    TAB = "tab"
    NEXT_PART = "next part"
    LAST_PART = "part before"
    FOCUS = "other side"
    WIDEN = "widen"
    FILES = "files"
    COMMENT = "comment"
    NEXT_HIT = "next hit"
    LAST_HIT = "hit before"
    DIFF = "diff"
    SUMMARY = "summary"
    KEYS = "all keys"
    QUIT = "quit"
    # Keys that move the selection.
    DOWN = "down"
    UP = "up"
    PAGE_DOWN = "page down"
    PAGE_UP = "page up"
    FIRST = "first"
    LAST = "last"


class DeskPart(Enum):
    """A heading for a group of keys in the help; the value is shown."""

    DECIDE = "The selected session"
    LOOK = "What is shown of it"
    LIST = "The list"
    DESK = "The desk"


_LOOKS: Final = frozenset({DeskCommand.ATTACH, DeskCommand.PAGER})
"""The commands that run a command of AgentMux and change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskKey:
    """One line of the table of keys.

    Attributes:
        keys: The keys, by Textual's names; all of them do the same. Empty if the line is only for
            the help.
        shown: The keys as the help shows them.
        says: What they do, as the help shows it.
        action: What the desk does.
        part: The heading under which the help lists them.
        command: The command that they run, as typed after ``agentmux``; empty if they run none.
    """

    keys: tuple[str, ...]
    shown: str
    says: str
    action: DeskCommand
    part: DeskPart
    command: str = ""

    @property
    def decides(self) -> bool:
        """Whether the key runs a command that acts on sessions, rather than only showing them."""
        return bool(self.command) and self.action not in _LOOKS


def _line(
    part: DeskPart,
    action: DeskCommand,
    keys: tuple[str, ...],
    shown: str,
    says: str,
    command: str = "",
) -> DeskKey:
    return DeskKey(keys=keys, shown=shown, says=says, action=action, part=part, command=command)


_S, _V, _L, _D = DeskPart.DECIDE, DeskPart.LOOK, DeskPart.LIST, DeskPart.DESK
_W = DeskCommand

DESK_KEYS: Final = (
    _line(_S, _W.ATTACH, ("enter",), "Enter", "attach to it; at rest: its resume", "attach"),
    _line(_S, _W.APPROVE, ("a",), "a", "approve: shows what would happen, then asks", "approve"),
    _line(_S, _W.CHANGES, ("c",), "c", "ask for changes, with your comments on the diff",
          "request-changes"),
    _line(_S, _W.DIFF, ("d",), "d", "the diff: every change so far"),
    _line(_S, _W.SUMMARY, ("s",), "s", "the whole summary"),
    _line(_S, _W.ANSWER, ("x",), "x", "answer the question that an agent asks", "answer"),
    _line(_S, _W.TELL, ("t",), "t", "send a message to an agent that runs", "tell"),
    _line(_S, _W.RESUME, ("R",), "R", "resume it, or all marked ones: shows the plan, then asks",
          "resume"),
    _line(_S, _W.RESTART, ("r",), "r", "start a seat again that failed or ended", "restart"),
    _line(_S, _W.UNPARK, ("u",), "u", "let agents go on that wait for a usage limit: asks first",
          "unpark"),
    _line(_S, _W.STOP, ("S",), "S", "stop it: asks first", "stop"),
    _line(_S, _W.REMOVE, ("D", "delete"), "D Del", "remove it for good: asks first", "remove"),
    _line(_V, _W.TAB, ("1", "2", "3", "4", "5", "6"), "1-6", "the tab with this number"),
    _line(_V, _W.NEXT_TAB, ("right", "l"), "\u2192 l", "the next tab"),
    _line(_V, _W.LAST_TAB, ("left", "h"), "\u2190 h", "the tab before"),
    _line(_V, _W.NEXT_PART, ("full_stop",), ".", "the next seat, document, or file of the diff"),
    _line(_V, _W.LAST_PART, ("comma",), ",", "the seat, document, or file before"),
    _line(_V, _W.FILES, ("v",), "v", "the changed files: choose one to go to"),
    _line(_V, _W.FOCUS, ("tab", "shift+tab"), "Tab", "move in the list, or in what is shown"),
    _line(_V, _W.WIDEN, ("z",), "z", "give it the whole width; again, or Tab: the list is back"),
    _line(_V, _W.COMMENT, ("i",), "i", "comment on the selected line of the diff"),
    _line(_V, _W.EDIT, ("e",), "e", "open the file in $VISUAL or $EDITOR; elsewhere its folder"),
    _line(_V, _W.PAGER, ("P",), "P", "the diff in the pager of git, such as delta", "diff"),
    _line(_V, _W.NEXT_HIT, (), "n", "after a search in what is shown: the next line with it"),
    _line(_V, _W.LAST_HIT, ("N",), "N", "the line with it before"),
    _line(_L, _W.SEARCH, ("slash",), "/", "search the list; after Tab or z, what is shown"),
    _line(_L, _W.NEEDY, ("o",), "o", "the next session that needs you"),
    _line(_L, _W.MARK, ("space",), "Space", "mark it; R then resumes all that are marked"),
    _line(_L, _W.UNMARK, ("escape",), "Esc", "end the search, or take all marks back"),
    _line(_L, _W.DOWN, ("down", "j"), "\u2193 j", "a line down"),
    _line(_L, _W.UP, ("up", "k"), "\u2191 k", "a line up"),
    _line(_L, _W.PAGE_DOWN, ("pagedown", "ctrl+f"), "PgDn", "a page down"),
    _line(_L, _W.PAGE_UP, ("pageup", "ctrl+b"), "PgUp", "a page up"),
    _line(_L, _W.FIRST, ("home", "g"), "Home g", "the first line"),
    _line(_L, _W.LAST, ("end", "G"), "End G", "the last line"),
    _line(_D, _W.NEW, ("n",), "n", "start a new session", "start"),
    _line(_D, _W.KEYS, ("question_mark",), "?", "all keys; Ctrl-P finds one by its words"),
    _line(_D, _W.QUIT, ("q", "ctrl+c", "ctrl+q"), "q", "leave the desk; all sessions go on"),
)  # fmt: skip

TABS: Final = ("overview", "screens", "documents", "diff", "why", "journal")
"""The names of the tabs on the right, in order; their keys are 1, 2, and so on."""


def key_of(action: DeskCommand) -> DeskKey:
    """Return the first line of `DESK_KEYS` with this action; there is one for every action."""
    return next(each for each in DESK_KEYS if each.action is action)


def help_lines() -> tuple[str, ...]:
    """Return the text that ``?`` shows, as lines: for each `DeskPart` a heading and its keys."""
    lines: list[str] = []
    for part in DeskPart:
        lines += ["", part.value]
        keys = (each for each in DESK_KEYS if each.part is part)
        lines += [f"  {each.shown:<8}{each.says}" for each in keys]
    return tuple(lines[1:])
