"""The facts of a launch, for the tests of the core: the coder of sub-plan 2 is to be started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentmux.core.agents.spec import ProbeResult
from agentmux.core.codec.records import to_fields
from agentmux.core.config.settings import ResumeSettings
from agentmux.core.conversation.resume_choice import ResumeFacts
from agentmux.core.conversation.resume_record import ResumeRecord
from agentmux.core.conversation.seat_history import SeatHistory, seat_history
from agentmux.core.journal.state import SessionState
from agentmux.core.launch.facts import LaunchFacts, LaunchTemplates, SeatPlayer, SessionLaunchFacts
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.work import Work
from tests.core.agent_specs import ASSIGN, SPEC

LAUNCH = "0a1b2c3d4e5f"
NEW = "9c9c0000-2222-4333-8444-555566667777"
OLD = "5f2c1111-2222-4333-8444-555566667777"
WORK = Work(seat="coder-2", role="coder", subplan=2)
STATE = SessionState(phase=Phase.IMPLEMENTING, cycle=1, session_id="s-1")
EPOCH: Mapping[str, object] = {
    "phase": "implementing",
    "cycle": 1,
    "iteration": 0,
    "subplan": 2,
    "files": {"context.md": "aa"},
}
PLAYER = SeatPlayer(
    name="robot",
    spec=SPEC,
    model="large",
    args=("--mine",),
    probe=ProbeResult(installed=True, path="/bin/robot"),
    strategy=ASSIGN,
    env={},
    home="/home/u",
    runtime="robot 1.0 /bin/robot:1:2",
    checkpoint_dir="/p/s/checkpoints/coder-2",
    kept_file=None,
    unset=("CLAUDECODE",),
)
AROUND = SessionLaunchFacts(
    session="/p/s",
    tree="/p",
    is_inside=True,
    host="a",
    boot="boot-1",
    path="/bin",
    shell="/bin/sh",
    has_shell=True,
    mcp_server=("agentmux", "mcp"),
    hook=("agentmux", "hook"),
    resume=ResumeSettings(),
)
TEMPLATES = LaunchTemplates(
    work="Do it in {{project_dir}}.\n\n{{drafts}}\n",
    again="Do it again in {{project_dir}}.\n\n{{drafts}}\n",
    message="Go on; {{instruction_file}} has it all.",
    opening="Welcome.",
    warning="You began before.",
    ending="Then:\n\n{{signal}}",
    extension=None,
)
FACTS = LaunchFacts(
    session_facts=AROUND,
    work=WORK,
    launch=LAUNCH,
    at="2026-11-21T12:00:00.000Z",
    new_conversation=NEW,
    player=PLAYER,
    history=SeatHistory(),
    conversation=None,
    claims={each: Path(f"/claims/{each}") for each in (OLD, NEW, LAUNCH)},
    epoch=EPOCH,
    reading=(),
    artifacts=Artifacts(),
    templates=TEMPLATES,
    kept_prompt="",
    question="",
    handover=(),
    has_own_hooks=False,
)
RECORD = ResumeRecord(
    agent="robot",
    strategy="assign",
    launch_argv=("robot", "--session-id", OLD),
    resume_argv=("robot", "--resume", OLD),
    env={"HOME_OF_ROBOT": "/h"},
    session_ref=OLD,
    argv_ref=OLD,
    host="a",
    cwd="/p",
    home="/home/u",
    runtime="robot 1.0 /bin/robot:1:2",
    model="large",
    epoch=EPOCH,
    reached=3,
    captured_at="2026-11-21T11:00:00Z",
    launch="ffffffffffff",
)


def again(record: ResumeRecord = RECORD, **changed: Any) -> LaunchFacts:
    """Return the facts of a second launch, at which the conversation of ``record`` is fit."""
    conversation = ResumeFacts(
        agent="robot",
        program="robot",
        host="a",
        cwd="/p",
        home="/home/u",
        runtime="robot 1.0 /bin/robot:1:2",
        epoch=EPOCH,
        now=datetime(2026, 11, 21, 12, tzinfo=UTC),
        settings=ResumeSettings(),
        model="large",
    )
    history = seat_history(to_fields(record))
    return replace(FACTS, history=history, conversation=conversation, **changed)
