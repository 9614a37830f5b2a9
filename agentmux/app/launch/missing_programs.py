"""Agents whose programs this command cannot find, as under cron, whose PATH is short."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from agentmux.app.launch.plan import LaunchPlan
from agentmux.core.agents.spec import how_to_install
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.errors import NotInstalledError
from agentmux.ports.session_files import SessionFiles

_LAUNCH_BYTES: Final = 4 << 20


def require_programs(
    files: SessionFiles, state: SessionState, panes: Sequence[LaunchPlan], path: str
) -> None:
    """Check that the program of each planned agent is found; reads only.

    Args:
        files: The session.
        state: Its state.
        panes: What a resume would launch now.
        path: The PATH on which the programs were looked for.

    Raises:
        NotInstalledError: One is not found. The hint names the PATH that the agents had before.
    """
    lacking = [each for each in panes if each.lacks_program]
    if not lacking:
        return
    names = ", ".join(f"`{each.program}` for {each.work.seat}" for each in lacking)
    launches = (*(_last_launch(each) for each in lacking), *_launches(state))
    raise NotInstalledError(
        f"no program {names} on the PATH of this command: {path}",
        hints=(
            *_with_earlier_path(files, launches, path),
            *dict.fromkeys(how_to_install(each.player.spec) for each in lacking),
        ),
    )


def missing_programs(panes: Iterable[LaunchPlan]) -> Iterator[str]:
    """Yield a warning for each planned pane that gets a shell, since its program is not found."""
    for each in panes:
        if each.lacks_program:
            yield f"`{each.program}` is not on PATH: {each.work.seat} gets a shell, for you"


def _last_launch(plan: LaunchPlan) -> str:
    record = plan.history.record
    return record.launch if record is not None else ""


def _launches(state: SessionState) -> Iterator[str]:
    """Yield the last launch of each seat that had an agent, the newest seat first."""
    yield from (str(each.get("launch", "")) for each in reversed(tuple(state.agents.values())))


def _with_earlier_path(files: SessionFiles, launches: Iterable[str], path: str) -> tuple[str, ...]:
    """Return the hint that resumes with the PATH of the first of these launches that had one."""
    known = (_path_of(files, launch) for launch in launches if launch)
    earlier = next(filter(None, known), "")
    if not earlier or earlier == path:
        return ()
    command = f"PATH={shlex.quote(earlier)} agentmux resume {files.path.name}"
    return (f"with the PATH that its agents had: {command}",)


def _path_of(files: SessionFiles, launch: str) -> str:
    """Return the PATH of a launch; empty if its folder does not tell."""
    data, _ = files.read_artifact(f"{layout.launch(launch)}/launch.json", _LAUNCH_BYTES)
    try:
        fields = json.loads(data or b"")
    except ValueError:
        return ""
    env = fields.get("env") if isinstance(fields, dict) else None
    return str(env.get("PATH", "")) if isinstance(env, dict) else ""
