"""Gives the orchestrator a message or keys for an agent, and waits for the result.

The command only records what the user wants; the orchestrator, the only process that types, records
the result. Both are events of the journal, so nothing is lost or typed twice if a process is
killed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from agentmux.app.commands.resume.live_seat import require_orchestrator, require_seat, seat_event
from agentmux.app.session.search.orchestrator_version import require_own_version
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.shape import replace_unencodable
from agentmux.core.decisions.limits import is_parked
from agentmux.core.journal.events import InputEnded, InputStarted, SeatAnswered, SeatTold
from agentmux.core.journal.state import AGENT_MODES, SessionState
from agentmux.core.names.status_labels import status_label
from agentmux.core.names.statuses import LAUNCHED, STOPPED
from agentmux.errors import BlockedError, NotFoundError, TimedOutError, UsageError
from agentmux.ports.tmux.terminal import LINE_MAX

if TYPE_CHECKING:
    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.app.world import World

MESSAGE_MAX: Final = 1 << 15
"""The maximal size of a message to an agent, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedInput:
    """An input that was recorded in the journal.

    Attributes:
        id: The id of the input.
        seat: The seat that it is for.
        offset: A position in the journal before the input, in bytes.
    """

    id: str
    seat: str
    offset: int


def require_message(text: str) -> str:
    """Check that the message ``text`` can be typed; return it as it is to be recorded.

    Blanks at its ends are removed, and characters that cannot be encoded are replaced.

    Raises:
        UsageError: The message is empty or too long.
    """
    text = replace_unencodable(text).strip()
    if not text:
        raise UsageError("the message is empty")
    if len(text.encode()) > MESSAGE_MAX:
        raise UsageError(f"the message is longer than {MESSAGE_MAX} bytes", hints=(_AS_FILE,))
    if max(len(line.encode()) for line in text.splitlines()) > LINE_MAX:
        raise UsageError(
            f"a line of the message is longer than {LINE_MAX} bytes", hints=(_AS_FILE,)
        )
    return text


_AS_FILE: Final = "write it to a file in the project, and tell the agent to read that file"


def record_input(
    world: World,
    entry: SessionEntry,
    seat: str,
    fact: SeatTold | SeatAnswered,
    *,
    poke: Callable[[], bool],
) -> RecordedInput:
    """Record a message or keys for the agent of a seat, and wake the orchestrator.

    Args:
        world: The outside world.
        entry: The session.
        seat: The seat, such as ``coder-2``.
        fact: The message or the keys.
        poke: Wakes the orchestrator; returns whether one is running.

    Raises:
        NotFoundError: No orchestrator runs, or the session has no such seat now.
        BlockedError: No agent runs in the seat; or its usage limit is not over, so it takes only
            keys; or the orchestrator has another version, which may not know such events. Nothing
            is recorded then.
    """
    files = world.files(entry.path)
    require_orchestrator(entry.name, poke)
    require_own_version(world.locks.session(entry.path), entry.name)
    with files.transact() as held:
        state = held.loaded_session.current
        _require_agent(state, entry.name, seat, tells=isinstance(fact, SeatTold))
        event = seat_event(world, state, seat, fact)
        held.append(event)
    poke()
    return RecordedInput(id=event.id, seat=seat, offset=state.applied_offset)


def _require_agent(state: SessionState, name: str, seat: str, *, tells: bool) -> None:
    known = require_seat(state, name, seat)
    if known.status == STOPPED:
        raise BlockedError(
            f"`{seat}` of session {name} waits for your choice in its pane",
            reason="gate",
            hints=(f"choose there: agentmux attach {name}",),
        )
    if known.status != LAUNCHED:
        raise BlockedError(
            f"`{seat}` of session {name} is not running: {status_label(known.status)}",
            reason="not_running",
            hints=(f"start it again: agentmux restart {name} --role {seat}",),
        )
    if known.mode not in AGENT_MODES:
        raise BlockedError(
            f"no agent runs in `{seat}` of session {name}",
            reason="no_agent",
            hints=(f"look at it: agentmux attach {name}",),
        )
    if tells and is_parked(state, seat):
        raise BlockedError(
            f"`{seat}` of session {name} waits for the end of its usage limit",
            reason="parked",
            hints=(f"let it go on now: agentmux unpark {name}",),
        )


def wait_ended(
    world: World,
    entry: SessionEntry,
    given: RecordedInput,
    *,
    timeout_s: float,
    monotonic: Callable[[], float],
) -> InputEnded:
    """Wait until the orchestrator has recorded what happened to an input, and return that.

    Args:
        world: The outside world.
        entry: The session.
        given: The input.
        timeout_s: How long to wait, in seconds; 0 looks once.
        monotonic: Returns the seconds of a clock that never goes back.

    Raises:
        TimedOutError: It took too long, or the orchestrator has ended; the message says whether
            something may have been typed.
        NotFoundError: The session was removed.
    """
    deadline = monotonic() + timeout_s
    end, begun = _find_end(world, entry, given)
    for _ in world.follow(entry.path, timeout_s) if end is None and timeout_s > 0 else ():
        end, begun = _find_end(world, entry, given)
        if end is not None or monotonic() >= deadline:
            break
        if not world.locks.session(entry.path).is_held():
            end, begun = _find_end(world, entry, given)
            break
    if end is not None:
        return end
    held = world.locks.session(entry.path).is_held()
    why = f"nothing is known after {timeout_s:g} s" if held else "the orchestrator has ended"
    typed = "it may have been typed" if begun else "it was not typed yet"
    raise TimedOutError(
        f"`{given.seat}` of session {entry.name}: {why}; {typed}",
        hints=(f"look at its pane: agentmux attach {entry.name}",),
    )


def _find_end(
    world: World, entry: SessionEntry, given: RecordedInput
) -> tuple[InputEnded | None, bool]:
    """Return the end of an input (None if it has not ended), and whether it has begun."""
    if entry.name not in world.folders.names(entry.path.parent):
        raise NotFoundError(f"session {entry.name} was removed", hints=("agentmux list",))
    begun = False
    for event, _ in world.files(entry.path).tail(given.offset):
        match event.fact:
            case InputEnded(input=given.id) as ended:
                return ended, True
            case InputStarted(input=given.id):
                begun = True
            case _:
                pass
    return None, begun
