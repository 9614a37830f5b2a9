"""Runs AgentMux commands for the user interfaces in which a person presses keys or buttons.

The command checks, refuses and records; the interface shows its output. So all interfaces follow
the same rules, and a command that hangs or fails does not affect the interface.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from agentmux.adapters.system.processes.child import Child, Keep, end, whole
from agentmux.adapters.system.python.installation import require_installed
from agentmux.core.codec.frozen import dataclass
from agentmux.core.terminal.text.command_words import Words
from agentmux.core.terminal.text.text_width import clean
from agentmux.errors import InstallationGoneError
from agentmux.threads import in_daemon_thread

_LIMIT_S: Final = 86_400.0
"""The time limit of a command, in seconds.

It may wait for a person or for the hooks of a commit.
"""
_OUT_MAX: Final = 1 << 20


_NEXT: Final = re.compile(r"[a-z ]+: (?:agentmux|git) ")
"""Matches a line that says what can be done next, and with which command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEnd:
    """The result of a command that has ended.

    Attributes:
        code: Its exit code.
        out: The non-empty lines of its output.
        errors: The non-empty lines of its standard error.
    """

    code: int
    out: Words
    errors: Words

    @property
    def is_ok(self) -> bool:
        """Whether the command succeeded."""
        return self.code == 0

    @property
    def words(self) -> str:
        """One line for the user: the error of a failed command, else the last line of its output.

        After a success, a line that only names the next command, such as ``watch it: agentmux
        attach x``, does not count if there is another: it is for a terminal. If the command printed
        nothing, the result is ``done`` after a success, else ``it gave no reason (exit code N)``.
        """
        if self.is_ok:
            printed = (*self.errors, *self.out) or ("done",)
            return next((e for e in reversed(printed) if not _NEXT.match(e)), printed[-1])
        problem = (e.removeprefix("error: ") for e in self.errors if e.startswith("error: "))
        silent = f"it gave no reason (exit code {self.code})"
        return next(problem, next(iter(reversed(self.errors)), silent))

    @property
    def hints(self) -> Words:
        """The hints that the command printed, one text each, without ``hint:``."""
        return tuple(e.removeprefix("hint: ") for e in self.errors if e.startswith("hint: "))


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRuns:
    """Runs commands of AgentMux as the user would type them, without a terminal.

    Attributes:
        program: The command line that runs AgentMux, without arguments.
        environ: The environment of the commands.
        locate: Returns a message with the commands in it completed, so that the reader can run them
            in any folder. It gets the message and the project that it is about, or None.
        config: The value of ``--config``; None to leave the option out.
    """

    program: Words
    environ: Mapping[str, str]
    locate: Callable[[str, Path | None], str]
    config: Path | None = None

    def argv(self, project: Path | None, words: Words) -> Words:
        """Return the whole command line of a command, the program first; nothing is run.

        ``project`` is None for a command without a project; ``words`` are the arguments after
        ``agentmux``.
        """
        place = ("--project", str(project)) if project is not None else ()
        config = ("--config", str(self.config)) if self.config is not None else ()
        return (*self.program, *place, *config, *words)

    async def run(
        self, project: Path | None, words: Words, *, text: str | None = None
    ) -> CommandEnd:
        """Run a command and return its result; the command cannot ask questions.

        It does not raise if the command fails, or if AgentMux was removed meanwhile.

        Args:
            project: The project that it is about; None if it is about none.
            words: The arguments after ``agentmux``.
            text: Its standard input; None for an empty one. Pass a person's text this way:
                arguments are visible to all users, and a leading ``@`` or dash in them has a
                meaning.

        Raises:
            subprocess.TimeoutExpired: The command took longer than a day, and was ended.
        """
        given = b"" if text is None else text.encode("utf-8", "replace")
        try:
            child = self.child(project, words, stdin=given, out=end(_OUT_MAX))
            result = await in_daemon_thread(child.run)
        except InstallationGoneError as error:
            errors = (f"error: {error.message}", *(f"hint: {each}" for each in error.hints))
            return CommandEnd(code=error.exit_code, out=(), errors=errors)
        errors = tuple(self.locate(each, project) for each in _lines(result.err))
        return CommandEnd(code=result.status, out=_lines(result.out), errors=errors)

    def child(
        self,
        project: Path | None,
        words: Words,
        *,
        stdin: bytes = b"",
        limit_s: float = _LIMIT_S,
        out: Keep = whole(),
    ) -> Child:
        """Return the `Child` that runs a command; call `Child.run` to start it.

        Args:
            project: The project that the command is about; None if it is about none.
            words: The arguments after ``agentmux``.
            stdin: The command's whole input.
            limit_s: Its time limit in seconds, a day by default.
            out: What to keep of its output.

        Raises:
            InstallationGoneError: The files of this AgentMux were removed or replaced.
        """
        require_installed(way_on="end this, and start it again")
        return Child(
            argv=self.argv(project, words),
            env=self.environ,
            cwd=project if project is not None and project.is_dir() else None,
            stdin=stdin,
            limit_s=limit_s,
            out=out,
        )


def _lines(data: bytes) -> Words:
    lines = (clean(each) for each in data.decode("utf-8", "replace").splitlines())
    return tuple(each for each in lines if each)
