"""Explains, as text, the status of a session and what a resume would do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux.app.commands.resume.resume import (
    find_lacking_program,
    find_obstacle,
    plan_fields,
    plan_resume,
)
from agentmux.app.launch.missing_programs import LackingProgramError
from agentmux.app.session.search.lookup import Liveness, SessionEntry, live
from agentmux.app.views.session.plan_lines import resume_plan
from agentmux.app.views.session_words import lines_after_detach
from agentmux.app.views.status import session_view
from agentmux.core.codec.frozen import replace

if TYPE_CHECKING:
    from agentmux.app.world import Site, World
    from agentmux.errors import AgentmuxError


def explanation(
    world: World, site: Site, entry: SessionEntry, *, explain: bool, seats: bool = True
) -> list[str]:
    """Return lines that say whether a session is live and why, and what a resume would do with it.

    For a session that an orchestrator drives, they say what it waits for, in place of a plan. They
    describe a resume that no person attends, such as one from the desk or the web page.

    Args:
        world: The world of the session's project.
        site: The session's project, for looking at sessions.
        entry: The session.
        explain: Add the evidence, as ``resume --explain`` does.
        seats: Say how each seat would be started.

    Raises:
        AgentmuxError: The session cannot be read, or its tmux server or lock cannot be asked.
    """
    report = live(site, (entry,))[entry.path]
    plan = plan_resume(world, world.files(entry.path))
    block: AgentmuxError | None = find_obstacle(site, entry, report) if not entry.is_done else None
    block = block or plan.obstacle or find_lacking_program(world, plan)
    obstacle: dict[str, Any] | None = None
    if block is not None:
        message = block.brief if isinstance(block, LackingProgramError) else block.message
        obstacle = {"message": message, "hints": list(block.hints)}
    # A person would get a shell for an agent that is not found; here that blocks the resume.
    panes = tuple(each for each in plan.panes if seats and not each.lacks_program)
    plan = replace(plan, panes=panes)
    fields = {**plan_fields(plan, world), "blocked": obstacle}
    lives = f"live: {report.because}" if report.live else f"not live: {report.because}"
    at_work = lines_at_work(site, entry, report)
    return [f"{entry.name}: {lives}", *resume_plan(fields, explain=explain, at_work=at_work)]


def lines_at_work(site: Site, entry: SessionEntry, liveness: Liveness) -> list[str]:
    """Return what a session that an orchestrator drives waits for; no lines for other sessions."""
    if liveness.target is None or not liveness.is_driven:
        return []
    noted = site.folders.runtime(entry.path)
    view = session_view(entry, liveness, noted, project=site.project, now=site.now())
    return lines_after_detach(view)
