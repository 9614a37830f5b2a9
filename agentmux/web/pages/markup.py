"""Turns Markdown, screens and diffs of agents into HTML that cannot run scripts. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

from agentmux.core.documents.diff_files import DiffFile
from agentmux.core.terminal.keys.key_commands import KeyPlace
from agentmux.core.terminal.keys.key_table import KEYS
from agentmux.core.terminal.text.captured_screen import Piece, to_pieces
from agentmux.core.terminal.text.sgr import Colour, Look

_REVERSE: Final = 7
_MARKS: Final = {3: "italic", 4: "under", 8: "hidden", 9: "strike", 53: "over"}
_ON_BLANKS: Final = frozenset({"under", "strike", "over"})
_CUBE: Final = (0, 95, 135, 175, 215, 255)
_BASIC: Final = (
    *("#2e3436", "#cc0000", "#4e9a06", "#a17f00", "#3465a4", "#75507b", "#06989a", "#d3d7cf"),
    *("#888a85", "#ef2929", "#8ae234", "#fce94f", "#729fcf", "#ad7fa8", "#34e2e2", "#eeeeec"),
)
"""The sixteen colours of a terminal: those of the Tango palette."""

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def _link_open(
    self: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: dict[str, object],
) -> str:
    tokens[index].attrSet("rel", "noreferrer noopener nofollow")
    return self.renderToken(tokens, index, options, env)


_MARKDOWN.add_render_rule("link_open", _link_open)


def markdown(text: str) -> Markup:
    """Render a Markdown text as HTML. HTML in the text is escaped, and images are left out."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704 (the renderer escapes: `html` is off)


def screen(ansi: str, cols: int, rows: int) -> Markup:
    """Render a captured screen as the content of a ``pre`` element, without empty last rows.

    Args:
        ansi: The screen's text with ANSI escape sequences.
        cols: The number of columns of the pane.
        rows: The number of rows of the pane.
    """
    lines = list(to_pieces(ansi, cols, rows))
    while lines and not any(map(_is_seen, lines[-1])):
        lines.pop()
    return Markup("\n").join(map(_row, lines))


def _is_seen(piece: Piece) -> bool:
    look, text = piece
    return bool(text.strip()) or any(
        each.startswith("b") or each in _ON_BLANKS for each in _classes(look)
    )


def _row(pieces: Iterable[Piece]) -> Markup:
    return Markup("").join(map(_piece, pieces))


def _piece(piece: Piece) -> Markup:
    look, text = piece
    classes = " ".join(_classes(look))
    return Markup('<span class="{}">{}</span>').format(classes, text) if classes else escape(text)


def _classes(look: Look) -> Iterator[str]:
    """Yield the CSS classes for the colours and attributes of a text."""
    fg, bg, marks = look
    front, back = _number(fg), _number(bg)
    if _REVERSE in marks:
        front, back = back or "back", front or "front"
    yield from (f"f{front}",) if front else ()
    yield from (f"b{back}",) if back else ()
    yield from (_MARKS[mark] for mark in sorted(marks) if mark in _MARKS)


def _number(colour: Colour) -> str:
    """Return the number of the nearest of the 256 terminal colours; empty for the default."""
    match colour:
        case (_, 5, number):
            return str(number)
        case (_, 2, *parts):
            red, green, blue = map(_nearest, parts)
            return str(16 + 36 * red + 6 * green + blue)
        case (number,):
            return str(number % 10 + 8 * (number >= 90))
        case _:
            return ""


def _nearest(value: int) -> int:
    return min(range(6), key=lambda at: abs(_CUBE[at] - value))


def colour_rules() -> str:
    """Return a style sheet with the classes for the 256 terminal colours.

    ``f0`` to ``f255`` set the foreground, ``b0`` to ``b255`` the background.
    """
    colours = [*_BASIC]
    for number in range(216):
        parts = (_CUBE[number // 36], _CUBE[number // 6 % 6], _CUBE[number % 6])
        colours.append("#" + "".join(f"{part:02x}" for part in parts))
    colours += [f"#{8 + 10 * grey:02x}" + f"{8 + 10 * grey:02x}" * 2 for grey in range(24)]
    rules = (
        f".f{number}{{color:{colour}}}.b{number}{{background:{colour}}}"
        for number, colour in enumerate(colours)
    )
    return "\n".join(rules)


_DIFF_CLASSES: Final = (
    (re.compile(r"diff |\+\+\+|---"), "file"),
    (re.compile(r"index |new file|deleted file|similarity|rename|old mode|new mode|copy "), "dim"),
    (re.compile(r"@@"), "hunk"),
    (re.compile(r"\+"), "added"),
    (re.compile(r"-"), "taken"),
)


def diff_class(line: str) -> str:
    """Return the CSS class of a diff's line: ``added``, ``taken``, ``file``, ``hunk`` or ``dim``.

    ``taken`` is a removed line, ``file`` a line with a file's name, ``hunk`` the line above a hunk,
    ``dim`` another header line. Empty for an unchanged line.
    """
    return next((name for starts, name in _DIFF_CLASSES if starts.match(line)), "")


_SAID_BY_THE_HEADING: Final = re.compile(
    r"diff |--- |\+\+\+ |index |new file mode 100644|deleted file|similarity|rename to"
)
_KINDS: Final = {"A": "new", "D": "deleted", "R": "renamed"}


def repeats_heading(line: str) -> bool:
    """Return whether a header line of a diff only says what the heading of its file says."""
    return _SAID_BY_THE_HEADING.match(line) is not None


def file_says(file: DiffFile) -> str:
    """Return how a file of a diff has changed, such as ``new, +12``; empty without any lines."""
    counts = (f"+{file.added}" * bool(file.added), f"-{file.removed}" * bool(file.removed))
    return ", ".join(filter(None, (_KINDS.get(file.kind, ""), " ".join(filter(None, counts)))))


_PAGE_KEYS: Final = {each.name: each.keys for each in KEYS.lines_at(KeyPlace.PAGE)}


def key_attributes(*names: str, number: int = 0) -> Markup:
    """Return the attributes of an element on which the keys of some commands act.

    Args:
        names: The names of the commands, as `KeyLine.name` has them.
        number: The index, from 0, of the key that counts if a command has several keys; ignored if
            it has one.

    Raises:
        KeyError: The page has no key for a command.
    """
    lines = (_PAGE_KEYS[each] for each in names)
    keys = tuple(each[number] if len(each) > 1 else each[0] for each in lines)
    spoken = (f"Shift+{each}" if each.isupper() else each for each in keys)
    return Markup(' data-key="{}" aria-keyshortcuts="{}"').format(" ".join(keys), " ".join(spoken))
