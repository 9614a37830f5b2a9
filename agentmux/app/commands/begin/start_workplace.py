"""Chooses where a new session works, and the names of its worktree and branch; only reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.commands.begin.continued_branch import ContinuedBranch, ReviewedBranch
from agentmux.app.session.search.lookup import SessionEntry, live
from agentmux.app.session.workplace.checkout import (
    TreeTakenError,
    find_tree_obstacle,
    list_possibly_live,
)
from agentmux.app.session.workplace.workplace import has_repository
from agentmux.core.agents.spec import AgentSpec, PromptBy
from agentmux.core.codec.frozen import dataclass
from agentmux.core.decisions.workplace import (
    free_folder,
    free_names,
    in_the_way_of,
    why_worktree,
)
from agentmux.core.names.layout import name_beside
from agentmux.core.names.words.counts import format_count
from agentmux.errors import AgentmuxError, BlockedError, MissingError, NotInstalledError, UsageError
from agentmux.ports.git.repository import Head, finish_it
from agentmux.ports.git.worktrees import BaseCommit, WorktreeRootFacts

if TYPE_CHECKING:
    from agentmux.app.world import World

_SUBMODULES_FROM: Final = (2, 38)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkplaceRequest:
    """What the user asked for, as far as it decides where the session works.

    Attributes:
        slug: The part of the session's name that describes the feature.
        worktree: Whether the session gets a worktree; None leaves it to the configuration.
        base: The ref from which the worktree is created; None leaves it to the configuration.
        branch: The name of the worktree's branch; empty or None derives a name.
        on: The branch to continue; None begins a new one.
        of: The branch to review, in a worktree without a branch; None for a session that makes
            changes.
        include: Whether files with uncommitted changes in the checkout are to be committed.
    """

    slug: str
    worktree: bool | None = None
    base: str | None = None
    branch: str | None = None
    on: ContinuedBranch | None = None
    of: ReviewedBranch | None = None
    include: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWorktree:
    """The worktree that a new session will have, and why it gets one.

    Attributes:
        path: The top directory of the worktree.
        branch: The branch in the worktree; empty if the worktree only shows the commit of ``of``.
        base: The commit that is checked out at first; a new branch is created from it.
        because: Why the session gets a worktree, in words.
        on: The branch that the session continues; None if ``branch`` is new.
        of: The branch that the session reviews; None for a session that makes changes.
    """

    path: Path
    branch: str
    base: BaseCommit
    because: str
    on: ContinuedBranch | None = None
    of: ReviewedBranch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """Where a new session works.

    Attributes:
        worktree: The session's own worktree; None if it works in the checkout.
        warning: Why it does not get the worktree that it should have; empty if it gets what it
            should.
    """

    worktree: NewWorktree | None = None
    warning: str = ""


def choose_workplace(
    world: World, request: WorkplaceRequest, entries: tuple[SessionEntry, ...]
) -> Workplace:
    """Return where the session is to work; check what a new worktree needs, and create nothing.

    Args:
        world: The outside world.
        request: What the user asked for.
        entries: The project's sessions that are not done, newest first.

    Raises:
        TreeTakenError: The session has to work in the checkout, and another session is live there.
        UsageError: The worktree that the user asked for cannot be made.
        MissingError: Git is missing or too old; or tmux does not answer.
    """
    asked = _wants_worktree(request)
    if world.repository.top_level() is None and world.repository.is_bare():
        return _without_checkout(world, request, entries, asked=asked)
    block = _in_the_checkout(world, entries) if not asked else None
    slug = request.slug
    ours = [name_beside(each.name, slug) for each in entries if not each.text("worktree")]
    live_one = "" if block is None else name_beside(block.session, slug) or "of another project"
    mode = world.settings.git.worktree
    because = why_worktree(mode, asked=asked, live=live_one, unfinished=ours)
    if not because:
        if block is not None:
            raise _with_way_out(world, block)
        return Workplace()
    try:
        return Workplace(worktree=_plan_worktree(world, request, entries, because))
    except (UsageError, MissingError) as error:
        if asked:
            raise
        return _without(block, error)


def _without_checkout(
    world: World,
    request: WorkplaceRequest,
    entries: tuple[SessionEntry, ...],
    *,
    asked: bool | None,
) -> Workplace:
    """Return the workplace of a session in a bare repository: always a worktree."""
    if asked is False:
        raise UsageError(
            "a bare repository has no checkout to work in",
            hints=("give the session a worktree of its own: agentmux start --worktree …",),
        )
    because = "you asked for it" if asked else "the repository is bare and has no checkout"
    return Workplace(worktree=_plan_worktree(world, request, entries, because))


def _wants_worktree(request: WorkplaceRequest) -> bool | None:
    """Return whether the user asked for a worktree; None leaves it to the configuration."""
    if request.on is not None and (request.base is not None or request.branch is not None):
        raise UsageError("--on continues a branch: it takes neither --base nor --branch")
    if request.of is not None and (request.on is not None or request.branch is not None):
        raise UsageError("--of looks at a branch: it takes neither --on nor --branch")
    if request.of is not None and request.worktree is False:
        raise UsageError("--of makes a worktree, which shows the branch: it needs --worktree")
    if request.of is None and request.base is None and request.on is None:
        return request.worktree
    if request.worktree is False:
        what = "--base names what a worktree begins on" if request.on is None else "--on makes one"
        raise UsageError(f"{what}: it needs --worktree")
    return True


def _without(block: TreeTakenError | None, error: AgentmuxError) -> Workplace:
    """Return the checkout, because no worktree can be made; refuse if the checkout is taken."""
    if block is None:
        return Workplace(warning=f"the session gets no worktree of its own: {error.message}")
    raise TreeTakenError(
        f"{block.message}, and no worktree can be made: {error.message}",
        session=block.session,
        hints=(*error.hints, *block.hints),
    ) from error


def _in_the_checkout(world: World, entries: tuple[SessionEntry, ...]) -> TreeTakenError | None:
    lives = live(world, entries)
    return find_tree_obstacle(world, lives, list_possibly_live(lives, entries))


def require_settled(world: World, head: Head) -> None:
    """Check that no git operation waits for the user in the checkout, where ``head`` is HEAD.

    Once it is finished, HEAD is elsewhere, and the result could not be committed.

    Raises:
        BlockedError: A rebase, a merge or the like is in progress.
    """
    ways: tuple[str, ...]
    if head.in_progress:
        doing, ways = str(head.in_progress), finish_it(head)
    elif world.repository.is_bisecting():
        doing, ways = "bisect", ("end it, when you have found the commit: git bisect reset",)
    else:
        return
    own = "or give the session a worktree of its own: agentmux start --worktree …"
    raise BlockedError(
        f"a {doing} is in progress in this repository", reason="head_moved", hints=(*ways, own)
    )


def _with_way_out(world: World, block: TreeTakenError) -> TreeTakenError:
    way = "or start in another clone of the repository"
    if has_repository(world):
        way = "or give this one a worktree of its own: agentmux start --worktree …"
    return TreeTakenError(block.message, session=block.session, hints=(*block.hints, way))


def _plan_worktree(
    world: World, request: WorkplaceRequest, entries: tuple[SessionEntry, ...], because: str
) -> NewWorktree:
    if request.include:
        raise UsageError(
            "--include is for the checkout: changed files do not come along into a worktree",
            hints=("commit them first, or: agentmux start --no-worktree --include PATH …",),
        )
    if not has_repository(world):
        raise UsageError("a worktree needs a git repository", hints=("git init",))
    base = _begin(world, request, entries)
    room = world.git.worktrees.root_facts(worktree_root(world))
    require_room(room, base)
    folders = room.names | {
        Path(each.text("worktree")).name
        for each in entries
        if Path(each.text("worktree")).parent == room.root
    }
    if request.of is not None:
        place = room.root / free_folder(request.slug, folders)
        return NewWorktree(path=place, branch="", base=base, because=because, of=request.of)
    branches = room.branches | {each.text("branch") for each in entries if each.text("worktree")}
    if request.on is not None:
        folder = free_folder(request.slug, folders)
        return NewWorktree(
            path=room.root / folder,
            branch=request.on.name,
            base=base,
            because=because,
            on=request.on,
        )
    if request.branch:
        world.repository.require_new_branch(request.branch)
        if request.branch in branches:
            raise UsageError(f"branch `{request.branch}` is another session's")
        folder, branch = free_folder(request.slug, folders), request.branch
    else:
        prefix = world.settings.git.branch_prefix
        names = free_names(request.slug, prefix, folders=folders, branches=branches)
        folder, branch = names.folder, names.branch
        world.repository.require_new_branch(branch)
    require_beside(branch, branches)
    return NewWorktree(path=room.root / folder, branch=branch, base=base, because=because)


def _begin(
    world: World, request: WorkplaceRequest, entries: tuple[SessionEntry, ...]
) -> BaseCommit:
    if request.of is not None:
        commit = request.of.branch.commit
        known = world.git.worktrees.base(commit)
        has_submodules = known is not None and known.has_submodules
        return BaseCommit(commit=commit, branch=None, has_submodules=has_submodules)
    return _base(world, request) if request.on is None else _on(world, request.on, entries)


def _on(world: World, on: ContinuedBranch, entries: tuple[SessionEntry, ...]) -> BaseCommit:
    """Return the commit of a continued branch, with the branch into which it will be merged."""
    other = next((each for each in entries if each.text("branch") == on.name), None)
    if other is not None:
        raise UsageError(
            f"session {other.name} works on branch `{on.name}`",
            hints=(f"continue it: agentmux resume {other.name}",),
        )
    known = world.git.worktrees.base(on.commit)
    head = world.git.worktrees.base(world.settings.git.base)
    into = on.base or (head.branch if head is not None and head.branch != on.name else None)
    has_submodules = known is not None and known.has_submodules
    return BaseCommit(commit=on.commit, branch=into, has_submodules=has_submodules)


def _base(world: World, request: WorkplaceRequest) -> BaseCommit:
    ref = request.base if request.base is not None else world.settings.git.base
    base = world.git.worktrees.base(ref)
    if base is not None:
        return base
    if ref is None:
        raise UsageError(
            "a worktree needs a commit to begin on, and there is none yet",
            hints=('git commit --allow-empty --only -m "Begin"',),
        )
    raise UsageError(
        f"`{ref}` is not a commit", hints=("see the branches: git branch --all --list",)
    )


def worktree_root(world: World) -> str | None:
    """Return the setting ``git.root``, with ``~`` at its beginning replaced by the user's home.

    That is the directory in which worktrees are made; a relative path starts at the top of the
    repository. None if it is not set: worktrees are then made in the default place.
    """
    root = world.settings.git.root
    home = world.environment.get("HOME")
    if root is None or home is None or not (root == "~" or root.startswith("~/")):
        return root
    return f"{home}{root[1:]}"


def require_room(room: WorktreeRootFacts, base: BaseCommit) -> None:
    """Check that a worktree of the commit ``base`` can be made in the directory for worktrees.

    ``room`` has the facts about that directory.

    Raises:
        UsageError: The directory is inside the repository, or cannot be written.
        NotInstalledError: Git is too old for the commit's submodules.
    """
    if room.inside is not None:
        raise UsageError(
            f"worktrees cannot be made in {room.root}: it is inside the repository, {room.inside}",
            hints=("choose another place: git.root in the configuration",),
        )
    if not room.is_writable:
        raise UsageError(
            f"worktrees cannot be made in {room.root}: the directory cannot be written",
            hints=("choose another place: git.root in the configuration",),
        )
    if base.has_submodules and room.version < _SUBMODULES_FROM:
        version = ".".join(map(str, room.version)) or "unknown"
        raise NotInstalledError(
            f"a worktree of a repository with submodules needs git 2.38; this one is {version}",
            hints=("agentmux start --no-worktree …",),
        )


def require_beside(branch: str, branches: frozenset[str]) -> None:
    """Check that git can create the branch beside the existing ``branches``.

    Git cannot if one name would be a directory of the other, as in ``a`` and ``a/b``. A branch of
    the very same name is not looked for: `Repository.require_new_branch` does that.

    Raises:
        UsageError: An existing branch prevents it.
    """
    other = in_the_way_of(branch, branches)
    if other is not None:
        raise UsageError(
            f"branch `{branch}` cannot be made, because a branch `{other}` exists",
            hints=(
                "choose another name: agentmux start --branch NAME …",
                "or another beginning of all names: git.branch_prefix in the configuration",
            ),
        )


def workplace_notes(world: World, worktree: NewWorktree, agents: Iterable[str]) -> Iterator[str]:
    """Yield one note each on where a session with a worktree works, why, and what differs there.

    Args:
        world: The project.
        worktree: The session's worktree.
        agents: The names of the session's agents.
    """
    base = worktree.base
    began = f"{base.branch} at {base.commit[:12]}" if base.branch else base.commit[:12]
    place = f"the session works in {worktree.path}, on branch {worktree.branch}"
    if worktree.of is not None:
        shown = worktree.of.branch
        what = shown.request.url if shown.request is not None else f"branch {shown.name}"
        yield (
            f"the session looks at {what} in {worktree.path}, at {shown.commit[:12]}, compared with"
            f" {worktree.of.base}"
        )
    elif worktree.on is not None:
        request = worktree.on.request
        what = f"{request.url} continues" if request is not None else "it continues"
        yield f"{place} at {base.commit[:12]}: {what}"
    else:
        yield f"{place} from {began}, because {worktree.because}"
    changes = world.repository.changes() if world.repository.top_level() is not None else ()
    dirty = len([path for path in changes if not path.endswith("/")])
    if dirty:
        files = format_count(dirty, "changed file does", "changed files do")
        yield f"{files} not come along: a worktree has only what is committed"
    steps = world.settings.git.setup
    if steps:
        names = ", ".join(step.name for step in steps)
        yield f"before the first agent starts, the setup runs there: {names}"
    used = sorted(set(agents))
    deaf = [each for each in used if not _can_be_told(world, world.agents.spec(each))]
    if deaf:
        yield (
            f"{', '.join(deaf)} cannot be told of the session's directory, which is outside of the "
            "worktree: it may ask before it writes there, or refuse to"
        )
    asking = [each for each in used if world.agents.spec(each).trust]
    if asking:
        yield f"{', '.join(asking)} may ask whether to trust the new directory: answer in the pane"


def _can_be_told(world: World, spec: AgentSpec) -> bool:
    if spec.prompt is PromptBy.SHOWN:
        return True  # a person plays this role
    return spec.add_dir is not None and world.agents.programs.probe(spec).add_dir is not False
