"""The progress of the delivery of an approved result: as data, and waiting for its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.phase import Phase
from agentmux.core.names.statuses import DELAYED
from agentmux.core.pipeline.delivery import failure, failure_hints, open_step
from agentmux.errors import AgentmuxError, NotFoundError, TimedOutError

if TYPE_CHECKING:
    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.app.world import Site
    from agentmux.core.journal.state import SessionState


class DeliveryFailedError(AgentmuxError):
    """A step of the delivery failed; the session waits for another decision of the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the delivery of one approved result has come.

    Attributes:
        state: The state of the session, with every event of the journal applied.
        delivered: Whether the session is done.
        failed: Why this approval does not deliver the result: a step failed, or the session goes on
            without the approval. Empty while neither is so.
        is_saved: Whether ``state.json`` contains this state, too, and not only the journal.
    """

    state: SessionState
    delivered: bool = False
    failed: str = ""
    is_saved: bool = True


def progress(site: Site, entry: SessionEntry, approval: str) -> Progress:
    """Return how far the delivery has come that the approval with the id ``approval`` began.

    Raises:
        NotFoundError: The session was removed.
        DataError: The session cannot be read.
    """
    if entry.name not in site.folders.names(entry.path.parent):
        raise NotFoundError(f"session {entry.name} was removed", hints=("agentmux list",))
    loaded = site.files(entry.path).load()
    state = loaded.current
    saved = not loaded.tail
    if state.phase == Phase.DONE:
        return Progress(state=state, delivered=True, is_saved=saved)
    if state.approval == approval:
        return Progress(state=state, is_saved=saved)
    failed = failure(state) or "the session goes on without it"
    return Progress(state=state, failed=failed, is_saved=saved)


def wait_delivered(
    site: Site,
    entry: SessionEntry,
    approval: str,
    *,
    timeout_s: float,
    monotonic: Callable[[], float],
    say: Callable[[str], object],
) -> SessionState:
    """Wait until the result is delivered and ``state.json`` says so; return the session's state.

    Args:
        site: The project.
        entry: The session.
        approval: The id of the approval.
        timeout_s: How long to wait, in seconds; 0 looks once.
        monotonic: Returns the seconds of a clock that never goes back.
        say: Called with the obstacle that holds up the delivery, in words, each time it changes.

    Raises:
        DeliveryFailedError: A step failed, or the session goes on without the approval.
        TimedOutError: The time is over, or the orchestrator has ended, before the delivery has.
        NotFoundError: The session was removed.
        DataError: The session cannot be read.
    """
    deadline = monotonic() + timeout_s
    seen = progress(site, entry, approval)
    final_state = _check_progress(seen) if seen.is_saved else None
    if final_state is not None:
        return final_state
    last_obstacle = ""
    for _ in site.follow(entry.path, timeout_s) if timeout_s > 0 else ():
        # Asked before the look, because an orchestrator saves the state just before it ends.
        is_driven = site.locks.session(entry.path).is_held()
        seen = progress(site, entry, approval)
        final_state = _check_progress(seen) if seen.is_saved else None
        if final_state is not None:
            return final_state
        if not is_driven:
            raise _explain_unfinished(entry, seen)
        obstacle = _obstacle(site, entry, seen.state)
        if obstacle not in {"", last_obstacle}:
            last_obstacle = obstacle
            say(obstacle)
        if monotonic() >= deadline:
            break
    state = progress(site, entry, approval).state
    doing = _obstacle(site, entry, state) or _DOING.get(open_step(state) or "", _DELIVERS)
    raise TimedOutError(
        f"session {entry.name} is still at work after {timeout_s:g} s: {doing}",
        hints=(f"agentmux status {entry.name}",),
    )


def _check_progress(found: Progress) -> SessionState | None:
    if found.failed:
        raise _explain_failure(found)
    return found.state if found.delivered else None


def _explain_failure(found: Progress) -> DeliveryFailedError:
    """Return the error for a failed delivery, with each hint by itself: people copy them."""
    hints = failure_hints(found.state)
    return DeliveryFailedError(found.failed.removesuffix("; ".join(("", *hints))), hints=hints)


def _explain_unfinished(entry: SessionEntry, seen: Progress) -> AgentmuxError:
    """Return the error for a delivery whose orchestrator ended before the delivery did."""
    if seen.failed:
        return _explain_failure(seen)
    return TimedOutError(
        f"the orchestrator of session {entry.name} has ended; its next one goes on",
        hints=(f"see how to go on: agentmux status {entry.name}",),
    )


def _obstacle(site: Site, entry: SessionEntry, state: SessionState) -> str:
    """Return, in words, what holds up the delivery; empty if nothing does."""
    if state.commit is not None and state.commit.status == DELAYED:
        return f"the commit waits: {state.commit.reason}"
    noted, holder = site.folders.runtime(entry.path), site.locks.session(entry.path).holder() or {}
    if noted.get("orchestrator_pid") != holder.get("pid"):  # an earlier orchestrator's note
        return ""
    return str(noted.get("problem") or "")


_DOING: Mapping[str, str] = {"commit": "it commits", "merge": "it merges", "push": "it pushes"}
"""What the delivery does in each step, in words."""
_DELIVERS: Final = "it delivers the result"
