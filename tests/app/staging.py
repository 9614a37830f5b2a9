"""A session that is implementing, with recorded launches but no processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentmux.app.commands.resume.resume import ResumePlan, plan_resume
from agentmux.app.launch.launcher import Launcher, PreparedLaunch
from agentmux.app.session.writer import Session, resumed_values
from agentmux.app.world import World
from agentmux.core.conversation.launch_policy import ORDINARY, LaunchPolicy
from agentmux.core.journal.events import ConversationLearned, Fact, PromptReached, Resumed
from agentmux.core.launch.plan import LaunchPlan
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.work import find_work
from agentmux.wiring import build
from tests.app.on_disk import OnDisk
from tests.conftest import trust

NAME = "20260101-101500-add-a-greeting"
GROUP = {
    "group_id": "g1",
    "mode": "parallel",
    "plans": [{"index": n, "name": f"part {n}", "file": f"plan_{n}.md"} for n in (1, 2)],
}
EXECUTION = {
    "version": 1,
    "subplan_count": 2,
    "needs_design": False,
    "needs_docs": False,
    "doc_files": [],
    "groups": [GROUP],
}


class Stage:
    """A session in which two coders of the same agent work on two sub-plans."""

    def __init__(self, root: Path, agent: str, *, cache: Path) -> None:
        self.project = root / "calc"
        self.home = root / "demo"
        self.home.mkdir()
        self.environ = {
            **os.environ,
            "AGENTMUX_DEMO_HOME": str(self.home),
            "XDG_CACHE_HOME": str(cache),
        }
        path = self.project / ".agentmux" / ".sessions" / NAME
        self.disk = OnDisk(
            path,
            Phase.IMPLEMENTING,
            session_name=f"agentmux-{NAME}",
            feature="add a greeting",
            feature_dir=f".agentmux/.sessions/{NAME}",
            subplan_count=2,
            implementation_groups=(GROUP,),
            implementation_group_total=1,
            implementation_group_mode="parallel",
            implementation_active_plan_ids=(1, 2),
            reviewer_nominations=("reviewer_logic",),
        )
        self.config(f"roles: {{coder: {{agent: {agent}}}}}")
        self._leave_artifacts()

    def _leave_artifacts(self) -> None:
        leave = self.disk.leave
        leave("context.md", "# Rules\n")
        leave("requirements.md", "Add a greeting.\n")
        leave("02_architecting/architecture.md", "# Architecture\n")
        leave("04_planning/execution_plan.yaml", EXECUTION)
        leave("04_planning/plan.md", "# Plan\n")
        for number in (1, 2):
            leave(f"04_planning/plan_{number}.md", f"# Part {number}\n")
            leave(f"04_planning/tasks_{number}.md", "- do it\n")

    def config(self, text: str) -> None:
        (self.project / ".agentmux" / "config.yaml").write_text(f"version: 1\n{text}\n")
        trust(self.project, self.environ)

    @property
    def path(self) -> Path:
        return self.project / ".agentmux" / ".sessions" / NAME

    def world(self, environ: Mapping[str, str] | None = None, **changed: Any) -> World:
        """Return the outside world as it is now, except for the ``changed`` parts."""
        made = build.world(self.project.resolve(), environ={**self.environ, **(environ or {})})
        return replace(made, **changed)

    def session(self, world: World) -> Session:
        return Session(world.files(self.path), now=world.now, new_id=world.new_id)

    def launch(
        self,
        *,
        reached: bool = True,
        world: World | None = None,
        fresh: frozenset[str] = frozenset(),
        policy: LaunchPolicy = ORDINARY,
    ) -> dict[str, PreparedLaunch]:
        """Launch the agents of the phase as the orchestrator does, but without panes."""
        world = world or self.world()
        session = self.session(world)
        session.take_over()
        made = {}
        for work in find_work(session.state):
            launcher = Launcher(world, session.files, session.state, fresh=fresh)
            prepared = launcher.prepare(work, 1, session.artifacts(), policy=policy)
            session.record(prepared.fact, seat=work.seat, launch=prepared.plan.launch)
            made[work.seat] = prepared
        for seat in made if reached else ():
            self.tell(seat, PromptReached(evidence="seen"))
        return made

    def launch_resumed(self) -> dict[str, PreparedLaunch]:
        """Resume the session: record what is handed in, then launch the other seats."""
        session = self.session(self.world())
        session.take_over()
        artifacts = session.artifacts()
        values = resumed_values(session.state, artifacts, session.state.phase)
        session.record(Resumed(phase=session.state.phase, cycle=1, found=values))
        return self.launch()

    def tell(self, seat: str, fact: Fact) -> None:
        """Record a fact about the launch that holds a seat."""
        session = self.session(self.world())
        session.record(fact, seat=seat, launch=session.state.seats[seat].launch)

    def learn(self, seat: str, conversation: str) -> None:
        self.tell(seat, ConversationLearned(conversation=conversation, source="hook"))

    def plan(self, world: World | None = None, **options: Any) -> ResumePlan:
        world = world or self.world()
        return plan_resume(world, world.files(self.path), **options)

    def panes(self, world: World | None = None, **options: Any) -> dict[str, LaunchPlan]:
        return {each.work.seat: each for each in self.plan(world, **options).panes}


def check(plan: LaunchPlan, mode: str, reason: str) -> None:
    """Check a launch: native has a resume argv and a short prompt, fresh only the full prompt."""
    words = {"--resume", "--continue"} & set(plan.argv)
    told = "# You are the coder of sub-plan" in plan.prompt
    assert plan.mode == mode, plan.why
    assert bool(words) == (mode == "native"), plan.argv
    assert told == (mode == "fresh"), plan.prompt
    assert reason in plan.why
    assert "prompt.md" in plan.argv[-1]
    if mode == "fresh":
        assert plan.prompt == plan.full_prompt
    else:
        assert len(plan.prompt) < len(plan.full_prompt)
        assert plan.session_ref is None or plan.session_ref in plan.argv
