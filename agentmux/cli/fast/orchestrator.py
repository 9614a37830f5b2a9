"""The hidden command ``_orchestrate``: the process in the monitor's pane that drives a session."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.disk.project_register import remember
from agentmux.adapters.disk.session.handover import report as send_report
from agentmux.adapters.disk.session.handover import take_approval_environment, take_environment
from agentmux.adapters.disk.session.log_file import LogFile
from agentmux.adapters.disk.session.session_folders import read_unchecked
from agentmux.adapters.notify.process import HelperProcess
from agentmux.adapters.pane import delivery, keystrokes
from agentmux.adapters.system.processes import processes
from agentmux.adapters.system.processes.lost_work import end_lost_work
from agentmux.adapters.system.processes.processes import PidWatch, start_time
from agentmux.adapters.system.python.installation import require_installed
from agentmux.adapters.tmux.own_session import OwnTmux
from agentmux.adapters.tmux.server import TmuxTerminal
from agentmux.adapters.wake.file_changes import changes, wait_until_gone
from agentmux.adapters.wake.pipe import WakeFifo
from agentmux.app.commands.resume.orchestrator_request import (
    OrchestratorReport,
    OrchestratorRequest,
    decode_request,
    failure,
)
from agentmux.app.loop.dependencies import LoopDependencies, SessionGoneError
from agentmux.app.loop.process import drive
from agentmux.app.session.first_messages import SAYS
from agentmux.app.world import World
from agentmux.cli import render
from agentmux.core.agents.environment import environment_change, umask_of
from agentmux.core.codec.times import time_of
from agentmux.core.definitions.definition import definition_from
from agentmux.core.fleet import lease
from agentmux.core.names import layout
from agentmux.core.names.version import VERSION
from agentmux.core.names.words.session_commands import stop_and_resume
from agentmux.core.pipeline.registry import FEATURE_PIPELINE, pipeline_for
from agentmux.core.terminal.text.colours import shows_colours
from agentmux.errors import AgentmuxError, DataError, ExitCode
from agentmux.overriding import override
from agentmux.ports.tmux.display import Display, MonitorMessage
from agentmux.ports.tmux.terminal import Target
from agentmux.wiring import build
from agentmux.wiring.machine import project_register

logger = logging.getLogger(__name__)

_FOLDERS: Final = (
    *(layout.LAUNCHES, layout.SNAPSHOTS, layout.CHECKPOINTS, layout.HISTORY, layout.RESEARCH),
)
"""The folders in a session's directory that the orchestrator writes into, except those of phases.

If one of them is a symbolic link, the session is refused at the start. Every later write checks
again.
"""

_SAID_LINES: Final = 200
_END_S: Final = 4.0
_LOG_KEYS: Final = ("session", "phase", "role", "pane")


class _JsonLines(logging.Formatter):
    """Formats each log record as one line of JSON."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Return ``record`` as a JSON object in one line."""
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
    """Drive a session until its orchestrator ends (``agentmux _orchestrate …``).

    Errors are written to the session's log and reported to the command that started this process.

    Args:
        argv: Directory of the project, directory of the session, an encoded `OrchestratorRequest`
            and, if given, the file of ``--config``.
        environ: Environment of this process.

    Returns:
        The exit code.

    Raises:
        Exception: A bug; it was also written to the log and reported.
    """
    project, session = Path(argv[0]), Path(argv[1])
    request = decode_request(argv[2])
    config = Path(argv[3]) if len(argv) > 3 else None
    if _given_up(session, request):
        _end_own_session(environ)
        render.failure("the command that started this orchestrator has ended", ("agentmux list",))
        return ExitCode.NOT_FOUND
    waiting = [Path(request.ready)] if request.ready else []

    def report(said: OrchestratorReport) -> None:
        # Only the first report is sent: the command that started us reads just one.
        if waiting:
            send_report(waiting.pop(), said.encode())

    try:
        for name in (*_FOLDERS, *_phase_folders(session)):
            files.path_without_links(session, name, whole=True)
        _log_to(session / layout.LOG)
        own = _require_own(_own_session(environ))
        given = take_environment(Path(request.ready)) if request.ready else None
        if given:
            environ = _adopt(own, given, environ)
            os.umask(umask_of(environ))
        remember(project_register(environ), project)
        world = build.world(project, config=config, environ=environ)
        return asyncio.run(_drive(world, session, request, own, report))
    except AgentmuxError as error:
        logger.error("could not drive the session: %s", error)  # noqa: TRY400 (no bug)
        report(failure(error))
        return error.exit_code
    except Exception as error:
        logger.exception("the orchestrator crashed")
        message = f"the orchestrator crashed: {type(error).__name__}: {error}"
        report(OrchestratorReport(ok=False, exit_code=ExitCode.FAILED, message=message))
        raise


def _phase_folders(session: Path) -> tuple[str, ...]:
    """Return the folders of the phases of a session's pipeline.

    If the state is missing or damaged, these are the folders of the pipeline `feature`; the real
    pipeline is later read from the journal.

    Raises:
        FieldError: The recorded pipeline is damaged.
    """
    recorded = (read_unchecked(session) or {}).get("pipeline")
    if recorded is None:
        return FEATURE_PIPELINE.folders
    return pipeline_for(definition_from(recorded, f"`{session / layout.STATE}`")).folders


def _given_up(session: Path, request: OrchestratorRequest) -> bool:
    """Whether the command that started this orchestrator no longer waits for it.

    That command has then deleted the session's directory, or the pipe on which it waited. This
    happens if tmux hung and created our pane too late. With ``resume --reattach``, only the
    directory counts.
    """
    waited_for = request.ready if request.mode != "reattach" else ""
    return not session.is_dir() or bool(waited_for and not Path(waited_for).exists())


def _end_own_session(environ: Mapping[str, str]) -> None:
    """Kill the tmux session that was created for this process, unless it has other panes."""
    with suppress(AgentmuxError):  # the pane then stays, and shows why
        own = _own_session(environ)
        if own is not None and [pane.id for pane in own.panes()] == [environ.get("TMUX_PANE")]:
            own.kill()


async def _drive(
    world: World,
    session: Path,
    request: OrchestratorRequest,
    own: OwnTmux,
    report: Callable[[OrchestratorReport], None],
) -> int:
    _require_trusted(world, session)
    server = own.target.server
    identity = {
        "pid": os.getpid(),
        "version": VERSION,
        "host": world.machine.host,
        "since": world.now().isoformat(timespec="seconds"),
        "orchestrator_pid": os.getpid(),
        "orchestrator_started": start_time(os.getpid()),
        "path": str(session.resolve()),
        "socket": server.socket,
        "server_pid": server.pid,
        "server_started": server.started,
    }
    display = _display(colour=shows_colours(world.environment, on_terminal=True))

    def hints(stop: asyncio.Event) -> AsyncIterator[None]:
        return changes((session,), stop)

    tools = LoopDependencies(
        terminal=own,
        lock=world.locks.session(session),
        wake=WakeFifo(session),
        deaths=PidWatch(asyncio.get_running_loop()),
        type_into=delivery.deliver,
        press=keystrokes.press,
        end=partial(processes.end, grace_s=_END_S),
        display=display,
        hints=hints,
        gone=wait_until_gone,
        notifier=HelperProcess(world.environment),
        approver=partial(take_approval_environment, session),
        end_lost_work=end_lost_work,
        require_lease=partial(require_lease, session / lease.NAME, world.now),
        require_installed=_require_installed,
        past=_said_before(session / layout.LOG),
    )
    try:
        return await drive(
            world,
            world.files(session),
            request,
            tools,
            identity=identity,
            report=report,
        )
    finally:
        display.close()


def _require_installed(session: str) -> None:
    """Check that agents and deliveries can be started; see `LoopDependencies.require_installed`."""
    require_installed(way_on=stop_and_resume(session))


def require_lease(path: Path, now: Callable[[], datetime]) -> None:
    """Check that the lease file of a fleet's session allows the session to act.

    A session without a lease file belongs to no fleet, and may always act. An unreadable lease
    file, such as a link or a file that is too large, counts as a lapsed lease.

    Args:
        path: The path of the lease file.
        now: Returns the current time.

    Raises:
        LeaseLapsedError: The lease has lapsed, so the session may not act.
    """
    try:
        data = files.read_strict(path, lease.MAX)
    except (DataError, ValueError):
        data = b""
    if data is not None:
        lease.require_lease(data, now(), time.monotonic())


def _require_trusted(world: World, session: Path) -> None:
    """Check that the session uses only trusted parts of the project's files.

    The command that started this process has checked the same, but the files may have changed.

    Raises:
        NotTrustedError: The session would use a part that is not trusted.
    """
    if world.consent.trust.parts():
        from agentmux.app.commands.look.trust import played_in, require_trusted

        require_trusted(world, played_in(world.files(session).load().current))


def _adopt(own: OwnTmux, given: Mapping[str, str], environ: Mapping[str, str]) -> Mapping[str, str]:
    """Give the tmux session the environment of the command that started this process.

    Args:
        own: The tmux session; its later panes get the environment.
        given: Environment of the command that started this process.
        environ: Environment of this process, which may come from an older tmux server.

    Returns:
        The environment for this process to use.
    """
    difference = environment_change(environ, given)
    if not difference:
        return environ
    own.set_environment(difference)
    return difference.apply_to(environ)


def _require_own(own: OwnTmux | None) -> OwnTmux:
    if own is None:
        raise SessionGoneError("this process is not in a tmux session of agentmux")
    return own


def _own_session(environ: Mapping[str, str]) -> OwnTmux | None:
    """Return the tmux session that was created for this process; None if there is none.

    ``$TMUX`` holds ``socket,pid,session`` of the server that started this process. The pid is
    compared, because another server may answer at that socket by now.
    """
    place, _, number = environ.get("TMUX", "").rpartition(",")
    socket, _, pid = place.rpartition(",")
    if not socket:
        return None
    terminal = TmuxTerminal(socket)
    listing = terminal.listing()
    for each in listing.sessions if str(listing.server.pid) == pid else ():
        if each.id == f"${number}" and each.uuid:
            return terminal.own(Target(server=listing.server, session=each.id, uuid=each.uuid))
    return None


def _display(*, colour: bool) -> Display:
    from agentmux.monitor.screen import PlainDisplay, TerminalDisplay

    if sys.stdout.isatty():
        return TerminalDisplay(sys.stdout, colour=colour)
    return PlainDisplay(sys.stdout)


def _said_before(log: Path) -> tuple[MonitorMessage, ...]:
    """Return the last messages of the monitor, from the session's log; empty if it is damaged."""
    with suppress(AgentmuxError, OSError):
        return tuple(filter(None, map(_message, LogFile(log).last(_SAID_LINES))))
    return ()


def _message(line: str) -> MonitorMessage | None:
    try:
        fields = json.loads(line)
        is_message = fields["logger"] == SAYS and fields["level"] == "info"
        return MonitorMessage(str(fields["message"]), time_of(fields["at"])) if is_message else None
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _log_to(path: Path) -> None:
    stream = os.fdopen(files.append_only(path), "a", encoding="utf-8", errors="backslashreplace")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_JsonLines())
    logging.getLogger("agentmux").addHandler(handler)
    logging.getLogger("agentmux").setLevel(logging.INFO)
    logging.getLogger("agentmux").propagate = False
