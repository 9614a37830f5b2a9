"""What is said of an agent's conversation before a session runs with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentmux.app.commands.look.agent_offers import describe_agent
from agentmux.wiring import build
from tests.conftest import trust

CLAUDE = "  --session-id <uuid>  id\\n  -r, --resume [value]  resume\\n"


@pytest.mark.parametrize(
    ("agent", "shows", "risk"),
    [
        ("mine", CLAUDE, ""),
        (
            "mine",
            "  -c, --continue  go on\\n",
            "a resume takes the latest conversation of its folder",
        ),
        ("mine", "  --model NAME\\n", "a resume starts a new conversation"),
        ("shell", "", ""),
        ("demo", "", ""),
    ],
)
def test_an_agent_whose_conversation_may_not_come_back_says_so(
    tmp_path: Path, agent: str, shows: str, risk: str
) -> None:
    project, program = tmp_path / "project", tmp_path / "robot"
    (project / ".agentmux").mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nprintf -- '{shows}'\n")
    program.chmod(0o755)
    (project / ".agentmux/config.yaml").write_text(
        f"agents: {{mine: {{like: claude, command: {program}}}}}\n"
    )
    trust(project)
    world = build.world(project, environ=os.environ)
    assert describe_agent(world, agent) == (f"{agent} ({risk})" if risk else agent)
