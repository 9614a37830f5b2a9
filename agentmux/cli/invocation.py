"""The global options of a command line, and the objects that commands build from them.

The current directory and the kind of terminal are read here, too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout
from agentmux.core.names.words.located_commands import names_session
from agentmux.core.terminal.text.colours import shows_colours
from agentmux.errors import AgentmuxError, UsageError

if TYPE_CHECKING:
    from agentmux.app.world import Site, World

_VALUED: Final = {"--project": "project", "--config": "config"}
_VERBOSE: Final = ("-v", "--verbose")


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The global options of a command line, and the abilities of its terminal.

    Attributes:
        environ: Environment of this process.
        given: Value of ``--project``; None without this option.
        config: Value of ``--config``, as an absolute path; None without this option.
        verbose: Whether to show the log, and tracebacks of bugs.
        interactive: Whether a person can be asked, because stdin and stderr are terminals.
        on_screen: Whether stdout is a terminal.
        words: The command line without ``agentmux`` and the global options.
        slow: Called in another thread, with a sentence, if a program takes long; None tells the
            user nothing.
    """

    environ: Mapping[str, str]
    given: str | None = None
    config: Path | None = None
    verbose: bool = False
    interactive: bool = False
    on_screen: bool = False
    words: tuple[str, ...] = ()
    slow: Callable[[str], object] | None = None

    def unchecked_project(self) -> Path:
        """Return the directory of the project that contains `here`; it may be ``/`` or the home.

        Unlike `project`, this never refuses a directory. It is for commands that concern the user
        or the machine rather than a project.

        Raises:
            UsageError: The directory `here` does not exist, or cannot be entered.
        """
        from agentmux.wiring import machine

        return machine.project_of(self.here(), self.environ)

    def project(self) -> Path:
        """Return the directory of the project, absolute and without symbolic links.

        The project contains the directory of ``--project`` or, without this option, the current
        directory.

        Raises:
            ConfigError: The project would be ``/`` or the home directory, although ``--project`` is
                not given and this process does not run in a session there.
        """
        folder = self.known_project()
        if folder is None:
            from agentmux.wiring import machine

            raise machine.no_project(self.unchecked_project())
        return folder

    def known_project(self) -> Path | None:
        """Return what `project` returns; None in the cases in which it raises `ConfigError`."""
        from agentmux.wiring import machine

        place = self.unchecked_project()
        if self.given or not machine.holds_all(place, self.environ):
            return place
        return place if self.own_session() is not None else None

    def here(self) -> Path:
        """Return the directory of ``--project`` as typed, else the current directory.

        Raises:
            UsageError: Without ``--project``, the current directory was deleted.
        """
        return Path(self.given) if self.given else cwd()

    def other_project(self) -> Path | None:
        """Return the project of ``--project``; None if the current directory is in it.

        Also None if there is no ``--project``, or if its directory cannot be entered.
        """
        if not self.given:
            return None
        from agentmux.wiring import machine

        try:
            project = self.unchecked_project()
        except AgentmuxError:
            return None
        with suppress(AgentmuxError, OSError):
            return None if machine.project_of(cwd(), self.environ) == project else project
        return project  # the current directory is gone

    def locate(self, text: str) -> str:
        """Return ``text`` with its commands completed so that they work in the current directory.

        They get ``--project`` if it belongs to another project than the one of ``--project``; git
        commands get ``-C`` there, and in a session's worktree. If nobody can tell, the text is
        unchanged.
        """
        if "git " not in text and not self.given:
            return text
        from agentmux.wiring import machine

        with suppress(AgentmuxError, OSError):
            project = self.other_project()
            if project is not None:
                return machine.locate(text, project)
            return machine.locate_git(text, cwd(), self.environ)
        return text

    def call_sessions(self, text: str, project: Path | None = None) -> str:
        """Return ``text`` with the short names of sessions in place of their full names.

        If the names cannot be read, return ``text`` unchanged.

        Args:
            text: A message for the user.
            project: The project that the message is about; None means the one that
                `unchecked_project` returns.
        """
        if not names_session(text):
            return text
        from agentmux.wiring import machine

        with suppress(AgentmuxError, OSError):  # a message is shown in any case
            return machine.call_sessions(text, project or self.unchecked_project())
        return text

    def site(self, project: Path | None = None) -> Site:
        """Build a `Site`, which has everything a command needs to look at a project's sessions.

        Args:
            project: Directory of the project; None means the one that `project` returns.

        Raises:
            ConfigError: `project` raises it.
        """
        from agentmux.wiring import build

        return build.site(project or self.project(), config=self.config, environ=self.environ)

    def world(self, project: Path | None = None, *, read_only: bool = False) -> World:
        """Build a `World`, which has everything a command needs to work on a project.

        Args:
            project: Directory of the project; None means the one that `project` returns.
            read_only: Whether the world writes no files, not even a cache. The user is then not
                told if git takes long.

        Raises:
            ConfigError: `project` raises it, or the configuration is invalid.
        """
        from agentmux.wiring import build

        return build.world(
            project or self.project(),
            config=self.config,
            environ=self.environ,
            read_only=read_only,
            slow=None if read_only else self.slow,
        )

    @property
    def opens_desk(self) -> bool:
        """Whether ``agentmux`` without a command opens the desk.

        It does if a person can be asked, and stdout is a terminal that can show a full screen.
        """
        return self.interactive and self.on_screen and self.environ.get("TERM", "dumb") != "dumb"

    @property
    def colours(self) -> bool:
        """Whether to write colours to stdout; ``NO_COLOR`` and similar variables decide first."""
        return shows_colours(self.environ, on_terminal=self.on_screen)

    def own_session(self) -> Path | None:
        """Return the directory of the session in which this command runs; None outside a session.

        Without ``--project``, this is the session whose directory or own worktree contains the
        current directory. With ``--project``, or if there is no such session, it is the session in
        whose pane this process runs, if that session belongs to the project.
        """
        inside = f"/{layout.SESSIONS_DIR}/"
        here = "" if self.given else f"{cwd()}/"
        if inside in here:
            before, _, below = here.partition(inside)
            return Path(before) / layout.SESSIONS_DIR / below.split("/")[0] if below else None
        from agentmux.wiring import machine

        worktree = machine.session_of_worktree(Path(here)) if here else None
        if worktree is not None:
            return worktree
        named = self.environ.get("AGENTMUX_SESSION_DIR", "")
        return Path(named) if self._is_of_pane(self.unchecked_project()) else None

    def _is_of_pane(self, project: Path) -> bool:
        """Whether this process runs in a pane of a session of ``project``."""
        named = self.environ.get("AGENTMUX_SESSION_DIR", "")
        return bool(named) and Path(named).parent == project / layout.SESSIONS_DIR


def cwd() -> Path:
    """Return the current directory.

    Raises:
        UsageError: The current directory was deleted.
    """
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            "the current directory does not exist any more", hints=("go to your project: cd …",)
        ) from None


def absolute(path: Path) -> Path:
    """Return ``path`` as an absolute path; a relative one starts at the current directory."""
    if path.is_absolute():
        return path
    place, words = cwd(), path.parts
    while words[:1] == ("..",):  # no link is in the current directory's own name
        place, words = place.parent, words[1:]
    return place.joinpath(*words)


def invocation_of(argv: Sequence[str], environ: Mapping[str, str]) -> tuple[Invocation, list[str]]:
    """Parse the global options of a command line, which may be anywhere before ``--``.

    Args:
        argv: The words after ``agentmux``.
        environ: Environment of this process.

    Returns:
        An `Invocation` with the options, and the other words, with ``--`` and all that follows it.

    Raises:
        UsageError: A global option has no value.
    """
    options: dict[str, str] = {}
    verbose = False
    rest: list[str] = []
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            rest += [word, *words]
        elif name in _VALUED:
            options[_VALUED[name]] = value if equals else _value(name, next(words, None))
        elif word in _VERBOSE:
            verbose = True
        else:
            rest.append(word)
    return _make_invocation(options, environ, verbose=verbose), rest


def _value(name: str, value: str | None) -> str:
    if not value:
        raise UsageError(f"{name} needs a value", hints=("agentmux --help",))
    return value


def _make_invocation(
    found: Mapping[str, str], environ: Mapping[str, str], *, verbose: bool
) -> Invocation:
    config = found.get("config")
    return Invocation(
        environ=dict(environ),
        given=found.get("project"),
        config=absolute(Path(config)) if config else None,
        verbose=verbose,
        interactive=sys.stdin.isatty() and sys.stderr.isatty(),
        on_screen=sys.stdout.isatty(),
    )


def monotonic() -> float:
    """Return the time, in seconds, of a clock that never goes back; for measuring durations."""
    return time.monotonic()
