"""Imports a session from an exported file, so that it can continue here; starts nothing.

Everything that is made carries the session's uuid or a temporary name until the last step, in which
the session's directory gets its name. So an interrupted import can be repeated, and uses what is
there already.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.commands.begin.start_base import with_base
from agentmux.app.commands.begin.start_workplace import require_beside, require_room, worktree_root
from agentmux.app.session.configuration.first_texts import first_texts
from agentmux.app.session.configuration.pipeline_choice import ChosenPipeline, choose_pipeline
from agentmux.app.session.search.lookup import SessionEntry, list_sessions
from agentmux.app.session.workplace.clean_protection import protect_from_clean
from agentmux.app.session.workplace.own_worktree import last_checkpoint, with_workplace, worktree_of
from agentmux.app.session.workplace.workplace import has_repository, where_inside
from agentmux.app.session.writer import Session, stamp
from agentmux.core.codec.digests import named_uuid
from agentmux.core.codec.frozen import dataclass
from agentmux.core.decisions.workplace import free_folder, free_names, free_port_base
from agentmux.core.fold.apply import fold
from agentmux.core.fold.repinned import with_pipeline
from agentmux.core.journal.events import (
    ORCHESTRATOR,
    CheckpointTaken,
    Event,
    JournalCreated,
    SessionArrived,
    SessionImported,
    SessionReturned,
    SessionStarted,
)
from agentmux.core.journal.state import Base, SessionState, encode
from agentmux.core.moving import handover
from agentmux.core.moving.arrival import (
    CHECKPOINTS_MAX,
    ImportValues,
    find_state_fault,
    forgotten_agents,
    imported_state,
    too_many,
    why_not_exportable,
)
from agentmux.core.moving.manifest import (
    BASE_REF,
    CHECKPOINT_REFS,
    HEAD_REF,
    REVIEWED_REF,
    Manifest,
)
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.checks.setup import new_setup
from agentmux.errors import (
    NAME_TAKEN,
    BlockedError,
    DataError,
    MissingError,
    UsageError,
)
from agentmux.ports.processes import LOCK_WAIT_S

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.ports.git.worktrees import WorktreeRootFacts
    from agentmux.ports.session.moving import SessionArchive

_BUNDLE: Final = f"{layout.WORK_TREE}/import.bundle"
_COPIES_MAX: Final = 1000
_LONG_JOURNAL: Final = 4 << 20
"""A journal of this many bytes takes some seconds to read; few sessions have a tenth of that."""
_BEGINNINGS: Final = ((JournalCreated, SessionStarted), (JournalCreated, SessionImported))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession:
    """A session that was imported here.

    Attributes:
        name: The name of its directory.
        path: The path of its directory.
        host: The name of the machine that it comes from.
        phase: The phase in which it continues.
        worktree: The worktree that its first resume makes; None for a session that worked in the
            checkout and has returned there.
        branch: The short name of its branch; None if it has none.
        returned: Whether it was exported from here, and continues as it was.
        warnings: What the user should know, one sentence each.
    """

    name: str
    path: Path
    host: str
    phase: str
    worktree: str | None
    branch: str | None
    returned: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arrival:
    """What an import will make.

    Attributes:
        path: The directory of the session.
        state: The session's state here.
        events: The events of the session's journal.
        tip: The commit at which its branch begins here.
        chosen: Its pipeline, as this machine has it.
        warnings: What the user should know, one sentence each.
    """

    path: Path
    state: SessionState
    events: tuple[Event, ...]
    tip: str
    chosen: ChosenPipeline
    warnings: tuple[str, ...]


def pipeline_in(world: World, file: Path, *, copy: bool, say: Callable[[str], object]) -> str:
    """Return the name of the pipeline that an import would take from the configuration here.

    Empty if it takes none because the session is already here.

    Args:
        world: The project.
        file: The absolute path of the exported file.
        copy: Whether the import would make another session of it, although it is already here.
        say: Called with a sentence if reading the file will take long.

    Raises:
        NotFoundError: There is no such file.
        DataError: The file cannot be used.
    """
    with world.archives.open_archive(file) as archive:
        if not copy and _here(world, archive.manifest.session) is not None:
            return ""
        members = archive.manifest.members
        size = next((each.size for each in members if each.path == layout.JOURNAL), 0)
        if size > _LONG_JOURNAL:
            say(f"the session's journal has {size >> 20} MB: reading it takes a while")
        return _state_of(archive, archive.events()).pipeline.name


def import_effect(world: World, pipeline: str) -> object:
    """Return a value that stands for what an import takes from the configuration of ``world``.

    Only for questions of trust: two worlds with equal values would import the session equally.
    ``pipeline`` is the name that `pipeline_in` returned.
    """
    source = world.texts.pipelines.source(pipeline) if pipeline else None
    content = None if source is None else (source.text, source.prompts, source.schemas)
    place = (world.settings.git.setup, world.texts.templates.copy_patterns())
    return (content, world.settings.verify, place) if pipeline else None


def import_session(world: World, file: Path, *, copy: bool) -> ImportedSession:
    """Add the session in the file to this project; start nothing.

    If the session is still in this project, and was last exported to this very file, nothing is
    added: its export is undone, and it continues with the files that it has here.

    Args:
        world: The project, with the settings that are trusted.
        file: The absolute path of the exported file.
        copy: Whether to make another session of it, with a uuid, a name and a branch of its own,
            even if the session is in this project. If false, it gets the uuid in the file.

    Raises:
        NotFoundError: There is no such file.
        DataError: The file is damaged, of a newer version, or malicious.
        BlockedError: Without ``copy``, the project already has the session, and it was not exported
            or was last exported to another file; the error's reason is ``session_here``. Or the
            session here is in use (``locked``), or it has too many copies (``session_here``).
        MissingError: The repository lacks commits on which the session builds.
        UsageError: There is no repository here, or another one; or no worktree can be made.
        ConfigError: The session's pipeline cannot be used here.
    """
    with world.archives.open_archive(file) as archive:
        archive.verify()
        here = _here(world, archive.manifest.session)
        if here is not None and not copy:
            return _return_session(world, here, archive, file)
        if not has_repository(world):
            raise UsageError(
                "an imported session needs the git repository that it comes from",
                hints=("clone it, and import there",),
            )
        events = archive.events()
        state = _state_of(archive, events)
        tree = world.locks.tree(world.project)
        with world.folders.one_at_a_time(tree.top):
            here = None if copy else _here(world, archive.manifest.session)
            if here is not None:  # another import has just made it
                raise _is_here(here, file, is_moved=False)
            arrival = _plan_arrival(world, archive.manifest, state, events, copy=copy)
            _make(world, archive, arrival)
            protect_from_clean(world, arrival.path)
    new_state = arrival.state
    return ImportedSession(
        name=arrival.path.name,
        path=arrival.path,
        host=archive.manifest.host,
        phase=new_state.phase,
        worktree=new_state.worktree,
        branch=new_state.branch,
        warnings=arrival.warnings,
    )


def _here(world: World, session: str) -> SessionEntry | None:
    entries = list_sessions(world)
    return next((each for each in entries if each.text("session_id") == session), None)


def _return_session(
    world: World, entry: SessionEntry, archive: SessionArchive, file: Path
) -> ImportedSession:
    """Continue a session that was exported to this very file and is still here.

    Raises:
        BlockedError: It was exported to another file, or has not moved.
    """
    lock = world.locks.session(entry.path)
    lock.acquire(LOCK_WAIT_S, {"command": "import", "since": stamp(world.now())})
    try:
        session = Session(world.files(entry.path), now=world.now, new_id=world.new_id)
        session.take_over()
        moved = session.state.moved
        if moved is None or moved.digest != archive.digest:
            raise _is_here(entry, file, is_moved=moved is not None)
        session.record(SessionReturned())
    finally:
        lock.release()
    state = session.state
    return ImportedSession(
        name=entry.name,
        path=entry.path,
        host=world.machine.host,
        phase=state.phase,
        worktree=state.worktree,
        branch=state.branch,
        returned=True,
    )


def _is_here(entry: SessionEntry, file: Path, *, is_moved: bool) -> BlockedError:
    if is_moved:
        return BlockedError(
            f"session {entry.name} was moved away from here, and {file} has it as it was later, or"
            " earlier: what is left of it here is in the way",
            reason="session_here",
            hints=(f"remove what is left, then import again: agentmux remove {entry.name}",),
        )
    return BlockedError(
        f"session {entry.name} is here already",
        reason="session_here",
        hints=(
            f"go on with it: agentmux resume {entry.name}",
            f"or make another one of the file: agentmux import --copy {shlex.quote(str(file))}",
        ),
    )


# -- what the file says --------------------------------------------------------------------------


def _state_of(archive: SessionArchive, events: tuple[Event, ...]) -> SessionState:
    """Return the state that results from the journal in the file.

    Raises:
        DataError: It is not the journal of a session that can continue.
    """
    kinds = tuple(type(each.fact) for each in events[:2])
    if kinds not in _BEGINNINGS:
        raise _unusable("its journal does not begin as that of a session")
    checkpoints = sum(isinstance(each.fact, CheckpointTaken) for each in events)
    if checkpoints > CHECKPOINTS_MAX:  # counted first, since the fold of too many takes minutes
        raise _unusable(too_many(checkpoints))
    try:
        state = fold(SessionState(phase=Phase.FAILED), ((each, 0) for each in events))
    except RecursionError:
        raise _unusable("it is nested too deeply") from None
    manifest, saved = archive.manifest, last_checkpoint(state)
    wrong = find_state_fault(state) or why_not_exportable(state)
    if not wrong and state.session_id != manifest.source:
        wrong = "its journal is another session's"
    if not wrong and (saved.commit if saved is not None else None) != manifest.checkpoint:
        wrong = "its journal and its manifest name different files"
    if wrong:
        raise _unusable(wrong)
    return state


def _unusable(why: str) -> DataError:
    return DataError(f"the session in the file cannot go on here: {why}")


# -- what it becomes -----------------------------------------------------------------------------


def _plan_arrival(
    world: World,
    manifest: Manifest,
    state: SessionState,
    events: tuple[Event, ...],
    *,
    copy: bool,
) -> _Arrival:
    entries = list_sessions(world)
    session = _free_uuid(manifest, entries) if copy else manifest.session
    name = _free_name(world, manifest, state, entries, copy=copy)
    chosen = choose_pipeline(world, state.pipeline.name)
    place, branch = _place(world, manifest, state, entries, session)
    registered = frozenset(world.agents.names())
    base = state.base or Base(commit=state.options.base or manifest.base, branch=state.branch)
    completion = world.settings.completion
    taken = {each.fields.get("port_base") for each in entries}
    landing = ImportValues(
        name=name,
        session_id=session,
        host=manifest.host,
        worktree=str(place),
        branch=branch,
        base=base,
        at=stamp(world.now()),
        setup=new_setup(world.settings.git.setup),
        port_base=free_port_base(session, [each for each in taken if isinstance(each, int)]),
        require_approval=completion.require_approval,
        commit=completion.commit,
        agents=registered,
    )
    here = with_pipeline(state, chosen.definition, chosen.files, chosen.verify)
    new_state = imported_state(here, landing)
    if state.base_checks is not None and new_state.base_checks is None:
        new_state = with_base(world, new_state, name)
    fact = SessionArrived(state=encode(new_state), host=manifest.host, session=manifest.source)
    arrived = Event(
        id=world.new_id(),
        at=landing.at,
        seat=ORCHESTRATOR,
        launch="",
        cycle=new_state.cycle,
        fact=fact,
    )
    path = world.project / layout.SESSIONS_DIR / name
    return _Arrival(
        path=path,
        state=new_state,
        events=(*events, arrived),
        tip=manifest.head,
        chosen=chosen,
        warnings=(
            *_elsewhere(world, manifest),
            *_warnings(state, here, chosen, registered),
        ),
    )


def _elsewhere(world: World, manifest: Manifest) -> Iterator[str]:
    mine = where_inside(world)
    if manifest.inside != mine:
        was = manifest.inside
        yield f"the session worked in `{was}` of its repository, and works in `{mine}` here"


def _warnings(
    state: SessionState, here: SessionState, chosen: ChosenPipeline, agents: frozenset[str]
) -> Iterator[str]:
    for agent in forgotten_agents(state, agents):
        yield f"agent `{agent[:60]}` is not registered here: its roles are played as configured"
    if here.phase != state.phase:
        yield (
            f"pipeline `{chosen.definition.name}` is another one here, without the phase"
            f" `{state.phase}`: the session goes on in {here.phase}"
        )
    elif chosen.definition != state.pipeline or chosen.verify != state.verify:
        yield f"pipeline `{chosen.definition.name}` and its checks are taken as they are here"


def _free_uuid(manifest: Manifest, entries: tuple[SessionEntry, ...]) -> str:
    """Return the uuid for a copy: the first free one of a fixed series, so that imports repeat."""
    taken = {each.text("session_id") for each in entries}
    uuids = (named_uuid(manifest.session, f"copy {n}") for n in range(1, _COPIES_MAX))
    uuid = next((each for each in uuids if each not in taken), None)
    if uuid is None:
        raise BlockedError("there are too many copies of this session", reason="session_here")
    return uuid


def _free_name(
    world: World,
    manifest: Manifest,
    state: SessionState,
    entries: tuple[SessionEntry, ...],
    *,
    copy: bool,
) -> str:
    taken = {each.name for each in entries}
    stamped = layout.stamp_of(manifest.name) is not None
    if stamped and not (copy or manifest.is_copy) and manifest.name not in taken:
        return manifest.name
    slug = layout.slug_of(manifest.name) if stamped else layout.slug(state.subject)
    return layout.session_name(world.now().astimezone(), slug[: layout.SLUG_MAX], taken)


def _place(
    world: World,
    manifest: Manifest,
    state: SessionState,
    entries: tuple[SessionEntry, ...],
    session: str,
) -> tuple[Path, str | None]:
    """Return the worktree and the branch for the session.

    Raises:
        UsageError: No worktree can be made.
    """
    room = world.git.worktrees.root_facts(worktree_root(world))
    named = [each for each in entries if each.text("worktree")]
    folders = room.names | {
        Path(each.text("worktree")).name
        for each in named
        if Path(each.text("worktree")).parent == room.root
    }
    slug = layout.slug(layout.slug_of(manifest.name).replace("-", " "))
    if state.reviewed is not None:
        return room.root / free_folder(slug, folders), None
    branches = room.branches | {each.text("branch") for each in named}
    branch = _known_branch(world, manifest, state, room, session)
    if branch:
        return room.root / free_folder(slug, folders), branch
    prefix = world.settings.git.branch_prefix
    free = free_names(slug, prefix, folders=folders, branches=branches)
    world.repository.require_new_branch(free.branch)
    require_beside(free.branch, branches)
    return room.root / free.folder, free.branch


def _known_branch(
    world: World, manifest: Manifest, state: SessionState, room: WorktreeRootFacts, session: str
) -> str:
    """Return the branch of an interrupted import, or else the session's own one if it can be used.

    Empty if the session needs another branch.
    """
    begun = world.git.worktrees.find_branch(session)
    if begun is not None:
        return begun
    is_same = session == manifest.source and state.worktree is not None
    if not is_same or not state.branch:
        return ""
    if state.branch in room.branches:
        return state.branch if state.continued else ""
    world.repository.require_new_branch(state.branch)
    require_beside(state.branch, room.branches)
    return state.branch


# -- making it -----------------------------------------------------------------------------------


def _make(world: World, archive: SessionArchive, arrival: _Arrival) -> None:
    state, path = arrival.state, arrival.path
    with ExitStack() as undo:
        try:
            world.files(path).make(
                arrival.events,
                _texts(world, arrival),
                last=partial(_fill, world, archive, arrival, undo.callback),
            )
        except BlockedError as error:
            if error.reason != NAME_TAKEN:
                raise
            hints = ("agentmux list", "then import again")
            raise BlockedError(error.message, reason=NAME_TAKEN, hints=hints) from error
        undo.pop_all()
    spec = worktree_of(world, state, path)
    if spec is not None:
        world.git.worktrees.reserve(spec)


def _texts(world: World, arrival: _Arrival) -> dict[str, str]:
    """Return the session's files that come from this machine; see `first_texts`."""
    state = arrival.state
    texts = dict(first_texts(with_workplace(world, state), arrival.path, state))
    del texts[layout.REQUIREMENTS]  # it is in the archive, or is made below
    copied = world.texts.templates.copy_patterns()
    if copied is not None:
        texts[layout.COPIED] = copied
    return {**texts, **arrival.chosen.texts}


def _fill(
    world: World,
    archive: SessionArchive,
    arrival: _Arrival,
    undo: Callable[[Callable[[], object]], object],
    folder: Path,
) -> None:
    """Unpack everything into the session's directory, which still has a temporary name."""
    manifest, state = archive.manifest, arrival.state
    bundle = folder / _BUNDLE
    archive.unpack(folder, bundle)
    files = world.files(folder)
    if not files.has_file(str(folder / layout.REQUIREMENTS)):
        texts = first_texts(with_workplace(world, state), arrival.path, state)
        files.write(layout.REQUIREMENTS, texts[layout.REQUIREMENTS])
    if manifest.bundle:
        names = (f"{CHECKPOINT_REFS}{each.number}" for each in state.tree_checkpoints)
        known = frozenset({HEAD_REF, BASE_REF, REVIEWED_REF, *names})
        world.git.bundles.unpack(folder, bundle, known)
        world.archives.delete(bundle)
    _require_commits(world, folder, manifest, state)
    _hand_over(world, folder, manifest, state)
    world.git.bundles.bring(folder, manifest.head)
    base = world.git.worktrees.base(manifest.head)
    if base is not None:
        require_room(world.git.worktrees.root_facts(worktree_root(world)), base)
    spec = worktree_of(world, state, arrival.path)
    if spec is not None and state.worktree_made:
        undo(lambda: world.git.worktrees.remove(spec, arrival.tip))
        world.git.worktrees.adopt(spec, arrival.tip)


def _require_commits(world: World, folder: Path, manifest: Manifest, state: SessionState) -> None:
    wanted = [manifest.base, manifest.head]
    wanted += [manifest.checkpoint] if manifest.checkpoint else []
    wanted += [state.reviewed.since] if state.reviewed is not None else []
    lacking = [each for each in wanted if not world.git.bundles.has(folder, each)]
    if lacking:
        raise MissingError(
            f"this repository lacks commit {lacking[0][:12]}, on which the session builds",
            hints=("get it, then import again: git fetch --all",),
        )
    if not world.git.bundles.share_history(folder, manifest.head):
        raise UsageError(
            "the session is from another repository: this one shares no commit with it",
            hints=("import it in a clone of its repository",),
        )


def _hand_over(world: World, folder: Path, manifest: Manifest, state: SessionState) -> None:
    """Write the files that tell the agents here about the work so far."""
    files = world.files(folder)
    if manifest.checkpoint:
        diff = world.git.bundles.diff(folder, manifest.base, manifest.checkpoint, handover.DIFF_MAX)
        files.write(handover.DIFF, diff)
    for seat in state.agents:
        data, _ = files.read_artifact(layout.snapshot(seat), handover.SNAPSHOT_MAX)
        text = handover.screen_text(data) if data is not None else ""
        if text:
            files.write(handover.screen_file(seat), text)
