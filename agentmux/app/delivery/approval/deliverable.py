"""The current result of a session: what an approval would commit, asked of git once."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from agentmux.app.delivery.steps.commit import is_elsewhere
from agentmux.app.delivery.steps.merge import brought_back
from agentmux.app.session.workplace.branch_mismatch import is_changed
from agentmux.app.session.workplace.changes import held_by_base, result_base
from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import dataclass
from agentmux.core.decisions.workplace import commit_first
from agentmux.core.definitions.definition import Kind
from agentmux.core.journal.results import results_fields
from agentmux.core.names.words import git_commands
from agentmux.core.pipeline.artifacts import TEXT_MAX, summary_path
from agentmux.core.pipeline.registry import working_phase
from agentmux.core.pipeline.result_text import message
from agentmux.core.pipeline.results import all_verdicts

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.git.repository import Head, LeftCommits, Repository
    from agentmux.ports.session.session_files import SessionFiles

_DIGEST_LENGTH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliverable:
    """The current result of a session.

    Attributes:
        message: The message of the commit that an approval would make.
        paths: The files of the result, relative to the top of the work tree; in a worktree,
            including those that are already committed.
        uncommitted: Those of ``paths`` that an approval would commit.
        undone: Those of ``uncommitted`` that are again as they were before somebody committed a
            change of them.
        left_out: The folders, ending in ``/``, that a commit leaves out because they are
            repositories that did not exist at the start.
        base: The id of the commit after which all changes are the session's own; None if it began
            without a commit.
        held_by_base: A sentence if the base branch has all commits of the session's branch; else
            empty.
        made_already: The subjects of the commits that agents, or the user, have made in the
            worktree.
        found_on: Where HEAD is, in words, if an approval first moves the session's branch there;
            else empty.
        left_behind: The commits that were made in the worktree but are not in the history of its
            HEAD; the result does not contain them.
        brings_back: Hash and subject of each commit that a merge would bring back into the base
            branch after somebody removed it there.
        tree: Git's id of the files that a commit would have; empty if nothing is committed.
    """

    message: str
    paths: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    base: str | None = None
    held_by_base: str = ""
    made_already: tuple[str, ...] = ()
    found_on: str = ""
    left_behind: tuple[LeftCommits, ...] = ()
    brings_back: tuple[str, ...] = ()
    tree: str = ""


def deliverable(world: World, state: SessionState) -> Deliverable:
    """Ask git for the current result of the session; only reads.

    Args:
        world: The world of the session's workplace (`with_workplace`).
        state: The state of the session.

    Raises:
        GitError: Git refuses.
        MissingError: Git does not answer.
        OSError: There is no disk space for what git computes.
    """
    if not state.commits:
        return Deliverable(message=message(state))
    repository, dirty = world.repository, frozenset(state.options.dirty)
    head = repository.head()
    base = result_base(repository, state)
    is_own = bool(state.worktree and base)
    own = tuple(path for path in repository.changes() if path not in dirty)
    now = tuple(path for path in own if not path.endswith("/"))
    committed = repository.committed_since(base) if is_own and base else ()
    return Deliverable(
        message=message(state),
        paths=tuple(sorted({*committed, *now})),
        uncommitted=now,
        undone=tuple(path for path in _list_undone(repository, base, head) if path in now),
        left_out=tuple(path for path in own if path.endswith("/")),
        base=base,
        held_by_base=held_by_base(repository, state, base),
        made_already=repository.subjects(base) if is_own and base else (),
        found_on=head.describe() if is_elsewhere(state, head) else "",
        left_behind=left_behind(world, state),
        brings_back=brought_back(world, state),
        tree=repository.result_tree(now),
    )


def _list_undone(repository: Repository, base: str | None, head: Head) -> tuple[str, ...]:
    return () if base in {None, head.commit} else repository.list_undone(str(base))


def left_behind(world: World, state: SessionState) -> tuple[LeftCommits, ...]:
    """Return the commits that were made in the session's worktree but that its HEAD has left.

    Without them, the result is not what was made there, and may not be what was reviewed.
    """
    began = state.options.base
    if not state.worktree or began is None or not state.commits:
        return ()
    onto = (f"refs/heads/{state.base.branch}",) if state.base and state.base.branch else ()
    apart = {each.head for each in state.tree_checkpoints if each.branch != state.branch}
    return world.repository.left_commits(
        since=began, known=(began, *onto), also=sorted(each for each in apart if each is not None)
    )


def ways_along(
    world: World, state: SessionState, behind: Collection[LeftCommits]
) -> tuple[str, ...]:
    """Return hints with the commands that merge the commits ``behind`` into the worktree's HEAD.

    If files there have uncommitted changes, hints how to commit these come first.
    """
    git = f"git -C {shlex.quote(state.worktree or '')}"
    commands = (
        git_commands.merge(each.commit[:12], git=git, is_related=each.is_related) for each in behind
    )
    first = commit_first(state.worktree or "") if is_changed(world, state) else ()
    return (*first, *(f"take them along: {each}" for each in commands))


def digest_of(world: World, files: SessionFiles, state: SessionState) -> str:
    """Return the `decision_digest` of the current result, which this asks git for.

    Raises:
        GitError: Git refuses.
        MissingError: Git does not answer.
        OSError: There is no disk space for what git computes.
    """
    return decision_digest(files, state, deliverable(world, state))


def decision_digest(files: SessionFiles, state: SessionState, found: Deliverable) -> str:
    """Return the digest (a short hash) of what the user is shown before a decision.

    It changes if, and only if, one of these changes: the files, the commit message, the verdicts,
    the results of checks, the summary, the phase, the cycle, where HEAD is outside of the session's
    branch, or the commits that the result lacks or a merge would bring back.

    Args:
        files: The session's directory.
        state: The state of the session.
        found: The session's current result.
    """
    summary, _ = files.read_artifact(summary_path(state), TEXT_MAX)
    shown = {
        "phase": working_phase(state),
        "cycle": state.cycle,
        "tree": found.tree,
        "paths": found.paths,
        **({"found_on": found.found_on} if found.found_on else {}),
        **({"left": [each.commit for each in found.left_behind]} if found.left_behind else {}),
        **({"back": found.brings_back} if found.brings_back else {}),
        "message": found.message,
        "summary": sha256(summary or b"").hexdigest(),
        "decided": _collect_decisions(state),
    }
    text = json.dumps(shown, sort_keys=True)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def _collect_decisions(state: SessionState) -> Mapping[str, object]:
    looked = {each.phase: each.kind for each in state.pipeline.phases}
    reviews = [r.outcome for name, r in state.results.items() if looked.get(name) is Kind.REVIEW]
    checks = {name: r for name, r in state.results.items() if looked.get(name) is Kind.CHECK}
    return {
        "verdicts": dict(all_verdicts(state)),
        "review_outcome": ", ".join(filter(None, reviews)) or None,
        "results": results_fields(checks) or None,
    }
