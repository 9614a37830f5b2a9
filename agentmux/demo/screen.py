"""Prints the demo on stdout."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import typer

from agentmux.core.journal.events import CheckDone, Resumed, ReviewDone
from agentmux.core.terminal.text.colours import shows_colours
from agentmux.demo.claims import Claim, Span, spans
from agentmux.demo.follower import JournalStep, describe
from agentmux.demo.home import Scene

_INDENT: Final = "    "
_COMMAND: Final = "agentmux"


class DemoScreen:
    """Prints lines to stdout and flushes each one; headings are bold if stdout shows colours."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._began = time.time()
        self._styled = shows_colours(environ, on_terminal=sys.stdout.isatty())

    def line(self, text: str = "") -> None:
        """Print one line; without ``text``, an empty one."""
        typer.echo(text)
        sys.stdout.flush()

    def head(self, text: str) -> None:
        """Print an empty line and a heading."""
        self.line()
        self.line(typer.style(text, bold=True) if self._styled else text)

    def lines(self, text: str) -> None:
        """Print a text of several lines, such as another program's output, indented."""
        for each in text.splitlines():
            self.line(f"{_INDENT}{each}".rstrip())

    def since_began(self, at: float) -> str:
        """Return how long after the creation of this object a moment was, such as `` 1.25 s``.

        Args:
            at: The moment, in seconds of Unix time.
        """
        return f"{max(0.0, at - self._began):5.2f} s"

    def step(self, step: JournalStep) -> None:
        """Print a description of an event, if the user should know about the event."""
        words = describe(step)
        if words is not None:
            phase = step.before.phase if step.before.session_id else step.after.phase
            seat = step.event.seat
            self.line(f"{_INDENT}{self.since_began(step.at)}  {phase:<13} {seat:<17} {words}")

    def claims(self, found: Iterable[Claim]) -> bool:
        """Print the result of each check; return whether every check passed."""
        good = True
        for claim in found:
            good &= claim.holds
            self.line(f"{_INDENT}{'ok   ' if claim.holds else 'WRONG'} {claim.text}")
        return good

    def table(self, steps: Sequence[JournalStep], killed_at: float) -> None:
        """Print a table of the phases and their times.

        Args:
            steps: All events of the session, in order.
            killed_at: When the tmux server was killed, in seconds of Unix time.
        """
        self.head("the phases")
        self.line(f"{_INDENT}{'phase':<14} {'from':>7} {'took':>8}")
        for span in spans(steps):
            begun, took = self.since_began(span.start), f"{span.end - span.start:.2f} s"
            note = ", ".join(_notes(span, steps, killed_at))
            self.line(f"{_INDENT}{span.phase:<14} {begun:>7} {took:>8}   {note}".rstrip())

    def print_kept(self, scene: Scene, script: Path, live: Sequence[str]) -> None:
        """Print where the kept demo is, how to look at it, and how to delete it.

        Args:
            scene: The demo's files and folders.
            script: The shell script that sets the environment of the demo's user.
            live: The socket paths of the demo's tmux servers that still run.
        """
        self.head(f"kept in {scene.root}")
        self.lines(f"look around:  . {shlex.quote(str(script))}")
        self.lines(f"              {scene.look}")
        servers = [f"tmux -S {shlex.quote(each)}" for each in live]
        for each in servers:
            self.lines(f"attach:       {each} attach")
        if not servers:
            self.lines("no tmux session is left")
        ends = "".join(f"{each} kill-server; " for each in servers)
        self.lines(f"delete it:    {ends}rm -r {scene.root}")

    def verdict(self, *, good: bool) -> None:
        """Print whether every check passed (``good``), and how long the demo took."""
        took = self.since_began(time.time()).strip()
        self.head(f"every check passed, in {took}" if good else f"a check FAILED, after {took}")

    def next(self, program: Path, path: str) -> None:
        """Print which commands the user can try after the demo.

        Args:
            program: The path of the ``agentmux`` program.
            path: The user's ``PATH``. If it does not lead to ``program``, the commands are printed
                with the full path.
        """
        executable = shutil.which(_COMMAND, path=path)
        known = executable is not None and Path(executable).resolve() == program.resolve()
        command = _COMMAND if known else shlex.quote(str(program))
        self.head("next, in one of your git repositories:")
        self.line(f"{_INDENT}{command} agents             # list the coding agents")
        self.line(f"{_INDENT}{command} start 'a feature'  # start a feature with one of them")
        self.line(f"{_INDENT}{command} --help             # list all commands")
        if not known:
            put = f'export PATH={shlex.quote(str(program.parent))}:"$PATH"'
            self.line(f"{_INDENT}(to type only `{_COMMAND}`, run first: {put})")


def _notes(span: Span, steps: Sequence[JournalStep], killed_at: float) -> Iterator[str]:
    if span.start <= killed_at < span.end:
        back = next((s.at for s in steps if isinstance(s.event.fact, Resumed)), span.end)
        yield f"tmux server killed here; resumed {back - killed_at:.2f} s later"
    for step in steps:
        fact, before = step.event.fact, step.before
        if (before.phase, before.iteration) != (span.phase, span.iteration):
            continue
        if isinstance(fact, ReviewDone):
            yield f"{fact.role.removeprefix('reviewer_')}: {fact.verdict}"
        if isinstance(fact, CheckDone):
            yield f"{fact.name}: {fact.outcome}"
