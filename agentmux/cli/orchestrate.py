"""The hidden command that drives one session, run in the monitor's pane."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from agentmux.adapters import delivery, files
from agentmux.adapters.handover import report as send_report
from agentmux.adapters.handover import take_environment
from agentmux.adapters.processes import ProcessWatch, start_time
from agentmux.adapters.tmux import TmuxTerminal
from agentmux.adapters.wake import WakePipe
from agentmux.adapters.watch import changes, gone
from agentmux.app.driving import drive
from agentmux.app.request import Report, Request, decode_request, failure
from agentmux.app.tools import Tools
from agentmux.app.trust import played_in, require_trusted
from agentmux.app.world import World
from agentmux.cli import render, wiring
from agentmux.core import layout
from agentmux.core.agents import AgentSpec
from agentmux.core.apply import fold
from agentmux.core.environment import change
from agentmux.core.pipeline import PHASE_REGISTRY
from agentmux.errors import AgentmuxError, ExitCode
from agentmux.ports.display import Display
from agentmux.ports.terminal import Delivery

logger = logging.getLogger(__name__)

_FOLDERS: Final = (
    *(layout.LAUNCHES, layout.SNAPSHOTS, layout.CHECKPOINTS, layout.HISTORY, layout.RESEARCH),
    *(each.folder for each in PHASE_REGISTRY if each.folder),
)
"""Where a session is written to."""

_LOG_KEYS: Final = ("session", "phase", "role", "pane")


class _JsonLines(logging.Formatter):
    """One JSON object per line, for later."""

    def format(  # type: ignore[explicit-override]  # typing has it from Python 3.12 on
        self, record: logging.LogRecord
    ) -> str:
        """Return the line of one record."""
        fields: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields.update({key: getattr(record, key) for key in _LOG_KEYS if hasattr(record, key)})
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=True)


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run ``agentmux _orchestrate PROJECT SESSION REQUEST [CONFIG]``."""
    project, session = Path(argv[0]), Path(argv[1])
    request = decode_request(argv[2])
    config = Path(argv[3]) if len(argv) > 3 else None
    if _given_up(session, request):
        _end_own_session(environ)
        render.failure("nobody waits for this orchestrator any more", ("agentmux list",))
        return ExitCode.NOT_FOUND
    os.umask(0o077)
    waiting = [Path(request.ready)] if request.ready else []

    def report(said: Report) -> None:
        # Only the first: whoever waited takes one answer, and has gone on with it.
        if waiting:
            send_report(waiting.pop(), said.encode())

    try:
        for name in _FOLDERS:
            files.inside(session, name, whole=True)
        _log_to(session / layout.LOG)
        given = take_environment(Path(request.ready)) if request.ready else None
        if given:
            environ = _adopt(given, environ)
        return asyncio.run(_drive(project, session, argv[2], config, environ, report))
    except AgentmuxError as error:
        logger.error("could not drive the session: %s", error)  # noqa: TRY400 (no bug)
        report(failure(error))
        return error.exit_code
    except Exception as error:
        logger.exception("the orchestrator crashed")
        message = f"the orchestrator crashed: {type(error).__name__}: {error}"
        report(Report(ok=False, exit_code=ExitCode.FAILED, message=message))
        raise


def _given_up(session: Path, request: Request) -> bool:
    """Whether the command that started this has cleaned up: tmux hung, and made our pane too late.

    A reattach cleans nothing up.
    """
    waited_for = request.ready if request.mode != "reattach" else ""
    return not session.is_dir() or bool(waited_for and not Path(waited_for).exists())


def _end_own_session(environ: Mapping[str, str]) -> None:
    """Kill the tmux session that was made for this process, where nothing else is in it."""
    terminal = _own_terminal(environ)
    if terminal is None:
        return
    session = f"${environ['TMUX'].rpartition(',')[2]}"
    with suppress(AgentmuxError):  # then the pane stays, and shows why
        marked = any(each.id == session and each.uuid for each in terminal.sessions())
        panes = [pane.id for pane in terminal.panes(session)]
        if marked and panes == [environ.get("TMUX_PANE")]:
            terminal.kill_session(session)


async def _drive(
    project: Path,
    session: Path,
    request: str,
    config: Path | None,
    environ: Mapping[str, str],
    report: Callable[[Report], None],
) -> int:
    world = wiring.world(project, config=config, environ=environ)
    _require_trusted(world, session)
    terminal = _own_terminal(environ) or world.terminal(None)
    server = terminal.server()
    identity = {
        "pid": os.getpid(),
        "host": world.host,
        "since": world.now().isoformat(timespec="seconds"),
        "orchestrator_pid": os.getpid(),
        "orchestrator_started": start_time(os.getpid()),
        "socket": terminal.socket,
        "server_pid": server.pid,
        "server_started": server.started,
    }
    display = _display(colour="NO_COLOR" not in environ)

    def hints(stop: asyncio.Event) -> AsyncIterator[None]:
        return changes((session,), stop)

    async def type_into(
        pane: str, text: str, spec: AgentSpec, *, deadline_s: float, once: bool = False
    ) -> Delivery:
        return await delivery.deliver(terminal, pane, text, spec, deadline_s=deadline_s, once=once)

    tools = Tools(
        terminal=terminal,
        lock=world.lock(session),
        wake=WakePipe(session),
        deaths=ProcessWatch(asyncio.get_running_loop()),
        type_into=type_into,
        display=display,
        hints=hints,
        gone=gone,
    )
    try:
        return await drive(
            world,
            world.files(session),
            decode_request(request),
            tools,
            identity=identity,
            report=report,
        )
    finally:
        display.close()


def _require_trusted(world: World, session: Path) -> None:
    """Refuse what was changed in the project's files since the command that started us asked.

    Raises:
        NotTrustedError: Something of it would be used and is not trusted.
    """
    if world.trust.parts():
        loaded = world.files(session).load()
        require_trusted(world, played_in(fold(loaded.state, loaded.tail)))


def _adopt(given: Mapping[str, str], environ: Mapping[str, str]) -> Mapping[str, str]:
    """Take the environment of the command that started us, for our agents too."""
    made = change(environ, given)
    terminal = _own_terminal(environ)
    if not made or terminal is None:
        return environ
    terminal.set_environment(environ["TMUX_PANE"], made)
    return made.applied(environ)


def _own_terminal(environ: Mapping[str, str]) -> TmuxTerminal | None:
    """Return the server that this process runs in: ``$TMUX`` is ``socket,pid,session``."""
    socket_path = environ.get("TMUX", "").rpartition(",")[0].rpartition(",")[0]
    return TmuxTerminal(socket_path) if socket_path else None


def _display(*, colour: bool) -> Display:
    from agentmux.monitor.screen import PlainDisplay, TerminalDisplay  # noqa: PLC0415

    if sys.stdout.isatty():
        return TerminalDisplay(sys.stdout, colour=colour)
    return PlainDisplay(sys.stdout)


def _log_to(path: Path) -> None:
    stream = os.fdopen(files.append_only(path), "a", encoding="utf-8", errors="backslashreplace")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_JsonLines())
    logging.getLogger("agentmux").addHandler(handler)
    logging.getLogger("agentmux").setLevel(logging.INFO)
    logging.getLogger("agentmux").propagate = False
