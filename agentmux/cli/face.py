"""What every command has: the global options, the terminal, and the world behind them."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout
from agentmux.errors import UsageError
from agentmux.wiring import build, machine

if TYPE_CHECKING:
    from agentmux.app.world import Site, World

_VALUED: Final = {"--project": "project", "--config": "config"}
_VERBOSE: Final = ("-v", "--verbose")


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """The command line of one process.

    Attributes:
        environ: Of this process.
        given: What ``--project`` said.
        config: What ``--config`` said, absolute.
        verbose: Show the log, and where bugs come from.
        interactive: Somebody can be asked: stdin and stderr are terminals.
        on_screen: stdout is a terminal.
    """

    environ: Mapping[str, str]
    given: str | None = None
    config: Path | None = None
    verbose: bool = False
    interactive: bool = False
    on_screen: bool = False

    def project(self) -> Path:
        """Return the project, absolute and real."""
        return machine.project_of(Path(self.given) if self.given else cwd())

    def site(self, project: Path | None = None) -> Site:
        """Build what looking at the sessions of ``project``, else of the one here, takes."""
        return build.site(project or self.project(), config=self.config, environ=self.environ)

    def world(self, project: Path | None = None, *, read_only: bool = False) -> World:
        """Build everything around ``project``, else the one here.

        With ``read_only`` nothing is written, not even a cache.
        """
        return build.world(
            project or self.project(),
            config=self.config,
            environ=self.environ,
            read_only=read_only,
        )

    @property
    def colours(self) -> bool:
        """Whether colours may be shown (https://no-color.org)."""
        plain = self.environ.get("NO_COLOR") or self.environ.get("TERM", "dumb") == "dumb"
        return self.on_screen and not plain

    def own_session(self) -> Path | None:
        """Return the session that this is called in: by the directory, else by the pane."""
        inside = f"/{layout.SESSIONS_DIR}/"
        here = "" if self.given else f"{cwd()}/"
        if inside in here:
            before, _, below = here.partition(inside)
            return Path(before) / layout.SESSIONS_DIR / below.split("/")[0] if below else None
        named = self.environ.get("AGENTMUX_SESSION_DIR", "")
        ours = named and Path(named).parent == self.project() / layout.SESSIONS_DIR
        return Path(named) if ours else None


def cwd() -> Path:
    """Return the current directory.

    Raises:
        UsageError: Somebody has removed it.
    """
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            "the current directory is gone", hints=("go to your project: cd …",)
        ) from None


def absolute(path: Path) -> Path:
    """Return a path of the command line as one that does not depend on the current directory."""
    return path if path.is_absolute() else cwd() / path


def face_of(argv: Sequence[str], environ: Mapping[str, str]) -> tuple[Face, list[str]]:
    """Take the global options out of ``argv``, wherever they stand; return the rest too.

    Raises:
        UsageError: One of them has no value.
    """
    found: dict[str, str] = {}
    verbose = False
    rest: list[str] = []
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            rest += [word, *words]
        elif name in _VALUED:
            found[_VALUED[name]] = value if equals else _value(name, next(words, None))
        elif word in _VERBOSE:
            verbose = True
        else:
            rest.append(word)
    return _face(found, environ, verbose=verbose), rest


def _value(name: str, value: str | None) -> str:
    if not value:
        raise UsageError(f"{name} takes a value", hints=("agentmux --help",))
    return value


def _face(found: Mapping[str, str], environ: Mapping[str, str], *, verbose: bool) -> Face:
    config = found.get("config")
    return Face(
        environ=dict(environ),
        given=found.get("project"),
        config=absolute(Path(config)) if config else None,
        verbose=verbose,
        interactive=sys.stdin.isatty() and sys.stderr.isatty(),
        on_screen=sys.stdout.isatty(),
    )


def monotonic() -> float:
    """Return seconds that only ever grow."""
    return time.monotonic()
