"""Colours the code in a diff, a part at a time as it is drawn. Rich has Pygments for it."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from agentmux.core.documents.diff_files import DiffFile, file_at
from agentmux.desk.styled import BOLD, DIM, PLAIN, Line, Part

if TYPE_CHECKING:
    from rich.syntax import Syntax

_BLOCK: Final = 100
"""How many lines are coloured together. More would make a key wait."""

_LONGEST: Final = 1000
"""The most characters of a line that is coloured. Longer ones are no code that people write."""

# Green and red say what was added and removed. Blue is hard to read in many terminals.
_STYLES: Final[Mapping[str, str]] = {
    "Token.Comment": DIM,
    "Token.Keyword": "magenta",
    "Token.Keyword.Constant": "cyan",
    "Token.Literal.Number": "cyan",
    "Token.Literal.String": "yellow",
    "Token.Literal.String.Doc": DIM,
    "Token.Name.Builtin": "cyan",
    "Token.Name.Class": BOLD,
    "Token.Name.Decorator": "magenta",
    "Token.Name.Function": BOLD,
    "Token.Name.Tag": "magenta",
    "Token.Operator.Word": "magenta",
}


class CodeColours:
    """Colours the lines of one diff. Lines that were removed keep the style that they have.

    Attributes:
        is_loaded: Whether `load` has ended.
    """

    def __init__(
        self, lines: Sequence[str], places: Sequence[str], files: Sequence[DiffFile]
    ) -> None:
        """Set the diff.

        Args:
            lines: The lines of the diff, printable.
            places: The place of each line; empty if it is of no file.
            files: The files of the diff.
        """
        self._lines, self._places, self._files = lines, places, files
        self._hunks = [
            at
            for at, (text, place) in enumerate(zip(lines, places, strict=True))
            if text.startswith("@@") and not place
        ]
        self._known: dict[int, Line] = {}
        self.is_loaded = False

    def load(self) -> None:
        """Load what is needed for the languages of the diff. It takes a while: call it in a thread.

        Until it has ended, no line is coloured.
        """
        for each in self._files:
            _syntax(_language(each.path))
        self.is_loaded = True

    def parts(self, number: int) -> Line | None:
        """Return a line with its code coloured, as parts of text and style.

        None if it keeps its style: it is removed, very long or no code, its language is unknown, or
        `load` has not ended yet.

        Args:
            number: The index of the line in the diff, from 0.
        """
        if number in self._known:
            return self._known[number]
        if not self.is_loaded or not self._is_code(number):
            return None
        self._colour_block(number)
        return self._known.get(number)

    def _is_code(self, number: int) -> bool:
        text = self._lines[number]
        return bool(self._places[number]) and text[:1] in {"+", " "} and len(text) <= _LONGEST

    def _colour_block(self, number: int) -> None:
        """Colour the lines around ``number``, as they are after the changes.

        A text that began in an earlier block, such as a long comment, is not recognised as one.
        """
        at = bisect_right(self._hunks, number) - 1
        begins = self._hunks[at] + 1
        ends = self._hunks[at + 1] if at + 1 < len(self._hunks) else len(self._lines)
        begins += (number - begins) // _BLOCK * _BLOCK
        held = [n for n in range(begins, min(begins + _BLOCK, ends)) if self._is_code(n)]
        syntax = _syntax(_language(self._files[file_at(self._files, number)].path))
        if syntax is None:
            return
        code = "\n".join(self._lines[each][1:] for each in held)
        for each, parts in zip(held, _colour_lines(syntax, code), strict=False):
            mark = self._lines[each][0]
            self._known[each] = ((mark, "green bold" if mark == "+" else PLAIN), *parts)


def _language(path: str) -> str:
    """Return the part of a file's name that tells its language: the suffix, or else the name."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    return f"{dot}{suffix}" if stem else name


@functools.cache
def _syntax(language: str) -> Syntax | None:
    """Return the syntax of a language; None if it is unknown."""
    from rich.syntax import Syntax

    name = Syntax.guess_lexer(f"x{language}" if language.startswith(".") else language)
    syntax = Syntax("", name)
    return syntax if name != "default" and syntax.lexer is not None else None


def _colour_lines(syntax: Syntax, code: str) -> Iterator[Line]:
    """Yield the lines of a text in a programming language, with their styles."""
    if syntax.lexer is None:
        return
    parts: list[Part] = []
    for token, text in syntax.lexer.get_tokens(code):
        style = _style(token)
        first, *rest = text.split("\n")
        parts.append((first, style))
        for each in rest:
            yield tuple(part for part in parts if part[0])
            parts = [(each, style)]
    yield tuple(part for part in parts if part[0])


@functools.cache
def _style(token: object) -> str:
    """Return the style of a kind of token, or else of the kind that it belongs to."""
    name = str(token)
    while name and name not in _STYLES:
        name = name.rpartition(".")[0]
    return _STYLES.get(name, PLAIN)
