"""Finds the branch, or the pull request's branch, that a new session continues or reviews."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

from agentmux.app.session.configuration.forge_place import find_forge_remotes, target
from agentmux.app.session.workplace.workplace import has_repository
from agentmux.core.codec.frozen import dataclass
from agentmux.core.forges.spec import RepoRef, read_url
from agentmux.core.journal.state import Request
from agentmux.core.names.words import git_commands
from agentmux.errors import BlockedError, NotFoundError, UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.ports.forge import ForgeRequest

_NUMBER: Final = re.compile(r"#?([1-9]\d{0,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuedBranch:
    """A branch that a session continues.

    Attributes:
        name: The short name of the branch, here and on its remote.
        commit: The id of the commit to which the branch points, on ``remote`` if that is given.
        base: The branch into which the branch's request asks to merge; None without a request.
        remote: The remote from which the branch must be fetched; None if it exists here.
        request: The branch's pull or merge request; None for a plain branch.
    """

    name: str
    commit: str
    base: str | None = None
    remote: str | None = None
    request: Request | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedBranch:
    """A branch that a session reviews, and does not change.

    Attributes:
        branch: The branch.
        base: The ref with which the branch is compared, in the user's words.
        since: The id of that ref's commit when the session was planned.
    """

    branch: ContinuedBranch
    base: str
    since: str


def find_continued(world: World, given: str) -> ContinuedBranch:
    """Return the branch that the user named with ``--on``; changes nothing.

    A branch on a remote counts as of the last fetch. For a request, its forge is asked.

    Args:
        world: The project, with its remotes and the forges.
        given: The name of a branch, or else the number or URL of a pull or merge request.

    Raises:
        NotFoundError: There is no such branch, here or on a remote; or the request is not open.
        UsageError: The branch is on several remotes; the request comes from a repository that is
            not one of the remotes; or there is no git repository.
        BlockedError: The branch is checked out in a work tree, or points here to another commit
            than its request.
        ForgeError: The forge's program fails.
    """
    branch = _find(world, given, "--on")
    here = world.git.remote_branches.branch(branch.name)
    if branch.request is not None and here not in {None, branch.commit}:
        go, join = git_commands.switch(branch.name), git_commands.merge("@{upstream}")
        raise BlockedError(
            f"branch `{branch.name}` is at {(here or '')[:12]} here, but {branch.request.url} is at"
            f" {branch.commit[:12]}",
            reason="branch_differs",
            hints=(f"bring them together: {go} && git fetch && {join}",),
        )
    top = world.git.worktrees.checkout_of(branch.name)
    if top is not None:
        raise BlockedError(
            f"branch `{branch.name}` is checked out in {top}",
            reason="branch_checked_out",
            hints=(f"leave it there: git -C {shlex.quote(str(top))} switch --detach",),
        )
    return branch


def find_reviewed(world: World, given: str, base: str | None) -> ReviewedBranch:
    """Return the branch that the user named with ``--of`` for a review; changes nothing.

    A branch on a remote counts as of the last fetch. For a request, its forge is asked.

    Args:
        world: The project, with its remotes and the forges.
        given: The name of a branch, or else the number or URL of a pull or merge request. The
            branch may be checked out anywhere.
        base: The ref with which to compare the branch. None stands for the branch into which its
            request asks to merge, else for the configured base of worktrees.

    Raises:
        NotFoundError: There is no such branch, here or on a remote; or the request is not open.
        UsageError: The base is not a commit here, or is the branch's own commit; the branch is on
            several remotes; the request comes from a repository that is not one of the remotes; or
            there is no git repository.
        ForgeError: The forge's program fails.
    """
    branch = _find(world, given, "--of")
    ref = base or branch.base or world.settings.git.base
    began = world.git.worktrees.base(ref)
    if began is None and base is None and branch.base is not None:
        theirs = (
            world.git.remote_branches.branch(branch.base, remote=each.name)
            for each in world.git.remote_branches.all()
        )
        began = next((world.git.worktrees.base(each) for each in theirs if each is not None), None)
    if began is None:
        raise UsageError(
            f"`{ref or 'HEAD'}`, with which the branch would be compared, is not a commit here",
            hints=("name another one: --base REF", "fetch what is new: git fetch --all"),
        )
    if began.commit == branch.commit:
        raise UsageError(
            f"there is nothing to review: {branch.name} is at the same commit as {ref or 'HEAD'}",
            hints=("name what it is compared with: --base REF",),
        )
    return ReviewedBranch(branch=branch, base=ref or began.branch or "HEAD", since=began.commit)


def _find(world: World, given: str, option: str) -> ContinuedBranch:
    if not has_repository(world):
        raise UsageError(f"{option} needs a git repository", hints=("git init",))
    branch = _branch(world, given) or _request(world, given)
    if branch is None:
        raise NotFoundError(
            f"there is no branch `{given[:200]}`, neither here nor on a remote",
            hints=("see them: git branch --all", "fetch what is new: git fetch --all"),
        )
    return branch


def _branch(world: World, name: str) -> ContinuedBranch | None:
    commit = world.git.remote_branches.branch(name)
    if commit is not None:
        return ContinuedBranch(name=name, commit=commit)
    theirs = {
        each.name: tip
        for each in world.git.remote_branches.all()
        if (tip := world.git.remote_branches.branch(name, remote=each.name)) is not None
    }
    if len(theirs) > 1:
        raise UsageError(
            f"branch `{name}` is on several remotes: {', '.join(theirs)}",
            hints=(f"git branch --track {shlex.quote(name)} REMOTE/{shlex.quote(name)}",),
        )
    for remote, commit in theirs.items():
        return ContinuedBranch(name=name, commit=commit, remote=remote)
    return None


def _request(world: World, given: str) -> ContinuedBranch | None:
    meant = _resolve_request(world, given)
    if meant is None:
        return None
    place, number = meant
    request = world.forge(world.environment).request(place, number)
    if not request.is_open:
        raise NotFoundError(
            f"{request.url} is {'merged' if request.is_merged else 'closed'}",
            hints=(f"continue a branch: agentmux start --on {shlex.quote(request.branch)} …",),
        )
    remote = _remote_of(world, place, request)
    here = world.git.remote_branches.branch(request.branch) == request.commit
    return ContinuedBranch(
        name=request.branch,
        commit=request.commit,
        base=request.base,
        remote=None if here else remote,
        request=Request(url=request.url, number=number),
    )


def _resolve_request(world: World, given: str) -> tuple[RepoRef, int] | None:
    number = _NUMBER.fullmatch(given)
    if number is not None:
        return target(world, world.environment).repository, int(number[1])
    specs = world.forge(world.environment).specs.values()
    urls = (read_url(spec, spec.request_url, given) for spec in specs)
    return next((each for each in urls if each is not None), None)


def _remote_of(world: World, place: RepoRef, found: ForgeRequest) -> str:
    """Return the remote whose repository has the request's branch.

    Raises:
        UsageError: There is none, so nothing could be pushed there.
    """
    forge = world.forge(world.environment)
    for each in find_forge_remotes(world, world.environment):
        same_host = (each.repository.forge, each.repository.host) == (place.forge, place.host)
        if same_host and forge.identity(each.repository).casefold() == found.source.casefold():
            return each.remote
    raise UsageError(
        f"{found.url} comes from {found.source}, which is no remote of this repository",
        hints=("add it: git remote add NAME URL",),
    )
