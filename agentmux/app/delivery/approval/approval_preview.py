"""The preview of an approval: what would be committed, and where the result would go."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.steps.commit import describe_failure, list_put_aside
from agentmux.app.delivery.steps.merge import merge_base, merge_obstacle
from agentmux.app.delivery.steps.summary import summary_lines
from agentmux.app.delivery.steps.ways import describe_way
from agentmux.app.session.check_record import CHANGED, has_changed_since_checks
from agentmux.app.session.workplace.branch_mismatch import command_to_keep
from agentmux.app.session.workplace.changes import changes_of
from agentmux.app.session.workplace.own_worktree import list_ignored_by_now
from agentmux.app.session.workplace.rewound_edits import edits_words, list_rewound_edits
from agentmux.core.documents.review import label
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import brought_back_label, left_behind_label, left_out_label
from agentmux.core.names.statuses import MERGE
from agentmux.core.names.words.counts import abbreviate_names, format_count
from agentmux.core.pipeline.artifacts import summary_path
from agentmux.core.pipeline.delivery import is_on_no_branch
from agentmux.core.pipeline.results import all_reviews, all_verdicts, capped_phases
from agentmux.core.pipeline.verified import verified_lines
from agentmux.core.terminal.text.markdown import render_markdown
from agentmux.errors import AgentmuxError, MissingError

if TYPE_CHECKING:
    from agentmux.app.delivery.approval.deliverable import Deliverable
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SessionFiles

_SHOWN: Final = 40


def outcome_lines(
    world: World, files: SessionFiles, state: SessionState, found: Deliverable, where: str
) -> Iterator[str]:
    """Yield lines that tell the user what an approval would do now, without the summary.

    They contain the results of the checks, the verdicts, the files to commit, and where the result
    goes.

    Args:
        world: The world of the session's workplace (`with_workplace`).
        files: The session's directory.
        state: The state of the session.
        found: The session's result (`deliverable`).
        where: The text that `destination` returns for the result.
    """
    yield from verified_lines(state)
    if has_changed_since_checks(world, state, files):
        yield f"{CHANGED}: what they said is about other files"
    yield from verdict_lines(state)
    if not state.commits:
        off = "commits are turned off for this session"
        yield f"nothing will be committed: {'the result is a report' if state.is_report else off}"
        return
    if found.found_on:
        yield f"HEAD is {found.found_on}: branch {state.branch} is first moved forward to it"
    yield from (left_behind_label(each.subjects) for each in found.left_behind)
    yield from list_put_aside(world, state)
    yield from _internal(world, state)
    yield from _not_in_result(world, files, state)
    if not found.paths:
        yield from _nothing(found, where)
        return
    yield from _branch(world, state, found)
    yield from _files(world, files, state, found)
    yield from where.splitlines()


def destination(
    world: World, files: SessionFiles, state: SessionState, found: Deliverable, way: str
) -> str:
    """Return in words where the result goes after the commit, or why it could not go there now.

    Each hint is a line of its own, because people copy them. Empty if it is only committed, or if
    the base branch already has all that would be merged.

    Args:
        world: The world of the session's workplace (`with_workplace`).
        files: The session's directory.
        state: The state of the session.
        found: The session's result (`deliverable`).
        way: Where the result goes, as returned by `way_of`.
    """
    where = describe_way(world, state, way)
    if way == MERGE and found.held_by_base and not found.uncommitted:
        return ""
    try:
        obstacle = merge_obstacle(world, state, files.path) if way == MERGE else None
    except (MissingError, OSError) as error:
        return f"{where}; whether that can be done now is not known: {describe_failure(error)}"
    if obstacle is not None:
        return "\n".join((f"it cannot be merged now: {obstacle.message}", *obstacle.hints))
    back = found.brings_back if way == MERGE else ()
    return f"{where}; {brought_back_label(back, merge_base(state))}" if back else where


def summary_preview(files: SessionFiles, state: SessionState) -> Iterator[str]:
    """Yield the first 40 lines of the summary as plain text, and then an empty line.

    If there are more lines, the path of the whole file comes before the empty line. Without a
    summary, nothing is yielded.
    """
    lines = list(summary_lines(files, state))
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield f"… {len(lines) - _SHOWN} more lines: {files.path / summary_path(state)}"
    if lines:
        yield ""


def verdict_lines(state: SessionState) -> Iterator[str]:
    """Yield the verdict of each reviewer, and which reviews or checks did not pass."""
    reviews = all_reviews(state)
    for role, verdict in all_verdicts(state).items():
        summary = next(render_markdown(str(reviews.get(role, {}).get("summary") or "")), "")
        yield f"review {label(role)}: {verdict}{f': {summary}' if summary else ''}"
    most = format_count(state.max_review_iterations, "iteration")
    names = ("the review" if phase == Phase.REVIEWING else phase for phase in capped_phases(state))
    yield from (f"{name} did not pass within {most}" for name in names)


def _nothing(found: Deliverable, where: str) -> Iterator[str]:
    """Yield why there is nothing to commit."""
    if not found.held_by_base:
        yield "nothing was changed: there is nothing to commit"
        return
    yield f"nothing is left to commit: {found.held_by_base}"
    yield from where.splitlines()


def _internal(world: World, state: SessionState) -> Iterator[str]:
    """Yield which changes in ``.agentmux`` the commit leaves out."""
    # In the checkout, they are the user's.
    paths = world.repository.list_internal_changes() if state.worktree else ()
    if paths:
        place, named = shlex.quote(state.worktree or ""), " ".join(map(shlex.quote, paths))
        commit = (
            f"git -C {place} add -- {named}"
            f" && git -C {place} commit --message Configuration -- {named}"
        )
        yield f"the commit leaves out what is in .agentmux: {abbreviate_names(paths)}"
        yield f"to have it in the result, first: {commit}"


def _not_in_result(world: World, files: SessionFiles, state: SessionState) -> Iterator[str]:
    """Yield which files of the session's work-tree checkpoints the result has not."""
    ignored = list_ignored_by_now(world, state, files.path)
    if ignored:
        yield f"left out, because git ignores them now: {abbreviate_names(ignored)}"
    rewound = list_rewound_edits(world, state, files.path)
    yield from (f"not in the result: {edits_words(each)}" for each in rewound)


def _files(
    world: World, files: SessionFiles, state: SessionState, found: Deliverable
) -> Iterator[str]:
    now, count = found.uncommitted, len(found.paths)
    if not now:
        yield f"the result is committed already: {format_count(count, 'file')}"
    else:
        more = f" of the {format_count(count, 'file')} of the result" if len(now) < count else ""
        title = found.message.splitlines()[0]
        yield f"to be committed: {format_count(len(now), 'file')}{more}, with the message “{title}”"
    yield from (f"  {line}" for line in _stat(world, files, state, found.paths))
    if found.undone:
        names = abbreviate_names(found.undone)
        yield f"the commit undoes what was committed since the session began: {names}"
    yield from map(left_out_label, found.left_out)


def _stat(
    world: World, files: SessionFiles, state: SessionState, paths: tuple[str, ...]
) -> Iterator[str]:
    """Yield how much each file changed; only the file names if git cannot tell."""
    try:
        changes = changes_of(world, state, files.path)
        lines = changes.repository.stat(changes.range) if changes is not None else ()
    except (AgentmuxError, OSError) as error:
        yield f"how much they changed is not known: {describe_failure(error)}"
        lines = ()
    yield from (line.strip() for line in lines)
    if not lines:
        yield from paths[:_SHOWN]
        if len(paths) > _SHOWN:
            yield f"… {len(paths) - _SHOWN} more"


def _branch(world: World, state: SessionState, found: Deliverable) -> Iterator[str]:
    """Yield on which branch the result is, and what is already committed there."""
    if is_on_no_branch(state):
        keep = command_to_keep(world, state)
        yield f"HEAD is detached: the commit will be on no branch; to keep it, afterwards: {keep}"
    if not state.worktree or state.base is None:
        yield from (f"on branch {each}" for each in (state.branch,) if each)
        return
    base = state.base
    began = f"{base.branch} at {base.commit[:12]}" if base.branch else base.commit[:12]
    yield f"on branch {state.branch}, from {began}"
    yield from (f"committed there already: {each}" for each in found.made_already[-_SHOWN:])
    hooks = world.repository.missing_hooks()
    if hooks is not None:
        yield f"no hooks will run: `core.hooksPath` is {hooks}, which the worktree does not have"
