"""Agents whose programs are not on the PATH of this command, as under cron with its short PATH."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from agentmux.core.agents.spec import how_to_install
from agentmux.core.journal.state import SessionState
from agentmux.core.launch.plan import LaunchPlan
from agentmux.core.names import layout
from agentmux.errors import NotInstalledError
from agentmux.ports.programs import Programs
from agentmux.ports.session.session_files import SessionFiles

_LAUNCH_BYTES: Final = 4 << 20


class LackingProgramError(NotInstalledError):
    """The program of an agent was not found.

    Attributes:
        brief: The message without the PATHs, which are too long for one row.
    """

    def __init__(self, brief: str, *paths: str, hints: tuple[str, ...]) -> None:
        """Take the beginning of the message, the PATHs that end it, and the hints.

        The message is ``brief``, a colon, and then all of ``paths`` with nothing between them.
        """
        self.brief = brief
        super().__init__(": ".join((brief, "".join(paths))), hints=hints)


def lacking_programs(
    programs: Programs, files: SessionFiles, state: SessionState, panes: Sequence[LaunchPlan]
) -> LackingProgramError | None:
    """Return the error that programs of agents were not found; None if all were found.

    The error is for a resume that cannot ask a person; it is returned, not raised. If the agents
    ran with another PATH before, the error names that PATH: in a hint if the programs are on it,
    else in the message.

    Args:
        programs: The programs of this machine.
        files: The session's directory.
        state: The session's state.
        panes: The launches that a resume would make now.
    """
    lacking = [each for each in panes if each.lacks_program]
    if not lacking:
        return None
    names = ", ".join(f"`{each.program}` for {each.work.seat}" for each in lacking)
    launches = (*(_last_launch(each) for each in lacking), *_launches(state))
    paths = tuple(dict.fromkeys(_path_of(files, launch) for launch in launches if launch))
    wanted = {each.program for each in lacking}
    resumes = _with_earlier_path(programs, paths, wanted, files.path.name)
    nor = () if resumes else tuple(each for each in paths if each not in {"", programs.path})
    return LackingProgramError(
        f"no program {names} on the PATH of this command",
        programs.path,
        *(f", nor on that of its agents: {path}" for path in nor[:1]),
        hints=(
            *resumes,
            *dict.fromkeys(how_to_install(each.player.spec) for each in lacking),
        ),
    )


def missing_programs(panes: Iterable[LaunchPlan]) -> Iterator[str]:
    """Yield a warning for each planned pane that gets a shell because its program was not found."""
    for each in panes:
        if each.lacks_program:
            yield f"`{each.program}` is not on PATH: {each.work.seat} gets a shell, for you"


def _last_launch(plan: LaunchPlan) -> str:
    record = plan.history.record
    return record.launch if record is not None else ""


def _launches(state: SessionState) -> Iterator[str]:
    """Yield the id of the last launch of each seat that had an agent, newest seat first."""
    yield from (str(each.get("launch", "")) for each in reversed(tuple(state.agents.values())))


def _with_earlier_path(
    programs: Programs, paths: Iterable[str], wanted: Collection[str], session: str
) -> tuple[str, ...]:
    """Return a hint to resume with the first PATH that has all wanted programs, if there is one."""
    known = (path for path in paths if path and all(programs.find(each, path) for each in wanted))
    earlier = next(known, "")
    if not earlier:
        return ()
    command = f"PATH={shlex.quote(earlier)} agentmux resume {session}"
    return (f"with the PATH that its agents had: {command}",)


def _path_of(files: SessionFiles, launch: str) -> str:
    """Return the PATH recorded in a launch folder; empty if none is recorded."""
    data, _ = files.read_artifact(f"{layout.launch(launch)}/launch.json", _LAUNCH_BYTES)
    try:
        fields = json.loads(data or b"")
    except ValueError:
        return ""
    env = fields.get("env") if isinstance(fields, dict) else None
    return str(env.get("PATH", "")) if isinstance(env, dict) else ""
