"""The configuration that a session keeps from its start, and how the session takes a newer one.

It keeps its pipeline (with prompts, schemas and commands of checks), and the setup and the copy
patterns of its worktree. So an agent that edits the configuration does not change its own session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from agentmux.app.session.configuration.frozen_files import require_frozen
from agentmux.app.session.configuration.pipeline_choice import choose_pipeline
from agentmux.app.session.workplace.own_worktree import with_workplace, worktree_of
from agentmux.app.session.workplace.setup_recovery import adopt_step, succeeded_step
from agentmux.core.codec.frozen import replace
from agentmux.core.config.trust import PIPELINES
from agentmux.core.definitions.definition import WHOLE, definition_fields
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.definitions.source import resolve_pipeline
from agentmux.core.journal.events import Repinned
from agentmux.core.names import layout
from agentmux.core.pipeline.checks.setup import names_ahead, recorded_steps, repin_setup
from agentmux.errors import AgentmuxError, DataError

if TYPE_CHECKING:
    from agentmux.app.session.writer import Session
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SessionFiles

SETUP: Final = "git.setup"
VERIFY: Final = "verify"
_PATTERNS_MAX: Final = 1 << 20


def changed_settings(world: World, state: SessionState, files: SessionFiles) -> tuple[str, ...]:
    """Return the names of the settings that now differ from what the session has kept.

    They are ``verify``, ``pipelines.NAME`` (NAME is the session's pipeline; also if the kept copy
    of it is damaged) and, if the session has a worktree of its own, ``git.setup`` and the path of
    the file of copy patterns (``git.copy`` if none is configured). Parts of the project's files
    that are not trusted count, too.
    """
    now = world.consent.preview()
    return (*_changed_place(now, state, files), *_changed_pipeline(now, state, files))


def _changed_place(now: World, state: SessionState, files: SessionFiles) -> tuple[str, ...]:
    if not state.worktree:
        return ()
    kept = state.setup.steps if state.setup is not None else ()
    names = [SETUP] if recorded_steps(now.settings.git.setup) != kept else []
    if (now.texts.templates.copy_patterns() or "") != _patterns(files):
        names.append(now.settings.git.copy or "git.copy")
    return tuple(names)


def _changed_pipeline(now: World, state: SessionState, files: SessionFiles) -> tuple[str, ...]:
    kept = state.pipeline
    name = f"{PIPELINES}.{kept.name}"
    if kept == FEATURE and not now.settings.verify:
        # For the built-in `feature` without checks, reading no definition is ten times as fast.
        return (name,) if _is_damaged(files, state) else ()
    try:
        chosen = choose_pipeline(now, kept.name)
    except AgentmuxError:  # the pipeline no longer exists, or cannot be used
        return (name,)
    names = [VERIFY] if chosen.verify != state.verify else []
    # Phases that take part only with commands are compared by `verify`.
    same = resolve_pipeline(chosen.definition, ()) == resolve_pipeline(kept, ())
    if not same or _own(chosen.files) != _own(state.pipeline_files) or _is_damaged(files, state):
        names.append(name)
    return tuple(names)


def _is_damaged(files: SessionFiles, state: SessionState) -> bool:
    try:
        require_frozen(files, state)
    except DataError:
        return True
    return False


def _own(files: Mapping[str, str]) -> Mapping[str, str]:
    return {name: digest for name, digest in files.items() if name != WHOLE}


def pipeline_repin(
    world: World, state: SessionState, files: SessionFiles
) -> tuple[Repinned, Mapping[str, str]] | None:
    """Return what a session needs to take the current version of its pipeline; write nothing.

    That is the fact to record, and the prompts and schemas to write: content by path relative to
    the session's directory. The fact leaves the session's setup unchanged. Returns None if the
    pipeline has not changed.

    Raises:
        AgentmuxError: The pipeline no longer exists, or cannot be used.
    """
    if not _changed_pipeline(world, state, files):
        return None
    chosen = choose_pipeline(world, state.pipeline.name)
    fact = Repinned(
        setup=state.setup.steps if state.setup is not None else (),
        pipeline=definition_fields(chosen.definition),
        pipeline_files=chosen.files,
        verify=chosen.verify,
    )
    return fact, chosen.texts


def _patterns(files: SessionFiles) -> str:
    data, _ = files.read_artifact(layout.COPIED, _PATTERNS_MAX)
    return "" if data is None else data.decode("utf-8", "surrogatepass")


def repin(world: World, session: Session) -> tuple[str, ...]:
    """Make a stopped session use the current settings, as far as they are trusted.

    Prompts and schemas are written, and files that new copy patterns name are copied. Only then the
    `Repinned` fact is recorded: if this process is killed before, a second call completes the work.

    Returns:
        A warning for each file that was not copied.

    Raises:
        AgentmuxError: The pipeline no longer exists or cannot be used, or git refuses.
    """
    adopt_step(session)  # done first, because the step's seat is removed below
    state = session.state
    taken, texts = pipeline_repin(world, state, session.files) or (Repinned(), {})
    for path, text in texts.items():
        session.files.write(path, text)
    spec = worktree_of(world, state, session.files.path)
    if spec is None:
        if taken.pipeline:
            session.record(taken)
        return ()
    patterns = world.texts.templates.copy_patterns() or ""
    changed = patterns if patterns != _patterns(session.files) else None
    told: tuple[str, ...] = ()
    dirty: tuple[str, ...] = ()
    if world.git.worktrees.is_made(spec):
        told = world.git.worktrees.copy(spec, changed) if changed else ()
        dirty = with_workplace(world, state).repository.dirty()
    steps = recorded_steps(world.settings.git.setup)
    session.record(replace(taken, setup=steps, copied=changed, dirty=dirty))
    return told


def steps_ahead(
    world: World, state: SessionState, files: SessionFiles, *, takes: bool, anew: bool
) -> tuple[str, ...]:
    """Return the names of the setup steps that a resume would run before the agents.

    Args:
        world: The outside world.
        state: The state of the session.
        files: The session's directory.
        takes: Whether the session takes the current settings first (`repin`).
        anew: Whether the session's worktree is made again.
    """
    setup = state.setup
    if setup is not None and succeeded_step(state, files) is not None:
        setup = replace(setup, done=setup.done + 1)
    if takes:
        setup = repin_setup(setup, recorded_steps(world.settings.git.setup), ())
    return names_ahead(setup, anew=anew)


def repinned_by(world: World, state: SessionState) -> object:
    """Return a value that stands for the settings that a repin would take in ``world``.

    It serves only to compare two worlds, for questions of trust: if the values are equal, a repin
    would do the same in both.
    """
    source = world.texts.pipelines.source(state.pipeline.name)
    content = None if source is None else (source.text, source.prompts, source.schemas)
    place = (
        (world.settings.git.setup, world.texts.templates.copy_patterns())
        if state.worktree
        else None
    )
    return place, world.settings.verify, content
