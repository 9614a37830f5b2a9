"""What an unfinished session leaves behind if its directory is deleted; pure.

Somebody may delete the directory of a session (``git clean -ffdx``, ``rm -rf``, ``git worktree
remove`` of the worktree that contains it). The session's own worktree, its branch and the agents'
conversations then still exist; a trace, which is stored elsewhere, names them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentmux.core.codec.frozen import dataclass
from agentmux.core.conversation.resume_record import decode_record, resolve_record

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTrace:
    """A record of a session that is stored outside of the session's directory.

    Attributes:
        session: The uuid of the session.
        path: The absolute path of the session's directory.
        feature: The first line of the user's request.
        phase: The phase of the session when this was recorded.
        worktree: The absolute path of the session's own worktree; empty if it works in the
            checkout.
        branch: The branch with the session's result; empty if there is none.
        conversations: One text for each conversation that can be resumed by its id: the seat, a
            tab, and the command line for a shell that resumes it.
        repository: The git directory that all worktrees of the project's repository share; empty
            outside of a repository.
    """

    session: str
    path: str
    feature: str = ""
    phase: str = ""
    worktree: str = ""
    branch: str = ""
    conversations: tuple[str, ...] = ()
    repository: str = ""


def trace_of(state: SessionState, path: str, repository: str) -> SessionTrace:
    """Return the trace of a session: what is recorded of it outside of its directory.

    Nothing is stored.

    Args:
        state: The state of the session.
        path: The absolute path of the session's directory.
        repository: The git directory that all worktrees of the project's repository share; empty
            outside of a repository.
    """
    return SessionTrace(
        session=state.session_id,
        path=path,
        feature=state.subject.strip().partition("\n")[0],
        phase=state.phase,
        worktree=state.worktree or "",
        branch=state.branch or "",
        conversations=tuple(_conversations(state)),
        repository=repository,
    )


def _conversations(state: SessionState) -> Iterator[str]:
    for seat, fields in sorted(state.agents.items()):
        record = decode_record(fields)
        if record is None or not record.reached or not record.session_ref or record.rejected:
            continue
        words = [f"{name}={value}" for name, value in sorted(record.env.items())]
        argv = [*(("env", *words) if words else ()), *resolve_record(record).resume_argv]
        if record.resume_argv:
            yield f"{seat}\tcd {shlex.quote(record.cwd)} && {shlex.join(argv)}"
