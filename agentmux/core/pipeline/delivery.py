"""The delivery of an approved result: its steps, and how they change the state; pure.

`STEPS` says which steps each way has. A step after the commit also needs an entry in
``app/delivery/steps/steps.py``, which says how it is taken.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.journal.state import Delivery, Request, SessionState, StepState
from agentmux.core.names.statuses import DONE, FAILED, KEEP, MERGE, PR, PUSH, REQUEST, RUNNING
from agentmux.core.names.words import git_commands

COMMIT: Final = "commit"

STEPS: Final[Mapping[str, tuple[str, ...]]] = {
    KEEP: (COMMIT,),
    MERGE: (COMMIT, MERGE),
    PUSH: (COMMIT, PUSH),
    PR: (COMMIT, PUSH, REQUEST),
}
"""The steps of each way that a result can go, in order."""

_NOTHING: Final[Mapping[str, str]] = {}


def kept_commands(branch: str, base: str | None, remote: str | None) -> str:
    """Return, for people, the git commands that take further what was kept on its branch.

    A session that is done delivers nothing any more: from then on its branch is an ordinary one.

    Args:
        branch: The branch with the result; its commit if the branch does not exist any more.
        base: The branch on which it began; None for none.
        remote: Where a push would go; None where the repository has no remote.
    """
    name = shlex.quote(branch)
    where = f" (with {base} checked out)" if base else ""
    push = f", or: git push {shlex.quote(remote)} {name}" if remote else ""
    return f"{git_commands.merge(branch)}{where}{push}"


def approve_again(state: SessionState, way: str = "") -> str:
    """Return the hint to approve, once what is in the way is not any more.

    Args:
        state: Of the session.
        way: Where the result goes; empty: as the delivery says that was opened, or as configured.
    """
    name = shlex.quote(PurePosixPath(state.feature_dir).name)
    then = way or (state.delivery.then if state.delivery is not None else "")
    flag = f" --{then}" if then and state.worktree else ""
    return f"then: agentmux approve {name}{flag}"


def is_on_no_branch(state: SessionState) -> bool:
    """Return whether the result is committed on a detached HEAD, where git forgets it in time."""
    return state.commits and not state.worktree and not state.branch and bool(state.options.base)


def open_delivery(state: SessionState, then: str) -> SessionState:
    """Return the state in which the delivery of ``state.approval`` has just been opened.

    A result that stays in the checkout has no delivery, only its commit. An earlier delivery of the
    same result is replaced: a step that it has taken is found to be taken, and not taken again.
    """
    way = then if then in STEPS else KEEP
    if way == KEEP and not state.worktree:
        return replace(state, delivery=None)
    opened = Delivery(id=state.approval or "", then=way)
    return replace(state, delivery=opened)


def open_step(state: SessionState) -> str | None:
    """Return the first step of the delivery that is not done; None if the last one is."""
    opened = state.delivery
    if opened is None:
        is_done = state.commit is not None and state.commit.status in {"made", "none"}
        return None if is_done else COMMIT
    steps = STEPS.get(opened.then, STEPS[KEEP])
    return next((each for each in steps if not _is_done(opened, each)), None)


def _is_done(opened: Delivery, step: str) -> bool:
    step_state = opened.steps.get(step)
    return step_state is not None and step_state.status == DONE


def step_begun(
    state: SessionState, step: str, record: Mapping[str, str] = _NOTHING
) -> SessionState:
    """Return the state in which a step is under way; ``record`` says what exactly it does."""
    return _with_step(state, step, StepState(status=RUNNING, record=record))


def step_done(state: SessionState, step: str, record: Mapping[str, str] = _NOTHING) -> SessionState:
    """Return the state in which a step is done; ``record`` is added to what it recorded before."""
    known = {**_record(state, step), **record}
    after = _with_step(state, step, StepState(status=DONE, record=known))
    number = known.get("number", "")
    if step != REQUEST or not number.isdecimal():
        return after
    return replace(after, request=Request(url=known.get("url", ""), number=int(number)))


def step_failed(
    state: SessionState, step: str, reason: str, record: Mapping[str, str] = _NOTHING
) -> SessionState:
    """Return the state in which a step has failed, for the reason that people read."""
    known = {**_record(state, step), **record}
    step_state = StepState(status=FAILED, reason=reason, record=known)
    return _with_step(state, step, step_state)


def _record(state: SessionState, step: str) -> Mapping[str, str]:
    step_state = state.delivery.steps.get(step) if state.delivery is not None else None
    return step_state.record if step_state is not None else _NOTHING


def _with_step(state: SessionState, step: str, found: StepState) -> SessionState:
    """Return the state with this step; the same state where nothing but a commit is delivered."""
    opened = state.delivery
    if opened is None:
        return state
    return replace(state, delivery=replace(opened, steps={**opened.steps, step: found}))


def running_record(state: SessionState, step: str) -> Mapping[str, str] | None:
    """Return what was recorded before a step that is under way; None if it was not begun."""
    step_state = state.delivery.steps.get(step) if state.delivery is not None else None
    return step_state.record if step_state is not None and step_state.status == RUNNING else None


def failed_step(state: SessionState) -> tuple[str, StepState] | None:
    """Return the name and the state of the step after the commit that failed; None for none."""
    steps = state.delivery.steps if state.delivery is not None else {}
    failed = (pair for pair in steps.items() if pair[1].status == FAILED)
    return next((pair for pair in failed if pair[0] != COMMIT), None)


def failure(state: SessionState) -> str:
    """Return why the last delivery failed, as a sentence for people; empty if it did not."""
    if state.commit is not None and state.commit.status == "failed":
        return f"the commit was not made: {state.commit.reason}"
    pair = failed_step(state)
    return f"{_FAILED.get(pair[0], pair[0])}: {pair[1].reason}" if pair is not None else ""


_FAILED: Final[Mapping[str, str]] = {
    MERGE: "not merged",
    PUSH: "not pushed",
    REQUEST: "pushed, but not requested",
}
