"""What the monitor shows of a result that the user has to decide on, and the whole diff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.approval.approval_preview import verdict_lines
from agentmux.app.delivery.approval.approval_question import question_or_obstacle
from agentmux.app.delivery.approval.deliverable import digest_of
from agentmux.app.delivery.steps.commit import describe_failure
from agentmux.app.delivery.steps.summary import asked_lines, summary_lines
from agentmux.app.session.check_record import CHANGED, has_changed_since_checks
from agentmux.app.session.workplace.changes import changes_of
from agentmux.core.codec.frozen import replace
from agentmux.core.names.status_labels import OUTPUT_LINES
from agentmux.core.pipeline.results import capped_phases
from agentmux.core.pipeline.verified import verified_lines
from agentmux.errors import AgentmuxError
from agentmux.ports.tmux.display import ResultView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SessionFiles

_UNCHANGED: Final = "nothing has changed"


def result_view(world: World, files: SessionFiles, state: SessionState) -> ResultView:
    """Return what the user has to decide on now.

    Only reads, and takes as long as git does. A part that cannot be read is replaced by the reason.
    """
    return ResultView(
        asked=tuple(asked_lines(files, state)),
        summary=tuple(summary_lines(files, state)),
        checks=tuple(check_lines(world, files, state, tail=OUTPUT_LINES)),
        verdicts=tuple(verdict_lines(state)),
        changes=tuple(stat_lines(world, files, state)),
        digest=digest_now(world, files, state),
        has_failed=bool(capped_phases(state)),
    )


def deliverable_view(world: World, files: SessionFiles, state: SessionState) -> ResultView:
    """Return the `result_view` with ``goes``: what an approval would do, or why it cannot be given.

    Only reads, and takes as long as git does.
    """
    asked = question_or_obstacle(world, files, state)
    goes = f"it cannot be approved now: {asked}" if isinstance(asked, str) else asked.effect
    return replace(result_view(world, files, state), goes=(goes,))


def digest_now(world: World, files: SessionFiles, state: SessionState) -> str:
    """Return the `decision_digest` of the current result; empty if it cannot be determined.

    It is the short hash by which a decision refers to the result.
    """
    try:
        return digest_of(world, files, state)
    except (AgentmuxError, OSError):
        return ""


def every_change(world: World, files: SessionFiles, state: SessionState) -> tuple[str, ...]:
    """Return the lines of the session's diff, or a line that says why there is none."""
    try:
        changes = changes_of(world, state, files.path)
        lines = changes.repository.patch(changes.range) if changes is not None else ()
    except (AgentmuxError, OSError) as error:
        return (f"the changes cannot be shown: {describe_failure(error)}",)
    note = (changes.note,) if changes is not None and changes.note else ()
    return (*note, *lines) or (_UNCHANGED,)


def check_lines(
    world: World, files: SessionFiles, state: SessionState, *, tail: int = 0
) -> Iterator[str]:
    """Yield the outcomes of the checks as lines, and one more if the files have changed since then.

    A command that did not pass is followed by the last ``tail`` lines of its output. If nothing was
    checked, a line says so, except for a session whose result is a report.
    """
    yield from verified_lines(state, tail=tail)
    try:
        if has_changed_since_checks(world, state, files):
            yield f"{CHANGED}: what they said is about other files"
    except (AgentmuxError, OSError) as error:
        yield f"whether the files have changed since is not known: {describe_failure(error)}"


def stat_lines(world: World, files: SessionFiles, state: SessionState) -> Iterator[str]:
    """Yield how much each file changed, as ``git diff --stat`` says it.

    If nothing has changed, or git cannot tell, a single line says so.
    """
    try:
        changes = changes_of(world, state, files.path)
        lines = changes.repository.stat(changes.range) if changes is not None else ()
    except (AgentmuxError, OSError) as error:
        yield f"how much the files changed is not known: {describe_failure(error)}"
        return
    yield from [line.strip() for line in lines] or [_UNCHANGED]
