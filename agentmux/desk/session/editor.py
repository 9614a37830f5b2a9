"""The command line that opens a file in the user's editor."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.errors import MissingError, UsageError

_VARIABLES: Final = ("VISUAL", "EDITOR")
_DEFAULT: Final = "vi"
_TAKES_LINE: Final = frozenset(
    {"emacs", "emacsclient", "jed", "joe", "kak", "mg", "micro", "nano", "ne", "nvim", "pico",
     "vi", "view", "vim"}
)  # fmt: skip
"""The editors that go to a line that is given as ``+LINE`` before the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedPlace:
    """What to open in the editor.

    Attributes:
        path: The file or folder, absolute.
        line: The number of the line to go to; 0 for none.
    """

    path: Path
    line: int = 0


def editor_argv(
    place: EditedPlace, environ: Mapping[str, str], find: Callable[[str], Path | None]
) -> tuple[str, ...]:
    """Return the command line that opens a file or folder in ``$VISUAL``, ``$EDITOR`` or ``vi``.

    The variable is split into words like a command line, but no shell runs it. The line number is
    passed on, as ``+LINE``, only to editors that are known to take it.

    Args:
        place: What to open.
        environ: The user's environment variables.
        find: Returns the path of a program; None if it is not installed.

    Raises:
        MissingError: The editor is not installed.
        UsageError: The variable is no command line.
    """
    name = next((each for each in _VARIABLES if environ.get(each, "").strip()), "")
    try:
        words = shlex.split(environ[name]) if name else [_DEFAULT]
    except ValueError as error:
        raise UsageError(f"${name} is no command line: {error}") from None
    if not words or find(words[0]) is None:
        unset = "neither $VISUAL nor $EDITOR is set, and "
        program = words[0] if words else ""
        message = f"{unset * (not name)}the editor `{program}`{f' of ${name}' * bool(name)}"
        raise MissingError(f"{message} is not on PATH", hints=("export EDITOR=nano",))
    takes_line = place.line and Path(words[0]).name in _TAKES_LINE
    return (*words, *((f"+{place.line}",) if takes_line else ()), str(place.path))
