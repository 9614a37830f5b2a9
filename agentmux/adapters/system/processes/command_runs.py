"""Runs commands of AgentMux for faces in which a person presses keys or buttons.

The command checks, refuses and records; the face shows what it says. So both have the same rules,
and a command that hangs or fails takes nothing of the face with it.
"""

from __future__ import annotations

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
"""A command may wait for a person, or for a commit with its hooks."""
_OUT_MAX: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEnd:
    """What a command said at its end.

    Attributes:
        code: Its exit code.
        out: The lines of its output that are not empty.
        errors: Those of its standard error.
    """

    code: int
    out: Words
    errors: Words

    @property
    def is_ok(self) -> bool:
        """Whether the command did what it was asked for."""
        return self.code == 0

    @property
    def words(self) -> str:
        """One sentence for people: the error, else the last line of the output."""
        if self.is_ok:
            return next(iter(reversed((*self.errors, *self.out))), "done")
        problem = (e.removeprefix("error: ") for e in self.errors if e.startswith("error: "))
        return next(problem, next(iter(reversed(self.errors)), f"exit code {self.code}"))

    @property
    def hints(self) -> Words:
        """What the command says can be done."""
        return tuple(e.removeprefix("hint: ") for e in self.errors if e.startswith("hint: "))


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRuns:
    """Runs commands of AgentMux as the user would type them, without a terminal.

    Attributes:
        program: The argv that runs AgentMux.
        environ: The environment of the commands.
        locate: Completes the commands in a message about a project, or none, for the face's reader.
        config: The value of ``--config``; None without one.
    """

    program: Words
    environ: Mapping[str, str]
    locate: Callable[[str, Path | None], str]
    config: Path | None = None

    def argv(self, project: Path | None, words: Words) -> Words:
        """Return the argv of a command in a project; None for a command that is about none."""
        place = ("--project", str(project)) if project is not None else ()
        config = ("--config", str(self.config)) if self.config is not None else ()
        return (*self.program, *place, *config, *words)

    async def run(
        self, project: Path | None, words: Words, *, text: str | None = None
    ) -> CommandEnd:
        """Run a command, which can ask nothing; return what it said.

        Args:
            project: The project that it is about; None for none.
            words: What is typed after ``agentmux``.
            text: What it reads from its standard input; None for nothing. A person's words go this
                way: argv is visible to all users, and gives a leading ``@`` or dash a meaning.
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
        """Return a command, to be run.

        Raises:
            InstallationGoneError: AgentMux is no longer where this process has it from.
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
