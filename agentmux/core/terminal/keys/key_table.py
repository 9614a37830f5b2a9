"""The table of keys, which monitor, desk and page read, with their help and the docs.

A letter has one line, and so one meaning everywhere; a key that is not in the table does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from typing import Final

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.terminal.keys.key_commands import DESK, KeyCommand, KeyPlace
from agentmux.core.terminal.keys.key_names import show_key

_LOOKS: Final = frozenset({KeyCommand.ATTACH, KeyCommand.PAGER})
"""The commands that run a command of AgentMux and change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLine:
    """What keys do in one place.

    Attributes:
        keys: The keys: printable characters, and else Textual's names, such as ``ctrl+c``; all of
            them do the same. Empty if the line is only for the help.
        says: What they do, as the help shows it.
        command: What they stand for.
        place: Where they do it.
        runs: The command that they run, as typed after ``agentmux``; empty if they run none.
    """

    keys: tuple[str, ...]
    says: str
    command: KeyCommand
    place: KeyPlace
    runs: str = ""

    @property
    def name(self) -> str:
        """The name of the command in a user's configuration, such as ``next_tab``."""
        return self.command.name.lower()

    @property
    def label(self) -> str:
        """The keys as the help shows them, such as ``PgDn``, ``↓ j``, ``1-9`` or ``any key``.

        Of several keys, those with Ctrl or Shift are left out; a row of digits becomes a range.
        """
        plain = [each for each in self.keys if len(each) == 1 or "+" not in each] or self.keys
        if len(plain) > 2 and plain[0].isdecimal():
            return f"{plain[0]}-{plain[-1]}"
        return " ".join(map(show_key, plain)) or "any key"

    @property
    def decides(self) -> bool:
        """Whether the key runs a command that acts on sessions, rather than only showing them."""
        return bool(self.runs) and self.command not in _LOOKS


def _line(
    keys: str, command: KeyCommand, says: Mapping[KeyPlace, str], runs: str = ""
) -> Iterator[KeyLine]:
    """Yield a line for each place in ``says``; ``keys`` are separated by spaces."""
    for place, text in says.items():
        yield KeyLine(keys=tuple(keys.split()), says=text, command=command, place=place, runs=runs)


_C = KeyCommand
_TURN, _ALWAYS, _READS, _WRITES = KeyPlace.DECIDES, KeyPlace.ALWAYS, KeyPlace.READS, KeyPlace.WRITES
_SESSION, _SEEN, _FOUND = KeyPlace.SESSION, KeyPlace.SHOWN, KeyPlace.FOUND
_BOX, _LIST, _DESK, _FLEET, _PAGE = (
    KeyPlace.BOX, KeyPlace.LIST, KeyPlace.DESK, KeyPlace.FLEET, KeyPlace.PAGE,
)  # fmt: skip

KEY_LINES: Final = tuple(chain(
    _line("enter", _C.ATTACH, {
        _SESSION: "attach to it; at rest: its resume",
        _FLEET: "open its session in this terminal; on another host, through ssh",
    }, "attach"),
    _line("a", _C.APPROVE, dict.fromkeys(
        (_TURN, _SESSION, _FLEET, _PAGE), "approve: shows what would happen, then asks",
    ), "approve"),
    _line("c", _C.CHANGES, {
        _TURN: "ask for changes: write what should change",
        _SESSION: "ask for changes, with your comments on the diff",
        _FLEET: "ask for changes: shows what there is, then asks for your words",
        _PAGE: "ask for changes",
    }, "request-changes"),
    _line("d", _C.DIFF, dict.fromkeys(
        (_ALWAYS, _SESSION, _PAGE), "the diff: every change so far",
    )),
    _line("s", _C.SUMMARY, {
        **dict.fromkeys((_ALWAYS, _SESSION, _PAGE), "the whole summary"),
        _FLEET: "what is to be decided on the feature",
    }),
    _line("1 2 3 4 5 6 7 8 9", _C.GO, {_ALWAYS: "go to the pane of the seat with this number"}),
    _line("x", _C.ANSWER, {
        _ALWAYS: "answer an agent: go to the one that asks",
        **dict.fromkeys((_SESSION, _PAGE), "answer the question that an agent asks"),
    }, "answer"),
    _line("t", _C.TELL, dict.fromkeys(
        (_SESSION, _PAGE), "send a message to an agent that runs",
    ), "tell"),
    _line("o", _C.NEEDY, {
        _ALWAYS: "go to the seat that waits for you", _LIST: "the next session that needs you",
    }),
    _line("R", _C.RESUME, {
        _ALWAYS: "resume all panes that wait for your choice (asks)",
        _SESSION: "resume it, or all marked ones: shows the plan, then asks",
        _PAGE: "resume it: the plan is shown above",
    }, "resume"),
    _line("r", _C.RESTART, {
        _ALWAYS: "start a seat again that failed or ended (asks)",
        **dict.fromkeys((_SESSION, _PAGE), "start a seat again that failed or ended"),
        _FLEET: "go on with a feature that has failed: asks first",
    }, "restart"),
    _line("w", _C.SKIP, {
        _ALWAYS: "go on without a check that could not run (asks)",
        _PAGE: "go on without a check that could not run",
    }),
    _line("p", _C.TYPE, {_ALWAYS: "type a waiting prompt, whatever the screen shows (asks)"}),
    _line("u", _C.UNPARK, {
        _SESSION: "let agents go on that wait for a usage limit: asks first",
        _PAGE: "let agents go on that wait for a usage limit",
    }, "unpark"),
    _line("S", _C.STOP, {
        _SESSION: "stop it: asks first",
        _FLEET: "stop a feature, and run it no further: asks first",
        _PAGE: "stop it, or cancel it",
    }, "stop"),
    _line("D delete", _C.REMOVE, {_SESSION: "remove it for good: asks first"}, "remove"),
    _line("H", _C.DRAIN, {
        _FLEET: "let the host that is marked below take nothing more: asks first",
        _PAGE: "let a host take nothing more",
    }),
    _line("1 2 3 4 5 6", _C.TAB, dict.fromkeys((_SEEN, _PAGE), "the tab with this number")),
    _line("right l", _C.NEXT_TAB, {_SEEN: "the next tab"}),
    _line("left h", _C.LAST_TAB, {_SEEN: "the tab before"}),
    _line(".", _C.NEXT_PART, {_SEEN: "the next seat, document, or file of the diff"}),
    _line(",", _C.LAST_PART, {_SEEN: "the seat, document, or file before"}),
    _line("v", _C.FILES, {_SEEN: "the changed files: choose one to go to"}),
    _line("tab shift+tab", _C.FOCUS, {_SEEN: "move in the list, or in what is shown"}),
    _line("z", _C.WIDEN, {_SEEN: "give it the whole width; again: the list is back"}),
    _line("i", _C.COMMENT, {_SEEN: "comment on the selected line of the diff"}),
    _line("e", _C.EDIT, {_SEEN: "open the file in $VISUAL or $EDITOR; elsewhere its folder"}),
    _line("P", _C.PAGER, {_SEEN: "the diff in the pager of git, such as delta"}, "diff"),
    _line("n", _C.NEXT_HIT, {_FOUND: "the next line with it"}),
    _line("N", _C.LAST_HIT, {_FOUND: "the line with it before"}),
    _line("/", _C.SEARCH, {
        _LIST: "search the list, or what is shown if it has the focus", _PAGE: "search the list",
    }),
    _line("space", _C.MARK, {_LIST: "mark it: a resume then takes all that are marked"}),
    _line("n", _C.NEW, dict.fromkeys((_DESK, _PAGE), "start a new session"), "start"),
    _line("f", _C.FLEET, dict.fromkeys(
        (_DESK, _PAGE), "the fleet, if one is set up: its features, decisions, hosts",
    )),
    _line("?", _C.KEYS, dict.fromkeys((_ALWAYS, _DESK, _PAGE), "all keys")),
    _line("ctrl+p", _C.PALETTE, {_DESK: "find what a key does by its words"}),
    _line("y", _C.YES, {
        _ALWAYS: "yes to what is asked, as its own key again", _BOX: "yes to what is asked",
    }),
    _line("escape q n", _C.NO, {_BOX: "no; while you write, only Esc: cancel"}),
    _line("1 2 3 4 5 6 7 8 9", _C.CHOICE, {
        _BOX: "choose it; in a resume: the next way to start that agent",
    }),
    _line("f", _C.FRESH, {_BOX: "in a resume: all conversations new; again: as planned"}),
    _line("t", _C.TERMINAL, {_BOX: "run what has failed in this terminal, where it can ask"}),
    _line("escape", _C.BACK, {
        _ALWAYS: "close a text; take back a question",
        _LIST: "end the search, or take all marks back",
        _FLEET: "back to the sessions",
        _PAGE: "leave a field, so that keys work again",
    }),
    _line("q", _C.QUIT, {_ALWAYS: "close a text"}),
    _line("q ctrl+c ctrl+q", _C.QUIT, {_DESK: "leave the desk; all sessions go on"}),
    _line("ctrl+c", _C.END, {_ALWAYS: "end the orchestrator (asks); agents go on"}),
    _line("", _C.NOTHING, {_ALWAYS: "close the session once it is done"}),
    _line("down j", _C.DOWN, dict.fromkeys((_READS, _LIST), "a line down")),
    _line("up k", _C.UP, dict.fromkeys((_READS, _LIST), "a line up")),
    _line("pagedown space", _C.PAGE_DOWN, {_READS: "a page down"}),
    _line("pagedown ctrl+f", _C.PAGE_DOWN, {_LIST: "a page down"}),
    _line("pageup b", _C.PAGE_UP, {_READS: "a page up"}),
    _line("pageup ctrl+b", _C.PAGE_UP, {_LIST: "a page up"}),
    _line("home g", _C.FIRST, {_READS: "the beginning", _LIST: "the first line"}),
    _line("end G", _C.LAST, {_READS: "the end", _LIST: "the last line"}),
    _line("ctrl+r", _C.LOOK, {_FLEET: "look again now"}),
    _line("enter", _C.SEND, {
        _WRITES: "send it; a second Enter confirms", _BOX: "send what is written; yes to a resume",
    }),
    _line("tab", _C.BEGINNING, {
        _WRITES: "choose where the next cycle begins", _BOX: "while you write: the next choice",
    }),
    _line("backspace", _C.ERASE, {_WRITES: "erase the last letter"}),
    _line("ctrl+u", _C.CLEAR, {_WRITES: "erase all"}),
    _line("escape ctrl+c", _C.BACK, {_WRITES: "cancel"}),
))  # fmt: skip
"""Every key. The help lists the lines of a place in this order."""

_OF_DESK: Final = (*DESK, KeyPlace.FLEET)
_SEARCHED: Final = {KeyCommand.NEW, KeyCommand.NEXT_HIT}
"""The commands that may share a key: as in other programs, after a search it is the next hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTable:
    """The keys in effect: those of AgentMux, or a user's own.

    Attributes:
        lines: What the keys do.
    """

    lines: tuple[KeyLine, ...] = KEY_LINES

    def lines_at(self, *places: KeyPlace) -> tuple[KeyLine, ...]:
        """Return the lines of these places, in the order of the table."""
        return tuple(each for each in self.lines if each.place in places)

    def find(self, key: str, *places: KeyPlace) -> KeyCommand:
        """Return what a key does in the first of these places in which it does something.

        ``key`` is a character or a name, as in `KeyLine.keys`. ``NOTHING`` if the key does nothing
        in any of the places.
        """
        lines = (each for place in places for each in self.lines_at(place))
        return next((each.command for each in lines if key in each.keys), KeyCommand.NOTHING)

    def line_of(self, command: KeyCommand) -> KeyLine:
        """Return the first line of the desk, or of its view of the fleet, with this command.

        Raises:
            StopIteration: There is no such line, for example for a command of the monitor only.
        """
        lines = self.lines_at(*_OF_DESK)
        return next(each for each in lines if each.command is command)

    def show(self, command: KeyCommand) -> str:
        """Return the label of the first key for a command of the desk, such as ``PgDn``.

        The desk's view of the fleet is included.

        Raises:
            StopIteration: The command has no line there.
        """
        return self.line_of(command).label.split()[0]

    def with_own(self, keys: Mapping[str, tuple[str, ...]]) -> KeyTable:
        """Return a copy of the table in which some commands of the desk have other keys.

        ``keys`` maps the name of a command (`KeyLine.name`) to all its new keys, as in
        `KeyLine.keys`. Unknown names are ignored; keys that then clash are not reported, see
        `shared_keys`.
        """
        changed = (each.place in _OF_DESK and each.name in keys for each in self.lines)
        lines = (
            replace(line, keys=keys[line.name]) if is_own else line
            for line, is_own in zip(self.lines, changed, strict=True)
        )
        return KeyTable(lines=tuple(lines))

    def without(self, *commands: KeyCommand) -> KeyTable:
        """Return a copy of the table without the lines of these commands."""
        return KeyTable(lines=tuple(each for each in self.lines if each.command not in commands))

    def shared_keys(self) -> Iterator[tuple[str, KeyLine, KeyLine]]:
        """Yield each key of the desk that stands for two commands, with the lines of both.

        The commands ``NEW`` and ``NEXT_HIT`` may share a key, and are left out.
        """
        for one, other in combinations(self.lines_at(*_OF_DESK), 2):
            if one.command is not other.command and {one.command, other.command} != _SEARCHED:
                yield from ((key, one, other) for key in one.keys if key in other.keys)

    def help_lines(self, *places: KeyPlace) -> Iterator[str]:
        """Yield the lines that ``?`` shows: the heading of each place, its keys, an empty line."""
        for place in places:
            yield place.value
            yield from (f"  {each.label:<11}{each.says}" for each in self.lines_at(place))
            yield ""


KEYS: Final = KeyTable()
"""The keys of AgentMux itself."""

_FIXED: Final = {KeyCommand.TAB, KeyCommand.YES, KeyCommand.BACK}
OWN_KEYS: Final = tuple(
    dict.fromkeys(each.name for each in KEYS.lines_at(*_OF_DESK) if each.command not in _FIXED)
)
"""The names of the commands of the desk for which a user may choose keys."""
