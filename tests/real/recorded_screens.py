"""Recorded screens of real agents: the content and the paths of their files.

``./dev test-real --record`` writes them, from the real programs; the fast tests read them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.tmux.commands import parse_screens
from agentmux.ports.tmux.terminal import Screen

FOLDER: Final = Path(__file__).parent / "screens"
WIDTHS: Final = (80, 120, 200)
ROWS: Final = 45

_MARK: Final = "0123456789ab"
_SGR: Final = re.compile(r"\x1b\[[0-9;:]*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """One screen of one agent, as tmux showed it.

    Attributes:
        screen: Its name: its kind, and after a ``-`` a name that distinguishes it within the kind.
        version: The version of the program.
        how: How it came about, as a text for people.
        mark: The mark that AgentMux has to read.
        says: The text that AgentMux has to read: the reset time of a limit, the cause of trouble.
        cursor: Row and column, from 0.
        rows: The rows with SGR codes; a style continues in the next row.
    """

    agent: str
    screen: str
    version: str
    how: str
    mark: str
    says: str
    cols: int
    cursor: tuple[int, int]
    rows: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The kind of screen: ``limit`` for ``limit-session``."""
        return self.screen.partition("-")[0]

    @property
    def ansi(self) -> str:
        """The screen with SGR codes."""
        return "\n".join(self.rows)

    @property
    def text(self) -> str:
        """The screen as plain text."""
        return _SGR.sub("", self.ansi)

    @property
    def seen(self) -> Screen:
        """The screen as AgentMux gets it from tmux, without blanks at the ends of rows."""
        head = "\t".join(map(str, ("%1", self.cols, len(self.rows), *self.cursor)))
        reply = f"{_MARK}{head}\n{self.ansi}\n"
        return parse_screens(reply, mark=_MARK, asked=("%1",), colours=True)["%1"]

    @property
    def path(self) -> Path:
        """The path of its file."""
        return FOLDER / self.agent / f"{self.screen}.{self.cols}.json"

    def write(self) -> None:
        """Write it to its file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        self.path.write_text(text.replace("\x1b", "\\u001b") + "\n", encoding="utf-8")


def load(path: Path) -> Fixture:
    """Read a recorded screen."""
    fields: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Fixture(**{**fields, "cursor": tuple(fields["cursor"]), "rows": tuple(fields["rows"])})


def fixtures() -> Iterator[Fixture]:
    """Yield all recorded screens."""
    for path in sorted(FOLDER.glob("*/*.json")):
        yield load(path)
