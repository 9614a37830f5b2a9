"""What a session keeps of the configuration under which it began, and how it takes a newer one.

These are the setup and the patterns of copied files of its worktree. An agent that edits the
configuration so changes nothing of its own session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.app.session.own_worktree import placed, worktree_of
from agentmux.app.session.succeeded_step import adopt_step, succeeded_step
from agentmux.core.codec.frozen import replace
from agentmux.core.journal.events import Repinned
from agentmux.core.names import layout
from agentmux.core.pipeline.setup import names_ahead, recorded_steps, repinned

if TYPE_CHECKING:
    from agentmux.app.session.writer import Session
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session_files import SessionFiles

SETUP: Final = "git.setup"
_PATTERNS_MAX: Final = 1 << 20


def changed_settings(world: World, state: SessionState, files: SessionFiles) -> tuple[str, ...]:
    """Return the settings that differ from those that the session keeps, as their names.

    ``git.setup``, and the file of patterns (`GitSettings.copy`). A part of the project's files that
    is not trusted counts, too. Empty for a session in the checkout, which keeps neither.
    """
    if not state.worktree:
        return ()
    now = world.preview()
    kept = state.setup.steps if state.setup is not None else ()
    found = [SETUP] if recorded_steps(now.settings.git.setup) != kept else []
    if (now.templates.copied() or "") != _patterns(files):
        found.append(now.settings.git.copy or "git.copy")
    return tuple(found)


def _patterns(files: SessionFiles) -> str:
    data, _ = files.read_artifact(layout.COPIED, _PATTERNS_MAX)
    return "" if data is None else data.decode("utf-8", "surrogatepass")


def repin(world: World, session: Session) -> tuple[str, ...]:
    """Have a stopped session take the present settings, as far as they are trusted.

    Files that new patterns name are copied before the fact is recorded: if this is killed, the
    settings still differ, and it may be called again.

    Returns:
        A warning for each file that was not copied.

    Raises:
        GitError: Git refuses.
    """
    adopt_step(session)  # the seat that the step has is gone after that
    state = session.state
    spec = worktree_of(world, state, session.files.path)
    if spec is None:
        return ()
    patterns = world.templates.copied() or ""
    changed = patterns if patterns != _patterns(session.files) else None
    told: tuple[str, ...] = ()
    dirty: tuple[str, ...] = ()
    if world.worktrees.is_made(spec):
        told = world.worktrees.copy(spec, changed) if changed else ()
        dirty = placed(world, state).repository.dirty()
    steps = recorded_steps(world.settings.git.setup)
    session.record(Repinned(setup=steps, copied=changed, dirty=dirty))
    return told


def steps_ahead(
    world: World, state: SessionState, files: SessionFiles, *, takes: bool, anew: bool
) -> tuple[str, ...]:
    """Return the names of the setup's steps that a resume runs before the agents.

    Args:
        world: The outside world.
        state: The session's.
        files: The session's directory.
        takes: Whether the session takes the present settings first.
        anew: Whether its worktree is made again.
    """
    setup = state.setup
    if setup is not None and succeeded_step(state, files) is not None:
        setup = replace(setup, done=setup.done + 1)
    if takes:
        setup = repinned(setup, recorded_steps(world.settings.git.setup), ())
    return names_ahead(setup, anew=anew)


def repinned_by(world: World) -> object:
    """Return what a repin would take in ``world``; for questions of trust."""
    return world.settings.git.setup, world.templates.copied()
