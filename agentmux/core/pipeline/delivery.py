"""The steps of delivering an approved result, and how they change the state. Pure.

`STEPS` has the steps of each way of delivery. A step after the commit also needs an entry in
``app/delivery/steps/steps.py``, which performs it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.journal.state import Commit, Delivery, Request, SessionState, StepState
from agentmux.core.names.statuses import DONE, FAILED, KEEP, MERGE, PR, PUSH, REQUEST, RUNNING
from agentmux.core.names.words import git_commands

COMMIT: Final = "commit"
HINTS: Final = "hints"
"""The field of a failed step's record with the hints of its reason, one a line."""

STEPS: Final[Mapping[str, tuple[str, ...]]] = {
    KEEP: (COMMIT,),
    MERGE: (COMMIT, MERGE),
    PUSH: (COMMIT, PUSH),
    PR: (COMMIT, PUSH, REQUEST),
}
"""The steps of each way to deliver a result, in order."""

_NOTHING: Final[Mapping[str, str]] = {}


def kept_commands(branch: str, base: str | None, remote: str | None) -> str:
    """Return the git commands with which the user can merge or push a result that was kept.

    They are in one text, such as ``… git merge --no-edit X (with main checked out), or: git push
    origin X``. Nothing is run: a session that is done delivers nothing itself.

    Args:
        branch: The branch with the result; the commit if the branch no longer exists.
        base: The name of the base branch; None if there is none.
        remote: The name of the remote to push to; None if the repository has none.
    """
    name = shlex.quote(branch)
    where = f" (with {base} checked out)" if base else ""
    push = f", or: git push {shlex.quote(remote)} {name}" if remote else ""
    return f"{git_commands.merge(branch)}{where}{push}"


def approve_again(state: SessionState, way: str = "") -> str:
    """Return the hint that tells the user to approve again: ``then: agentmux approve …``.

    Args:
        state: The session's state.
        way: The way of delivery to name in the command: ``keep``, ``merge``, ``push`` or ``pr``.
            Empty means that of the current delivery. No way is named if there is none, or if the
            session works in the user's checkout.
    """
    name = shlex.quote(PurePosixPath(state.feature_dir).name)
    then = way or (state.delivery.then if state.delivery is not None else "")
    flag = f" --{then}" if then and state.worktree else ""
    return f"then: agentmux approve {name}{flag}"


def is_on_no_branch(state: SessionState) -> bool:
    """Whether the result would be committed on a detached HEAD, where git will later delete it."""
    return state.commits and not state.worktree and not state.branch and bool(state.options.base)


def open_delivery(state: SessionState, then: str) -> SessionState:
    """Return the state in which the delivery of an approved result has just begun.

    If the result stays in the user's checkout, there is no delivery, only the commit. An earlier
    delivery is replaced. The new one records no step; when it is carried out, a step that was
    already taken is found, and not taken again.

    Args:
        state: The state, with ``approval`` set.
        then: The way of delivery: ``keep``, ``merge``, ``push`` or ``pr``; any other means
            ``keep``.
    """
    way = then if then in STEPS else KEEP
    if way == KEEP and not state.worktree:
        return replace(state, delivery=None)
    opened = Delivery(id=state.approval or "", then=way)
    return replace(state, delivery=opened)


def open_step(state: SessionState) -> str | None:
    """Return the name of the delivery's first step that is not done; None if all are done.

    Nothing is changed. If the result stays in the user's checkout, ``commit`` is the only step.
    """
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
    """Return the state with ``step`` marked as running; does not perform the step.

    Without a delivery, ``state`` itself is returned.

    ``step`` is ``commit``, ``merge``, ``push`` or ``request``. ``record`` says what exactly the
    step will do, as texts by name. It replaces the step's earlier record.
    """
    return _with_step(state, step, StepState(status=RUNNING, record=record))


def step_done(state: SessionState, step: str, record: Mapping[str, str] = _NOTHING) -> SessionState:
    """Return the state with ``step`` marked as done, and ``record`` merged into its earlier record.

    ``step`` is ``commit``, ``merge``, ``push`` or ``request``; ``record`` says what the step did,
    as texts by name. If there is no delivery, no step is marked. After the step ``request``, which
    opens a pull request, ``SessionState.request`` is set from ``number`` and ``url`` of the record.
    """
    known = {**_record(state, step), **record}
    after = _with_step(state, step, StepState(status=DONE, record=known))
    number = known.get("number", "")
    if step != REQUEST or not number.isdecimal():
        return after
    return replace(after, request=Request(url=known.get("url", ""), number=int(number)))


def step_failed(
    state: SessionState, step: str, reason: str, record: Mapping[str, str] = _NOTHING
) -> SessionState:
    """Return the state with ``step`` marked as failed; unchanged if there is no delivery.

    Args:
        state: The state before.
        step: The name of the step: ``commit``, ``merge``, ``push`` or ``request``.
        reason: Why it failed, for the user.
        record: Texts by name, to merge into the step's earlier record.
    """
    known = {**_record(state, step), **record}
    step_state = StepState(status=FAILED, reason=reason, record=known)
    return _with_step(state, step, step_state)


def _record(state: SessionState, step: str) -> Mapping[str, str]:
    step_state = state.delivery.steps.get(step) if state.delivery is not None else None
    return step_state.record if step_state is not None else _NOTHING


def _with_step(state: SessionState, step: str, found: StepState) -> SessionState:
    """Return the state with ``found`` as the state of ``step``; unchanged without a delivery."""
    opened = state.delivery
    if opened is None:
        return state
    return replace(state, delivery=replace(opened, steps={**opened.steps, step: found}))


def running_record(state: SessionState, step: str) -> Mapping[str, str] | None:
    """Return what was recorded about ``step``, as texts by name, if it is running; otherwise None.

    ``step`` is the name of a step of the delivery, such as ``push``.
    """
    step_state = state.delivery.steps.get(step) if state.delivery is not None else None
    return step_state.record if step_state is not None and step_state.status == RUNNING else None


def failed_step(state: SessionState) -> tuple[str, StepState] | None:
    """Return the name and state of the delivery's failed step; None if no step has failed.

    The step ``commit`` is not considered.
    """
    steps = state.delivery.steps if state.delivery is not None else {}
    failed = (pair for pair in steps.items() if pair[1].status == FAILED)
    return next((pair for pair in failed if pair[0] != COMMIT), None)


def failure(state: SessionState) -> str:
    """Return why the last delivery failed, in words for the user; empty if it did not fail."""
    step, failed = _find_failed(state)
    return f"{_FAILED.get(step, step)}: {failed.reason}" if step else ""


def _find_failed(state: SessionState) -> tuple[str, Commit | StepState]:
    """Return the failed step of the delivery by name; the name is empty if none has failed."""
    if state.commit is not None and state.commit.status == FAILED:
        return COMMIT, state.commit
    return failed_step(state) or ("", StepState())


def failure_hints(state: SessionState) -> tuple[str, ...]:
    """Return the hints with which the reason of the failed step ends; empty if there are none.

    Each is one line. `failure` has them, too, in its single line.
    """
    _, failed = _find_failed(state)
    hints = tuple(failed.record.get(HINTS, "").splitlines())
    # The record may be that of an earlier try.
    return hints if failed.reason.endswith("; ".join(hints)) else ()


_FAILED: Final[Mapping[str, str]] = {
    COMMIT: "the commit was not made",
    MERGE: "not merged",
    PUSH: "not pushed",
    REQUEST: "pushed, but not requested",
}
