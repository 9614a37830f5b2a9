"""Opens the desk in the terminal of this process."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.adapters.disk.project_register import known_projects
from agentmux.adapters.system.processes import foreground
from agentmux.adapters.system.processes.command_runs import CommandRuns
from agentmux.adapters.system.processes.processes import agent_above
from agentmux.adapters.system.python.garbage import collect_often
from agentmux.core.config.settings import DeskSettings
from agentmux.core.terminal.keys.key_table import KEYS
from agentmux.desk.list.reading import SessionReader
from agentmux.desk.list.session_feed import SessionFeed
from agentmux.desk.tools import DeskTools
from agentmux.wiring import build, machine

if TYPE_CHECKING:
    from agentmux.ports.fleet import Fleet


def open_desk(
    project: Path | None, environ: Mapping[str, str], *, config: Path | None, colours: bool
) -> int:
    """Run the desk until the user leaves it, and return the exit code.

    Args:
        project: The project of the working directory, whose sessions are shown even if it was never
            used before; None if the directory is in no project.
        environ: The environment variables of this process.
        config: The file given with ``--config``; None if there was none.
        colours: Whether to use colours.

    Raises:
        ConfigError: The user's own configuration has a mistake.
        Exception: An error ended the desk. The terminal has been restored.
    """
    own = _own_settings(environ)
    feed, reader = _feed(project, environ, config)
    feed.begin()  # reads in a thread while Textual is imported
    from agentmux.desk.app import DeskApp

    caller = agent_above(environ)
    agent = ""
    if caller is not None:
        agent = f"this is for a person; an agent runs the desk (seat {caller.seat or '?'})"
    locate = partial(machine.locate, here=project)
    commands = CommandRuns(program=machine.program(), environ=environ, config=config, locate=locate)
    tools = DeskTools(
        reader=reader,
        feed=feed,
        commands=commands,
        foreground=partial(_foreground, environ=environ),
        now=machine.now,
        here=project,
        fleet=_fleet(commands, project),
        agent=agent,
        keys=KEYS.with_own(own.keys),
        theme=own.theme,
    )
    machine.tell_libraries(colours=colours)
    app = DeskApp(tools)
    gc.collect()
    gc.freeze()
    collect_often()
    try:
        app.run()
        if app.failure is not None:
            raise app.failure
        return app.return_code or 0
    finally:
        feed.close()


def _own_settings(environ: Mapping[str, str]) -> DeskSettings:
    """Return the user's own keys and colours; without a file of the user, nothing is loaded."""
    user = machine.config_dir(environ)
    if not os.path.lexists(user / "config.yaml"):
        return DeskSettings()
    from agentmux.adapters.config.layers import load_settings

    return load_settings(user, None, None).settings.desk


def _fleet(commands: CommandRuns, project: Path | None) -> Fleet | None:
    """Return the fleet; None if no fleet is set up. The check only looks for one file."""
    if not machine.fleet_url(commands.environ).is_file():
        return None
    from agentmux.wiring.fleet import fleet_of

    return fleet_of(commands, project)


def _feed(
    project: Path | None, environ: Mapping[str, str], config: Path | None
) -> tuple[SessionFeed, SessionReader]:
    register = machine.project_register(environ)

    def projects() -> tuple[Path, ...]:
        here = () if project is None else (project,)
        return tuple(dict.fromkeys((*here, *known_projects(register))))

    reader = SessionReader(
        partial(build.site, config=config, environ=environ),
        partial(build.world, config=config, environ=environ, read_only=True),
    )
    return SessionFeed(reader, projects, register), reader


def _foreground(argv: tuple[str, ...], waits: bool, *, environ: Mapping[str, str]) -> int:
    """Run a program in this terminal, and return its exit code.

    If it fails, or with ``waits``, wait for Enter so that its output can be read.
    """
    code = foreground.run(argv, environ)
    if code or waits:
        with suppress(EOFError, KeyboardInterrupt):
            input("-- Enter: back to the desk --")
    return code
