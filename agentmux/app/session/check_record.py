"""Builds the facts that record how commands of checks ended, from the files their launches left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.core.checks.tail import last_count, tail
from agentmux.core.decisions.check_actions import RecordBase, RecordCheck
from agentmux.core.decisions.next_actions import check_exit, is_command
from agentmux.core.journal.events import BaseChecked, CheckDone
from agentmux.core.names.statuses import LAUNCHED, PASSED
from agentmux.core.pipeline.check_phase import command_of, trees_of
from agentmux.core.pipeline.registry import working_phase
from agentmux.core.pipeline.verified import checked_trees
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux.app.session.writer import Session
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SessionFiles

UNKNOWN_TREE: Final = "unknown-"
"""The prefix of an id for a work tree that git could not hash; no two such ids are the same."""

CHANGED: Final = "the files have changed since the checks ran"

TREE_S: Final = 60.0
"""How long git may take to compute the id of the work tree's files, in seconds."""


def check_fact(
    state: SessionState, files: SessionFiles, action: RecordCheck, now: str = ""
) -> CheckDone:
    """Return the fact that records how a command of the session's current check ended.

    The end of the command's output is read from the folder of its launch.

    Args:
        state: The state of the session.
        files: The session's directory.
        action: How the command ended.
        now: The id of the work tree's files after the command; empty if unknown.
    """
    phase, command = working_phase(state), command_of(state, action.name)
    result = state.results.get(phase)
    passed, tree = action.outcome == PASSED, "" if result is None else result.tree
    output = tail(files.launch_output(action.launch))
    return CheckDone(
        phase=phase,
        name=action.name,
        outcome=action.outcome,
        status=action.status,
        signal=action.signal,
        timed_out=action.timed_out,
        tree=tree,
        left=now if now != tree else "",
        required=command is None or command.required,
        output=last_count(output) if passed else output,
    )


def adopt_checks(world: World, session: Session) -> None:
    """Record each command that ended after the last orchestrator was killed, so it is not rerun.

    The session's events must have been applied before.
    """
    for seat, launch, fact in adoptable(world, session.state, session.files):
        session.record(fact, seat=seat, launch=launch)


def adoptable(
    world: World, state: SessionState, files: SessionFiles
) -> tuple[tuple[str, str, CheckDone | BaseChecked], ...]:
    """Return each command that ended without a record in the journal: seat, launch id and fact.

    The fact is the one to record. Changes nothing.

    A command of a check counts only if the work tree's files are still those that it ran on; a
    command on the base always counts, because the base never changes. Git is asked only if such a
    command of a check exists.
    """
    facts: list[tuple[str, str, CheckDone | BaseChecked]] = []
    for ended in _find_ended_checks(state, files):
        if isinstance(ended, RecordBase):
            facts.append((ended.seat, ended.launch, base_fact(ended)))
            continue
        result = state.results.get(working_phase(state))
        if result is not None and _tree(world, state, files) in trees_of(result):
            facts.append((ended.seat, ended.launch, check_fact(state, files, ended)))
    return tuple(facts)


def has_changed_since_checks(world: World, state: SessionState, files: SessionFiles) -> bool:
    """Return whether the work tree's files differ from those on which the session's checks ran.

    False if no checks ran, or if git cannot tell. Git is asked only if checks ran.
    """
    checked = checked_trees(state)
    if not checked or any(each.startswith(UNKNOWN_TREE) for each in checked):
        return False
    return _tree(world, state, files) not in {None, *checked}


def base_fact(action: RecordBase) -> BaseChecked:
    """Return the fact that records how a command on the base ended."""
    return BaseChecked(
        name=action.name,
        outcome=action.outcome,
        status=action.status,
        signal=action.signal,
        timed_out=action.timed_out,
    )


def _find_ended_checks(
    state: SessionState, files: SessionFiles
) -> Iterator[RecordCheck | RecordBase]:
    for name, seat in state.seats.items():
        if is_command(name, seat) and seat.status == LAUNCHED:
            end = files.launch_record(seat.launch).exit
            action = None if end is None else check_exit(name, seat, end)
            if isinstance(action, RecordCheck | RecordBase):
                yield action


def _tree(world: World, state: SessionState, files: SessionFiles) -> str | None:
    store = world.git.checkpoints(world.tree, files.path.resolve(), state.session_id)
    try:
        return store.tree(limit_s=TREE_S)
    except (AgentmuxError, OSError):
        return None  # the command runs again
