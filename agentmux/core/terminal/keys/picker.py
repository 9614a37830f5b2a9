"""The list from which the user picks a session with keys, without a terminal. Pure.

A `Picker` is the state of the list; `press` returns the picker after a key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.names.conversations import SeatChoice, first_choice, next_choice
from agentmux.core.names.words.counts import format_count
from agentmux.core.terminal.keys.keys import Key, Pressed
from agentmux.core.terminal.text.search import matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One session in the list.

    Attributes:
        name: The name of the session.
        words: Text that a search looks in.
        status: More text that a search looks in; it may change while the list is shown.
        refused: Why the session cannot be chosen; empty if it can.
        seats: For each seat that a resume starts, what the user can choose; None as long as that is
            not known.
    """

    name: str
    words: str
    status: str = ""
    refused: str = ""
    seats: tuple[tuple[SeatChoice, ...], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Picker:
    """The state of the list after the keys so far.

    Attributes:
        choices: All choices, in order.
        sought: The text of the search, which looks in ``words`` and ``status`` of each choice
            (`core/terminal/text/search`).
        typing: Whether a search has begun, so that every letter is text.
        at: The name of the selected choice; empty if no choice matches the search.
        attaches: Whether the user attaches to the chosen session instead of resuming it; then
            ``fresh`` has no effect.
        asks: Whether the user is only asked about a resume of all choices; then there is no search.
        fresh: Whether the session will be resumed without its conversations.
        chosen: What the user chose for single seats. A key is the session's name and the seat's
            index in `Choice.seats`, from 0. A seat without an entry has its default.
        shown: The name of the session whose complete plan is on the screen; empty if there is none.
        screen: Which of the selected session's screens to show: a number, modulo their count.
        page: How many lines the Page keys move the selection.
        says: A message that is shown until the next key; empty if there is none.
        taken: The name of the chosen session; None if the user has not chosen one.
        left: Whether the user left without a choice.
        interrupted: Whether the user left by Ctrl-C.
    """

    choices: tuple[Choice, ...]
    sought: str = ""
    typing: bool = False
    at: str = ""
    attaches: bool = False
    asks: bool = False
    fresh: bool = False
    chosen: Mapping[tuple[str, int], SeatChoice] = field(default_factory=dict)
    shown: str = ""
    screen: int = 0
    page: int = 5
    says: str = ""
    taken: str | None = None
    left: bool = False
    interrupted: bool = False

    @property
    def matching_choices(self) -> tuple[Choice, ...]:
        """The choices that match the search, in order; all of them if there is no search."""
        return tuple(
            each for each in self.choices if matches(self.sought, f"{each.words} {each.status}")
        )

    @property
    def place(self) -> int:
        """The index of the selected choice in `matching_choices`; 0 if no choice is selected."""
        names = [each.name for each in self.matching_choices]
        return names.index(self.at) if self.at in names else 0

    def seat_choices(self, name: str) -> tuple[SeatChoice, ...]:
        """Return the choice for each seat of the session ``name``, in the order of `Choice.seats`.

        Where the user has chosen nothing, it is the default. Empty if the seats are unknown.
        """
        choice = next((each for each in self.choices if each.name == name), None)
        seats = choice.seats or () if choice is not None else ()
        return tuple(
            self.chosen.get((name, index), first_choice(offered, fresh=self.fresh))
            for index, offered in enumerate(seats)
        )

    @property
    def is_over(self) -> bool:
        """Whether the user has chosen a session or left."""
        return self.left or self.taken is not None


def begin(
    choices: Sequence[Choice], *, fresh: bool = False, attaches: bool = False, asks: bool = False
) -> Picker:
    """Return a new picker, with the first choice selected that can be chosen, or else the first.

    Args:
        choices: All choices, in order.
        fresh: Whether the session will be resumed without its conversations.
        attaches: Whether the user attaches to the chosen session instead of resuming it.
        asks: Whether the user is only asked about a resume of all choices.
    """
    free = (each.name for each in choices if not each.refused)
    at = next(free, "")
    return _select_match(
        Picker(choices=tuple(choices), fresh=fresh, attaches=attaches, asks=asks, at=at)
    )


def press(picker: Picker, key: Pressed) -> Picker:
    """Return the picker after ``key``; unchanged if the picker is over (`Picker.is_over`)."""
    if picker.is_over:
        return picker
    picker = replace(picker, says="")
    if isinstance(key, str):
        return _type_char(picker, key)
    return _KEYS[key](picker)


def refuse(picker: Picker, reasons: Mapping[str, str]) -> Picker:
    """Return the picker in which some choices can no longer be chosen; the others stay as they are.

    Args:
        picker: The picker before.
        reasons: The choices that cannot be chosen: the reason, by the choice's name.
    """
    choices = tuple(
        replace(each, refused=reasons.get(each.name, each.refused)) for each in picker.choices
    )
    return replace(picker, choices=choices)


def offer(picker: Picker, seats: Mapping[str, tuple[tuple[SeatChoice, ...], ...]]) -> Picker:
    """Return the picker that knows what can be chosen for the seats of some sessions.

    Args:
        picker: The picker before.
        seats: New values of `Choice.seats`, by the choice's name; other choices keep theirs.
    """
    choices = tuple(
        replace(each, seats=seats.get(each.name, each.seats)) for each in picker.choices
    )
    return replace(picker, choices=choices)


def tell(picker: Picker, statuses: Mapping[str, str]) -> Picker:
    """Return the picker with new texts for `Choice.status`.

    If the selected choice then no longer matches the search, the first match is selected.

    Args:
        picker: The picker before.
        statuses: The new texts, by the choice's name; other choices keep theirs.
    """
    choices = tuple(
        replace(each, status=statuses.get(each.name, each.status)) for each in picker.choices
    )
    return _select_match(replace(picker, choices=choices))


def _type_char(picker: Picker, char: str) -> Picker:
    if not picker.typing and char in _LETTERS and not (picker.attaches and char in _FOR_RESUMES):
        return _LETTERS[char](picker)
    if picker.asks:
        return _ANSWERS.get(char, _ignore)(picker)
    if char == " " and not picker.sought:
        return picker
    return _select_match(replace(picker, sought=picker.sought + char, typing=True))


def _select_match(picker: Picker) -> Picker:
    """Return the picker with the first match selected, if the selected choice does not match."""
    choices = picker.matching_choices
    if any(each.name == picker.at for each in choices):
        return picker
    return replace(picker, at=choices[0].name if choices else "", screen=0)


def _move_selection(picker: Picker, steps: int) -> Picker:
    choices = picker.matching_choices
    if not choices:
        return picker
    place = min(max(picker.place + steps, 0), len(choices) - 1)
    name = choices[place].name
    return replace(picker, at=name, screen=picker.screen if name == picker.at else 0)


def _toggle_fresh(picker: Picker) -> Picker:
    return picker if picker.attaches else replace(picker, fresh=not picker.fresh, chosen={})


def _change_seat(picker: Picker, index: int) -> Picker:
    """Return the picker with the next choice for a seat of the selected session."""
    now = picker.seat_choices(picker.at)
    if index >= len(now):
        return replace(picker, says=f"this session starts no seat {index + 1}")
    offered = next(each.seats or () for each in picker.choices if each.name == picker.at)[index]
    if len(offered) < 2:
        return replace(picker, says=f"there is nothing to choose for seat {index + 1}")
    after = next_choice(offered, now[index])
    return replace(picker, chosen={**picker.chosen, (picker.at, index): after})


def _ignore(picker: Picker) -> Picker:
    return picker


def _agree(picker: Picker) -> Picker:
    """Return the picker after a yes to the question about all choices."""
    unknown = sum(each.seats is None and not each.refused for each in picker.choices)
    if unknown:
        return replace(picker, says=f"{format_count(unknown, 'session')} still to be examined")
    return replace(picker, taken=picker.at)


def _choose_selected(picker: Picker) -> Picker:
    if picker.asks:
        return _agree(picker)
    chosen = next((each for each in picker.matching_choices if each.name == picker.at), None)
    if chosen is None:
        return replace(picker, says="nothing matches what you typed")
    if chosen.refused:
        return replace(picker, says=chosen.refused)
    return replace(picker, taken=chosen.name)


def _clear_or_leave(picker: Picker) -> Picker:
    if picker.typing:
        return _clear_search(picker)
    return replace(picker, left=True)


def _clear_search(picker: Picker) -> Picker:
    return _select_match(replace(picker, sought="", typing=False))


def _erase_char(picker: Picker) -> Picker:
    sought = picker.sought[:-1]
    return _select_match(replace(picker, sought=sought, typing=bool(sought)))


_KEYS: Final[Mapping[Key, Callable[[Picker], Picker]]] = {
    Key.UP: lambda picker: _move_selection(picker, -1),
    Key.DOWN: lambda picker: _move_selection(picker, 1),
    Key.PAGE_UP: lambda picker: _move_selection(picker, -picker.page),
    Key.PAGE_DOWN: lambda picker: _move_selection(picker, picker.page),
    Key.HOME: lambda picker: _move_selection(picker, -len(picker.choices)),
    Key.END: lambda picker: _move_selection(picker, len(picker.choices)),
    Key.ENTER: _choose_selected,
    Key.ESCAPE: _clear_or_leave,
    Key.TAB: lambda picker: replace(picker, screen=picker.screen + 1),
    Key.BACKSPACE: _erase_char,
    Key.CLEAR: _clear_search,
    Key.CTRL_F: _toggle_fresh,
    Key.PASTE: lambda picker: replace(picker, typing=not picker.asks),
    Key.INTERRUPT: lambda picker: replace(picker, left=True, interrupted=True),
}
_LETTERS: Final[Mapping[str, Callable[[Picker], Picker]]] = {
    "j": _KEYS[Key.DOWN],
    "k": _KEYS[Key.UP],
    "f": _KEYS[Key.CTRL_F],
    "/": _KEYS[Key.PASTE],
    **{str(index + 1): partial(_change_seat, index=index) for index in range(9)},
}
"""The characters that are commands until a search begins, with what they do.

``/`` begins a search; then they are text.
"""
_FOR_RESUMES: Final = frozenset("f123456789")
"""The characters among them that are commands only if a session is to be resumed."""
_ANSWERS: Final[Mapping[str, Callable[[Picker], Picker]]] = {
    "y": _KEYS[Key.ENTER],
    "n": lambda picker: replace(picker, left=True),
    "q": lambda picker: replace(picker, left=True),
}
"""The letters that answer the question about all choices."""
