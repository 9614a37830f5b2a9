"""The life of an orchestrator process: take the lock, look again, report, drive, let go.

It runs in a window of the session that `start` or `resume` has made for it; what goes wrong
before it is ready is reported to that command, which turns it into its own exit.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Final, Literal

from agentmux.app.orchestrator import Orchestrator
from agentmux.app.session import Session, resumed_values
from agentmux.app.tools import SessionGoneError, Tools
from agentmux.app.watching import Watcher
from agentmux.app.world import World
from agentmux.core.events import Resumed, SessionReattached
from agentmux.core.inference import Inference
from agentmux.core.phase import Phase
from agentmux.core.pipeline import PIPELINE, earlier
from agentmux.core.records import Json
from agentmux.errors import AgentmuxError, DataError, ExitCode, UsageError
from agentmux.ports import SessionFiles

logger = logging.getLogger(__name__)

Mode = Literal["start", "resume", "reattach"]

# Of a handover: the command that made the tmux session may still hold the lock for a moment.
_LOCK_WAIT_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a command wants of the orchestrator that it starts.

    Attributes:
        ready: Path of the pipe for the report; empty for none.
        fresh: Seats that are to start afresh; ``*`` is all of them.
        phase: For ``resume``: an earlier phase to go back to, instead of the inferred one.
        session_id: For a session of an older form, which has none; as is ``session_name``.
        policy: For ``resume``: how panes come back, where a flag says so.
    """

    mode: Mode
    ready: str = ""
    fresh: tuple[str, ...] = ()
    phase: str | None = None
    policy: str | None = None
    session_id: str = ""
    session_name: str = ""

    def encode(self) -> str:
        """Return it as one word of argv."""
        return json.dumps(asdict(self))


def decode_request(text: str) -> Request:
    """Return the request that `Request.encode` wrote."""
    fields = json.loads(text)
    return Request(**{**fields, "fresh": tuple(fields.get("fresh", ()))})


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an orchestrator says when it is ready, or why it never will be."""

    ok: bool
    phase: str = ""
    exit_code: int = 0
    message: str = ""
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())

    def encode(self) -> bytes:
        """Return it as JSON."""
        return json.dumps(asdict(self)).encode()


def decode_report(data: bytes) -> Report:
    """Return the report that `Report.encode` wrote."""
    fields = json.loads(data)
    return Report(
        **{**fields, "hints": tuple(fields["hints"]), "warnings": tuple(fields["warnings"])}
    )


def failure(error: AgentmuxError) -> Report:
    """Return the report of an orchestrator that cannot begin."""
    return Report(ok=False, exit_code=error.exit_code, message=error.message, hints=error.hints)


async def drive(
    world: World,
    files: SessionFiles,
    request: Request,
    tools: Tools,
    *,
    identity: Json,
    report: Callable[[Report], None],
) -> ExitCode:
    """Drive the session at ``files`` until it is over for this process.

    Raises:
        AgentmuxError: It could not begin; the same was reported.
    """
    try:
        tools.lock.acquire(_LOCK_WAIT_S, identity)
        session = Session(files, now=world.now, new_id=world.new_id)
        phase = _begin(session, request, tools.terminal.socket)
        tmux_session = _own_session(tools, session)
    except AgentmuxError as error:
        report(failure(error))
        raise
    watcher = Watcher(world, session, tools, tmux_session, identity=identity)
    orchestrator = Orchestrator(world, session, tools, watcher, frozenset(request.fresh))
    for warning in session.warnings:
        orchestrator.say(f"warning: {warning}")
    report(Report(ok=True, phase=phase, warnings=session.warnings))
    await orchestrator.run()
    logger.info("orchestrator ended: %s", orchestrator.cause)
    tools.lock.release()
    if orchestrator.kills_session:
        tools.terminal.kill_session(tmux_session)
    return ExitCode.OK if orchestrator.cause == "done" else ExitCode.FAILED


def _own_session(tools: Tools, session: Session) -> str:
    """Return the id of the tmux session that carries our uuid; this process is in it."""
    uuid = session.state.session_id
    for each in tools.terminal.sessions():
        if each.uuid == uuid:
            return each.id
    raise SessionGoneError(f"no tmux session carries the id {uuid}")


def _begin(session: Session, request: Request, socket: str) -> str:
    """Fold what is pending; on a resume record where it goes on."""
    inference = session.take_over(session_id=request.session_id, session_name=request.session_name)
    if request.mode == "resume":
        _resume(session, request, inference, socket)
    elif request.mode == "reattach":
        session.record(SessionReattached())
    return session.state.phase.value


def _resume(session: Session, request: Request, inference: Inference, socket: str) -> None:
    if inference.phase is Phase.DONE:
        raise DataError("the session is done, there is nothing to resume")
    phase: Phase = inference.phase
    if request.phase is not None:
        phase = chosen_phase(request.phase, inference)
    artifacts = session.artifacts()
    state = session.state
    session.record(
        Resumed(
            phase=phase.value,
            cycle=state.cycle,
            review_iteration=state.review_iteration,
            found=resumed_values(state, artifacts, phase),
            override=request.phase is not None and phase is not inference.phase,
            tmux_socket=socket,
        )
    )


def chosen_phase(name: str, inference: Inference) -> Phase:
    """Return the phase of ``--phase NAME``: one that is not later than the inferred one.

    Raises:
        UsageError: No such phase, or a later one.
    """
    phases: dict[str, Phase] = {phase.value: phase for phase in PIPELINE}
    phase = phases.get(name)
    if phase is None:
        raise UsageError(f"no phase `{name}`", hints=(f"phases: {', '.join(phases)}",))
    if inference.phase in phases.values() and earlier(phase, inference.phase) is not phase:
        raise UsageError(f"--phase goes backwards only: `{phase}` comes after `{inference.phase}`")
    return phase
