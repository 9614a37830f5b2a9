"""What the monitor asks before an approval, with all that the user is shown for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.approval_preview import destination, files_label, preview_lines
from agentmux.app.delivery.commit import left_out, moved, preview, reason, uncommitted
from agentmux.app.delivery.ways import way_of
from agentmux.app.session.changes import held_by_base
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.status_labels import left_out_label
from agentmux.core.terminal.console import READ_S
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session_files import SessionFiles

_NAMED: Final = 3
_AGAIN: Final = f"press a again within {READ_S:g} s to"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalQuestion:
    """The question whether to approve.

    Attributes:
        text: What another press of the key would do, or why the result cannot be approved now.
        way: Where that takes the result, as `way_of` returns it; empty where it cannot be approved.
        lines: The preview to read first; empty where it cannot be approved.
    """

    text: str
    way: str = ""
    lines: tuple[str, ...] = ()


def approval_question(world: World, files: SessionFiles, state: SessionState) -> ApprovalQuestion:
    """Return the question for the result as it is now.

    It only reads, and takes as long as git does; no failure of git or of the disk is raised.
    """
    try:
        way = way_of(world, state, "")
        hindrance = moved(world, state)
        if hindrance is not None:
            return _refused(hindrance)
        where = destination(world, files, state, way)
        text = f"{_AGAIN} {_doing(world, state, where)}"
    except (AgentmuxError, OSError) as error:
        return _refused(error)
    return ApprovalQuestion(text=text, way=way, lines=tuple(_lines(world, files, state, where)))


def _refused(error: AgentmuxError | OSError) -> ApprovalQuestion:
    return ApprovalQuestion(text=f"not approved: {reason(error)}")


def _lines(world: World, files: SessionFiles, state: SessionState, where: str) -> Iterator[str]:
    try:
        yield from preview_lines(world, files, state, where)
    except (AgentmuxError, OSError) as error:
        yield f"more cannot be shown: {reason(error)}"


def _doing(world: World, state: SessionState, where: str) -> str:
    """Return what an approval does, after ``to``."""
    _, paths = preview(world, state)
    without = "".join(f"; {left_out_label(path)}" for path in left_out(world, state))
    then = f"; {where}" if where else ""
    if not paths:
        held = held_by_base(world.repository, state)
        left = f"nothing is left to commit: {held}{then}" if held else "there is nothing to commit"
        return f"approve; {left}{without}"
    now = uncommitted(world, state)
    if not now:
        return f"approve {files_label(len(paths))}, committed already{then}{without}"
    named = ", ".join(now[:_NAMED]) + (", …" if len(now) > _NAMED else "")
    return f"commit {files_label(len(now))}: {named}{then}{without}"
