"""Draws the picker as lines for a terminal of any size. Pure."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Final

from agentmux.app.views.outlook import Outlook, SeatOutlook, seat_lines
from agentmux.app.views.session.last_screens import LastScreen
from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.times import time_of
from agentmux.core.names import layout
from agentmux.core.names.conversations import SeatChoice, conversation, which_conversation
from agentmux.core.names.status_labels import NATIVE_MARK, Safety, age, status_label
from agentmux.core.terminal.text.text_width import (
    ELLIPSIS,
    clean,
    cut_apart,
    cut_start,
    width,
    wrap,
)
from agentmux.core.terminal.text.text_width import cut as cut_clean

if TYPE_CHECKING:
    from agentmux.app.views.rows import SessionRow
    from agentmux.core.terminal.keys.picker import Choice, Picker

# With fewer columns the list has no room for the phase; the details below show it.
_ROOMY: Final = 60
_PHASE_COLS: Final = 18
_MARK_COLS: Final = 12
# From this width on the list has room for every label of a status.
_NEW: Final = which_conversation("fresh")
_WIDE: Final = 100
_LABEL_COLS: Final = 18
# From this width on it has room for every label of a decision, too.
_WIDEST: Final = 120
_DECISION_COLS: Final = 22
_TITLE_COLS: Final = 14
"""The fewest columns in which the list shows the beginning of a title beside a name."""


class LineStyle(Enum):
    """The style of a line; the value is the number in its escape sequence (SGR).

    There are no colours.
    """

    PLAIN = ""
    BOLD = "1"
    DIM = "2"
    REVERSE = "7"


@dataclass(frozen=True, slots=True)
class PickerLine:
    """One line of the screen: its text, cut to the terminal's width, and its style (``look``)."""

    text: str
    look: LineStyle = LineStyle.PLAIN

    def as_ansi(self) -> str:
        """Return the text with the escape sequences (SGR) for its style."""
        return f"\x1b[{self.look.value}m{self.text}\x1b[0m" if self.look.value else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSession:
    """The facts about a session that are known before it is examined.

    Attributes:
        name: The short name of the session.
        phase: The phase in the session's state; ``unreadable`` if that cannot be read.
        updated: When the state was last changed.
        title: The first line of the feature; may be empty.
        place: ``BRANCH in PATH`` of the session's own worktree; empty if it works in the user's
            checkout.
    """

    name: str
    phase: str
    updated: datetime
    title: str
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PickerScene:
    """Everything that the picker draws.

    Attributes:
        picker: The state of the list, with its search and its selected session.
        known: The facts that are known about every session, by session name.
        outlooks: What a resume would do, by session name; only for sessions that were examined.
        now: The current time, from which ages are computed.
        rows: What lists show of each session, such as its status, by session name; empty until the
            first session was examined.
        steps: What else a resume would do first, one sentence each.
    """

    picker: Picker
    known: Mapping[str, KnownSession]
    outlooks: Mapping[str, Outlook]
    now: datetime
    rows: Mapping[str, SessionRow] = field(default_factory=dict)
    steps: tuple[str, ...] = ()


def cut(text: str, cols: int) -> str:
    """Return ``text`` as one line of at most ``cols`` columns, with an ellipsis if it was cut."""
    shown = (char if char.isprintable() else " " for char in text[: 8 * max(cols, 1)])
    return cut_clean("".join(shown), cols)


def fill(text: str, cols: int) -> str:
    """Return ``text`` cut or padded with spaces to a width of exactly ``cols`` columns."""
    kept = cut(text, cols)
    return kept + " " * (cols - width(kept))


def shown_names(picker: Picker, rows: int) -> tuple[str, ...]:
    """Return the names of the sessions that are visible in the list, from top to bottom.

    ``rows`` is the height of the terminal.
    """
    return tuple(each.name for each in _window(picker, _list_rows(picker, rows)))


def draw(scene: PickerScene, cols: int, rows: int) -> tuple[PickerLine, ...]:
    """Return the lines of the whole screen: ``rows`` lines of at most ``cols`` columns.

    It writes nothing to the terminal.
    """
    listed = _list_rows(scene.picker, rows)
    room = _room(scene.picker, rows)
    middle: list[PickerLine] = []
    if room > 0:
        at = scene.known.get(scene.picker.at)
        middle = [
            _rule(at.name if at is not None else "", cols),
            *_detail(scene, cols, room)[:room],
        ]
        middle += [PickerLine("")] * (room + 1 - len(middle))
    lines = [_header(scene.picker, cols), *_list(scene, cols, listed), *middle]
    lines += [PickerLine("")] * (rows - 1 - len(lines))
    return (*lines[: max(rows - 1, 1)], _footer(scene, cols))[:rows]


def _list_rows(picker: Picker, rows: int) -> int:
    """Return how many rows the list gets: one for each match, but at most two fifths of the screen.

    Args:
        picker: The list, with its search.
        rows: Rows of the terminal.
    """
    return max(1, min(len(picker.matching_choices), max(3, (rows - 2) * 2 // 5), rows - 2))


def _which(picker: Picker) -> str:
    count = len(picker.choices)
    return "this session" if count == 1 else f"all {count} sessions"


def _header(picker: Picker, cols: int) -> PickerLine:
    new = f"{_NEW}s" if cols >= _ROOMY else conversation("fresh")
    count = f"{len(picker.matching_choices)} of {len(picker.choices)}"
    right = " · ".join([new] * picker.fresh + [count] * (not picker.asks))
    verb, question = "Resume", "Resume which session?"
    if picker.asks:
        question = f"Resume {_which(picker)}?"
    if picker.attaches:
        verb, question = "Attach", "Attach to which session?"
    left = question if cols >= _ROOMY else verb
    if picker.typing:
        room = cols - width(f"{left}  / {right}")
        left += f"  /{cut_start(clean(f'{picker.sought}▏'), room)}"
    return PickerLine(_spread(left, right, cols), LineStyle.BOLD)


def _spread(left: str, right: str, cols: int) -> str:
    room = cols - width(right) - 1
    return f"{fill(left, room)} {right}" if room > 0 else cut(left, cols)


def _window(picker: Picker, size: int) -> tuple[Choice, ...]:
    """Return up to ``size`` matches of the search, with the selected one near the middle."""
    choices = picker.matching_choices
    first = min(max(picker.place - size // 2, 0), max(len(choices) - size, 0))
    return choices[first : first + size]


def _list(scene: PickerScene, cols: int, size: int) -> list[PickerLine]:
    choices = _window(scene.picker, size)
    if not choices:
        return [PickerLine(cut("  no session matches", cols), LineStyle.DIM)]
    phases = [_phase_of(scene, each.name) for each in choices] if cols >= _ROOMY else [""]
    phase_cols = min(max(map(width, phases)), _PHASE_COLS)
    ends = [_right(scene, each, cols, phase_cols) for each in choices]
    room = cols - width(ends[0]) - 3
    names = cut_apart([scene.known[each.name].name for each in choices], room)
    called = max(map(width, names))
    return [
        _row(scene, each, fill(name, called), end, cols)
        for each, name, end in zip(choices, names, ends, strict=True)
    ]


def _row(scene: PickerScene, choice: Choice, called: str, right: str, cols: int) -> PickerLine:
    selected = choice.name == scene.picker.at
    left = f"{'>' if selected else ' '} {called}"
    title = clean(scene.known[choice.name].title)
    says_more = layout.slug(title) != scene.known[choice.name].name or len(title) > layout.SLUG_MAX
    if says_more and cols - width(left) - width(right) - 3 >= _TITLE_COLS:
        left += f"  {title}"
    return PickerLine(
        _spread(left, right, cols),
        LineStyle.REVERSE if selected else LineStyle.DIM if choice.refused else LineStyle.PLAIN,
    )


def _phase_of(scene: PickerScene, name: str) -> str:
    outlook = scene.outlooks.get(name)
    return (outlook.phase if outlook is not None else None) or scene.known[name].phase


def _right(scene: PickerScene, choice: Choice, cols: int, phase_cols: int) -> str:
    """Return the right part of a session's line: its phase, its mark and its age."""
    known = scene.known[choice.name]
    outlook = scene.outlooks.get(choice.name)
    row = scene.rows.get(choice.name)
    room = _DECISION_COLS if cols >= _WIDEST else _LABEL_COLS if cols >= _WIDE else _MARK_COLS
    is_live = outlook.is_live if outlook is not None else bool(row and row.mark)
    mark = _status(row, room) if row is not None and is_live else _mark(outlook, scene.picker)
    right = fill(mark, room)
    right += f"{age(_seconds(scene.now, known.updated)):>4}"
    return f"{fill(_phase_of(scene, choice.name), phase_cols)} {right}" if phase_cols else right


def _status(row: SessionRow, cols: int) -> str:
    """Return the status of a live session in few columns, after ``!`` if it needs its user."""
    if row.mark:
        long = f"! {row.label}"
        return long if cols > _MARK_COLS and width(long) <= cols else f"! {row.mark}"
    short = row.label.replace(" until ", " ")
    fits = (each for each in (row.label, short) if width(each) <= cols)
    return next(fits, status_label(row.status))


def _mark(outlook: Outlook | None, picker: Picker) -> str:
    """Return how a resume would bring a session's seats back, as a short text for the list.

    ``new``, for example, or ``↻ 2/3`` if two of three conversations come back; ``choice`` if one
    that was there would not, and nothing was chosen yet. If the session
    cannot be resumed, the kind of reason, such as ``locked``; if ``outlook`` is None, an ellipsis.

    Args:
        outlook: What a resume would do; None if the session was not examined yet.
        picker: Knows what the person chose.
    """
    if outlook is None:
        return ELLIPSIS
    if outlook.kind:
        return outlook.kind
    if not outlook.seats:
        return "-"
    chosen = tuple(_chosen(outlook, picker))
    modes = [each.mode_of(choice) for each, choice in chosen]
    is_planned = not picker.fresh and {each for _, each in chosen} == {SeatChoice.PLANNED}
    is_open = is_planned and outlook.safety is Safety.CHOICE
    native = modes.count("native")
    if native:
        return f"{f'{Safety.CHOICE.mark} ' * is_open}{NATIVE_MARK} {native}/{len(modes)}"
    if "fresh" in modes:
        return Safety.CHOICE.mark if is_open else conversation("fresh")
    return conversation(modes[0])


def _chosen(outlook: Outlook, picker: Picker) -> Iterator[tuple[SeatOutlook, SeatChoice]]:
    """Yield each seat of a session with what the person chose for it."""
    choices = picker.seat_choices(outlook.name) or (SeatChoice.PLANNED,) * len(outlook.seats)
    yield from zip(outlook.seats, choices, strict=True)


def _seconds(now: datetime, then: datetime) -> float:
    return max(0.0, (now - then).total_seconds())


def _rule(name: str, cols: int) -> PickerLine:
    text = cut(f"── {name} " if name else "──", cols)
    return PickerLine(text + "─" * (cols - width(text)), LineStyle.DIM)


def _detail(scene: PickerScene, cols: int, room: int) -> list[PickerLine]:
    """Return lines about the selected session, the most important ones first.

    Args:
        scene: Everything that the picker draws.
        cols: Columns of the terminal.
        room: Rows that are free; more lines than that may be returned.
    """
    name = scene.picker.at
    if not name:
        return []
    outlook = scene.outlooks.get(name)
    if outlook is None:
        phase = f"{scene.known[name].phase}; examining{ELLIPSIS}"
        return [*_title(scene.known[name], cols), PickerLine(cut(phase, cols), LineStyle.DIM)]
    lines = _plan(scene, outlook, cols, room)
    if outlook.phase is None:
        return lines
    return [*lines, *_screen(scene, outlook.screens, cols, room - len(lines))]


def shows_plan(scene: PickerScene, cols: int, rows: int) -> bool:
    """Whether a terminal of this size shows the whole plan for the selected session's resume.

    False if that session was not examined yet, or cannot be resumed.
    """
    outlook = scene.outlooks.get(scene.picker.at)
    if outlook is None or outlook.kind or outlook.phase is None:
        return False
    room = _room(scene.picker, rows)
    return len(_plan(scene, outlook, cols, len(outlook.seats) + rows)) <= room


def _room(picker: Picker, rows: int) -> int:
    """Return how many rows are free for the selected session."""
    return rows - _list_rows(picker, rows) - 3


def _title(known: KnownSession, cols: int) -> list[PickerLine]:
    return [PickerLine(each) for each in wrap(clean(known.title), cols, 2) if each]


def _plan(scene: PickerScene, outlook: Outlook, cols: int, room: int) -> list[PickerLine]:
    """Return the lines that say what a resume of the selected session would do."""
    asks, known = scene.picker.asks, scene.known[outlook.name]
    title = _title(known, cols)
    lines = [*_refusal(outlook, cols), *title, *_phase(outlook, cols), *_way_back(outlook, cols)]
    warnings = outlook.warnings if asks else outlook.warnings[:1]
    after = [
        PickerLine(line, look)
        for texts, look in ((scene.steps, LineStyle.BOLD), (warnings, LineStyle.PLAIN))
        for each in texts
        for line in wrap(clean(f"! {each}"), cols, 3 if asks else 2)
    ]
    after += [PickerLine(cut(known.place, cols), LineStyle.DIM)] if known.place else []
    seats = tuple(_chosen(outlook, scene.picker))
    most = max(2, room - len(lines) - len(after))
    return [*lines, *_seats(seats, cols, most, numbered=not outlook.is_live), *after]


def _refusal(outlook: Outlook, cols: int) -> Iterable[PickerLine]:
    if not outlook.refused:
        return
    for line in wrap(clean(f"not now: {outlook.refused}"), cols, 2):
        yield PickerLine(line, LineStyle.BOLD)
    for hint in outlook.hints[:1]:
        yield from (PickerLine(f"  {each}") for each in wrap(clean(hint), cols - 2, 2))


def _way_back(outlook: Outlook, cols: int) -> Iterable[PickerLine]:
    """Yield a line with the command that starts an orchestrator, if a live session has none."""
    for hint in outlook.hints[:1] if outlook.is_live else ():
        yield from (PickerLine(f"  {each}") for each in wrap(clean(hint), cols - 2, 2))


def _phase(outlook: Outlook, cols: int) -> Iterable[PickerLine]:
    if outlook.phase is not None:
        words = ": ".join(dict.fromkeys((outlook.phase, outlook.because)))
        for line in wrap(clean(words), cols, 2):
            yield PickerLine(line)


def _seats(
    seats: tuple[tuple[SeatOutlook, SeatChoice], ...], cols: int, most: int, *, numbered: bool
) -> Iterable[PickerLine]:
    """Yield a line for each seat with what was chosen for it, at most ``most`` lines.

    If ``numbered``, each of the first nine seats has the digit that changes the choice.
    """
    shown = seats if len(seats) <= most else seats[: most - 1]
    names = min(max((width(each.seat) for each, _ in shown), default=0), cols // 3)
    for mark, seat, about in seat_lines(shown, numbered=numbered):
        head = f"{mark} {fill(seat, names)}  "
        for line in wrap(clean(about), max(cols - width(head), 1), 2, indent=""):
            yield PickerLine(cut(f"{head}{line}", cols))
            head = " " * width(head)
    if len(shown) < len(seats):
        yield PickerLine(cut(f"  and {len(seats) - len(shown)} more seats", cols))


def _screen(
    scene: PickerScene, screens: tuple[LastScreen, ...], cols: int, room: int
) -> Iterable[PickerLine]:
    """Yield a title and the end of one seat's last screen, at most ``room`` lines.

    The key Tab chooses which one of ``screens`` is shown.
    """
    if room < 2:
        return
    if not screens:
        yield PickerLine(cut("no screen was saved", cols), LineStyle.DIM)
        return
    kept = screens[scene.picker.screen % len(screens)]
    captured = time_of(kept.captured_at)
    when = f", {age(_seconds(scene.now, captured))} ago" if captured else ""
    more = f" (Tab: {len(screens) - 1} more)" if len(screens) > 1 else ""
    yield PickerLine(cut(f"last screen of {kept.seat}{when}{more}", cols), LineStyle.DIM)
    for line in _rows(kept)[-(room - 1) :]:
        yield PickerLine(cut(f"│ {line}", cols), LineStyle.DIM)


@functools.lru_cache(maxsize=16)
def _rows(screen: LastScreen) -> tuple[str, ...]:
    return screen.text()  # 10 ms for a large one, and every key draws the picker again


def _footer(scene: PickerScene, cols: int) -> PickerLine:
    picker = scene.picker
    if picker.says:
        return PickerLine(cut(picker.says, cols), LineStyle.BOLD)
    outlook = scene.outlooks.get(picker.at)
    attaches = picker.attaches or (outlook is not None and outlook.is_live and not picker.fresh)
    resume = "Enter resume all" if picker.asks and len(picker.choices) > 1 else "Enter resume"
    enter = "Enter attach" if attaches else resume
    if attaches and not picker.attaches and outlook is not None and outlook.left_alone:
        enter = "Enter reattach"
    key = "^F" if picker.typing else "f"
    new = "all new" if cols >= _ROOMY else conversation("fresh")
    new = "as planned" if picker.fresh else new
    fresh = () if picker.attaches else (f"{key} {new}",)
    escape = "Esc clear" if picker.typing else "Esc leave"
    keys = ("↑↓ Enter", *fresh, escape)
    if cols >= _ROOMY:
        seat = "1-9 next choice" if picker.asks or cols >= _WIDE else "1-9 next"
        seats = () if attaches or picker.typing else (seat,)
        search = "type or / to search" if cols >= _WIDE else "/ search"
        searches = () if picker.asks else (search,)
        move = () if len(picker.choices) == 1 else ("↑↓",)
        keys = (*move, *searches, enter, *seats, *fresh, "Tab screen", escape)
    return PickerLine(cut(" · ".join(keys), cols), LineStyle.DIM)
