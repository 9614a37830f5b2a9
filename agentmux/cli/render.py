"""Prints results and messages; no other module of the commands writes to stdout."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, TextIO

from agentmux.app.result import OperationResult, SessionProblem, envelope
from agentmux.core.names.status_labels import Colour, status_colour
from agentmux.core.terminal.text.colours import CODES, paint_text, shows_colours
from agentmux.core.terminal.text.visible_text import visible
from agentmux.errors import AgentmuxError, DataError, RefusedError, data_error_from

if TYPE_CHECKING:
    from agentmux.app.views.session.session_view import SessionView

_COLOURS: Final = re.compile(f"(\x1b\\[(?:{'|'.join(('0', *map(str, CODES.values())))})m)")


_located_by: ContextVar[Callable[[str], str]] = ContextVar("located_by", default=str)
_named_by: ContextVar[Callable[[str], str]] = ContextVar("named_by", default=str)


def word_messages(locate: Callable[[str], str], call: Callable[[str], str] = str) -> None:
    """Set two functions that change the text of every later message before it is printed.

    Each takes a text and returns it changed.

    Args:
        locate: Adds ``--project`` to the commands in a text, if the user's current directory does
            not belong to the project. It is also used for the texts in JSON.
        call: Puts the short names of sessions in place of their full names. It is not used for
            JSON.
    """
    _located_by.set(locate)
    _named_by.set(call)


def _locate(text: str) -> str:
    return _located_by.get()(text)


def _word(text: str) -> str:
    return _locate(_named_by.get()(text))


def out(text: str, *, verbatim: bool = False) -> None:
    """Write text to stdout, followed by a newline; on a terminal, long lines are folded (`fold`).

    Args:
        text: One or more lines. Invisible characters in them are replaced.
        verbatim: Whether the text is not folded and not changed by the functions of
            `word_messages`, for example because it is no message of ours.

    Raises:
        DataError: Stdout cannot be written.
        BrokenPipeError: The reader of stdout has closed the pipe.
    """
    with _answering():
        sys.stdout.write(
            f"{printable(text) if verbatim else fold_lines(_word(text), sys.stdout)}\n"
        )


def screen(rows: Iterable[str]) -> None:
    """Write the lines of a captured screen to stdout, unchanged.

    Args:
        rows: Lines that contain only text and colour sequences, as `LastScreen.paint_rows` returns
            them. They are not cleaned here.

    Raises:
        DataError: Stdout cannot be written.
        BrokenPipeError: The reader of stdout has closed the pipe.
    """
    with _answering():
        sys.stdout.write("".join(f"{row}\n" for row in rows))


def flush() -> None:
    """Flush stdout.

    Raises:
        DataError: Stdout cannot be written.
        BrokenPipeError: The reader of stdout has closed the pipe.
    """
    with _answering():
        sys.stdout.flush()


@contextmanager
def _answering() -> Iterator[None]:
    """Turn an `OSError` of a write to stdout in the block into a `DataError`.

    `BrokenPipeError`, which a closed pipe raises, is not changed.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot write the answer: {data_error_from(error).message}") from None


def note(text: str) -> None:
    """Write a message for the user to stderr, without a prefix; a failed write is ignored."""
    _write_note(_word(text))


def _write_note(line: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"{fold_lines(line, sys.stderr)}\n")


def fold_lines(text: str, stream: TextIO) -> str:
    """Return a printable text, with long lines folded if ``stream`` is a terminal."""
    shown, cols = printable(text), columns(stream)
    if cols is None or len(shown) <= cols:
        return shown
    from agentmux.core.terminal.text.folding import fold

    return "\n".join(each for line in shown.split("\n") for each in fold(line, cols))


def failure(message: str, hints: Iterable[str] = ()) -> None:
    """Write a message to stderr after ``error:``, then each hint after ``hint:``."""
    _write_note(f"{paint_text('error:', Colour.RED, colours=_colours_errors())} {_word(message)}")
    for each in hints:
        hint(each)


def hint(text: str) -> None:
    """Write a hint to stderr, after ``hint:``; a failed write is ignored."""
    _write_note(f"{paint_text('hint:', Colour.YELLOW, colours=_colours_errors())} {_word(text)}")


def _colours_errors() -> bool:
    environ = os.environ  # noqa: TID251 (errors are also shown before there is an `Invocation`)
    return shows_colours(environ, on_terminal=sys.stderr.isatty())


def error(found: AgentmuxError) -> int:
    """Write an error and its hints to stderr; of a refused signal, also the broken rules.

    Returns:
        The exit code of the error.
    """
    failure(found.message, found.hints)
    for problem in found.problems if isinstance(found, RefusedError) else ():
        note(f"- {problem}")
    return found.exit_code


def as_json(answer: Mapping[str, object]) -> None:
    """Write one JSON object to stdout, in ASCII, so that every terminal and pipe can carry it.

    Commands in its messages get ``--project`` if needed (`word_messages`). It is indented only on a
    terminal, because indenting doubles the time for a long list.

    Raises:
        DataError: Stdout cannot be written.
        BrokenPipeError: The reader of stdout has closed the pipe.
    """
    from agentmux.core.names.words.located_commands import locate_messages

    indent = 2 if sys.stdout.isatty() else None
    with _answering():
        sys.stdout.write(json.dumps(locate_messages(answer, _locate), indent=indent) + "\n")


def sessions_json(result: OperationResult[tuple[SessionView, ...]]) -> None:
    """Write the JSON answer of ``list --json`` and ``status --json`` to stdout.

    It has the sessions in ``result.data``, and the problems with single sessions.

    Raises:
        DataError: Stdout cannot be written.
        BrokenPipeError: The reader of stdout has closed the pipe.
    """
    as_json(envelope((view.as_json() for view in result.data), result.problems))


def show_problems(problems: Sequence[SessionProblem]) -> None:
    """Write problems to stderr, each with the name of its session, its message and its hints."""
    for problem in problems:
        name = f"{problem.session}: " if problem.session else ""
        failure(f"{name}{problem.message}", problem.hints)


def printable(text: str) -> str:
    """Return ``text`` with each invisible or misleading character replaced by U+FFFD.

    Newlines, tabs and the colour sequences that `paint` adds are kept.
    """
    if text.isascii() and text.isprintable():
        return text
    parts = _COLOURS.split(text)
    parts[::2] = map(visible, parts[::2])  # the others are colours
    return "".join(parts)


def paint(word: str, *, colours: bool, shown: str = "") -> str:
    """Return a text in the colour that belongs to a status.

    Args:
        word: The status of a session or a seat, such as ``running``; it determines the colour.
            Some statuses have none.
        colours: Whether to add the colour, as an escape sequence before the text and one after it;
            otherwise the text is returned unchanged.
        shown: The text to colour; if it is empty, ``word`` itself is coloured.
    """
    return paint_text(shown or word, status_colour(word), colours=colours)


def table(
    rows: Sequence[Sequence[str]], colours: Mapping[tuple[int, int], Colour] | None = None
) -> list[str]:
    """Return the rows as lines of aligned columns, with two spaces between columns.

    Args:
        rows: The cells of each row; all rows have the same number of cells.
        colours: The colours of cells, by row and column, counted from 0; None adds no colours.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cell_colours = colours or {}

    def cell(text: str, row: int, column: int) -> str:
        shown = paint_text(text, cell_colours.get((row, column), Colour.NONE), colours=True)
        return shown + " " * (widths[column] - len(text))

    return [
        "  ".join(cell(text, row, column) for column, text in enumerate(cells)).rstrip()
        for row, cells in enumerate(rows)
    ]


def columns(stream: TextIO | None = None) -> int | None:
    """Return the width of the terminal at a stream; None if it is not at a terminal.

    Args:
        stream: The stream; None stands for stdout.
    """
    size = terminal_size(stream or sys.stdout)
    return size[0] if size is not None else None


def terminal_size(stream: TextIO) -> tuple[int, int] | None:
    """Return columns and rows of the terminal at a stream; None if it is not at a terminal."""
    try:
        cols, rows = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return None
    return (cols, rows or 24) if cols else None
