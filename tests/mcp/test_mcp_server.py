"""The shell and MCP give the same answers and append the same journal lines."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.server import MCPServer

from agentmux.app.signals.submission import identity_from
from agentmux.core.definitions.definition import Kind, Leaf, PhaseDefinition, PipelineDefinition
from agentmux.core.journal.events import SIGNALS
from agentmux.core.names.phase import Phase
from agentmux.mcp.server import build
from tests.app.on_disk import OnDisk, implementing
from tests.core.builders import plan, review

ARCHITECTURE = "02_architecting/architecture.md"
REVIEWERS = ("reviewer_logic", "reviewer_quality")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One signal, as a shell command and as an MCP call."""

    result: str
    argv: tuple[str, ...]
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    phase: str = Phase.ARCHITECTING
    seat: str = "architect"
    role: str = ""
    topic: str = ""
    leaves: dict[str, Any] = field(default_factory=dict)
    times: int = 1


OWN = PipelineDefinition(
    name="mine",
    phases=(
        PhaseDefinition(
            phase="threats",
            kind=Kind.DOCUMENT,
            folder="found",
            roles=("security",),
            leaves=(Leaf(file="a.md"), Leaf(file="b.yaml")),
        ),
        PhaseDefinition(phase="end", kind=Kind.COMPLETE, folder="end", roles=("security",)),
    ),
)

CASES = {
    "pm-done": Case(
        result="accepted",
        argv=("submit", "pm-done"),
        tool="submit_pm_done",
        phase=Phase.PRODUCT_MANAGEMENT,
        seat="product-manager",
        leaves={"01_product_management/requirements.md": "it shall"},
    ),
    "architecture": Case(
        result="accepted",
        argv=("submit", "architecture"),
        tool="submit_architecture",
        leaves={ARCHITECTURE: "---\nreviewers: [expert]\n---\nhow"},
    ),
    "architecture, twice": Case(
        result="duplicate",
        argv=("submit", "architecture"),
        tool="submit_architecture",
        leaves={ARCHITECTURE: "how"},
        times=2,
    ),
    "architecture, none": Case(
        result="refused", argv=("submit", "architecture"), tool="submit_architecture"
    ),
    "plan": Case(
        result="accepted",
        argv=("submit", "plan"),
        tool="submit_plan",
        phase=Phase.PLANNING,
        seat="planner",
        leaves={"04_planning/plan.yaml": plan(("serial", [1]))},
    ),
    "plan, wrong": Case(
        result="refused",
        argv=("submit", "plan"),
        tool="submit_plan",
        phase=Phase.PLANNING,
        seat="planner",
        leaves={"04_planning/plan.yaml": {"version": 1}},
    ),
    "plan, too early": Case(result="ignored", argv=("submit", "plan"), tool="submit_plan"),
    "design": Case(
        result="accepted",
        argv=("submit", "design"),
        tool="submit_design",
        phase=Phase.DESIGNING,
        seat="designer",
        leaves={"05_design/design.md": "so"},
    ),
    "done": Case(
        result="accepted",
        argv=("submit", "done", "--subplan", "1"),
        tool="submit_done",
        arguments={"subplan_index": 1},
        phase=Phase.IMPLEMENTING,
        seat="coder-1",
    ),
    "done, of the seat": Case(
        result="accepted",
        argv=("submit", "done"),
        tool="submit_done",
        phase=Phase.IMPLEMENTING,
        seat="coder-1",
    ),
    "done, of another": Case(
        result="ignored",
        argv=("submit", "done", "--subplan", "2"),
        tool="submit_done",
        arguments={"subplan_index": 2},
        phase=Phase.IMPLEMENTING,
        seat="coder-1",
    ),
    "review": Case(
        result="accepted",
        argv=("submit", "review", "--role", "reviewer_logic"),
        tool="submit_review",
        arguments={"role": "logic"},
        phase=Phase.REVIEWING,
        seat="reviewer_logic",
        leaves={"07_review/review_logic.yaml": review("fail")},
    ),
    "review, of the seat": Case(
        result="refused",
        argv=("submit", "review"),
        tool="submit_review",
        phase=Phase.REVIEWING,
        seat="reviewer_quality",
        leaves={"07_review/review_quality.yaml": {"verdict": "maybe"}},
    ),
    "review, of nobody": Case(
        result="error",
        argv=("submit", "review", "--role", "speed"),
        tool="submit_review",
        arguments={"role": "speed"},
        phase=Phase.REVIEWING,
        seat="reviewer_logic",
    ),
    "research-done, nothing asked": Case(
        result="ignored",
        argv=("submit", "research-done", "--topic", "auth"),
        tool="submit_research_done",
        arguments={"topic": "auth"},
        seat="code-researcher-auth",
        role="code-researcher",
        topic="auth",
        leaves={
            "03_research/code-auth/summary.md": "this",
            "03_research/code-auth/detail.md": "that",
        },
    ),
    "summary": Case(
        result="accepted",
        argv=("submit", "summary"),
        tool="submit_summary",
        phase=Phase.COMPLETING,
        seat="reviewer_logic",
        leaves={"08_completion/summary.md": "all of it"},
    ),
    "hello": Case(result="accepted", argv=("submit", "hello"), tool="submit_hello"),
    "research": Case(
        result="accepted",
        argv=("research", "code", "--topic", "auth", "how?"),
        tool="research_dispatch_code",
        arguments={"topic": "auth", "question": "how?"},
    ),
    "research, twice": Case(
        result="duplicate",
        argv=("research", "web", "--topic", "auth", "how?"),
        tool="research_dispatch_web",
        arguments={"topic": "auth", "question": "how?"},
        times=2,
    ),
    "a phase of one's own": Case(
        result="accepted",
        argv=("submit", "phase", "threats"),
        tool="submit_phase",
        arguments={"phase": "threats"},
        phase="threats",
        seat="security",
        leaves={"found/a.md": "x", "found/b.yaml": "a: 1"},
    ),
    "a phase of one's own, half": Case(
        result="refused",
        argv=("submit", "phase", "threats"),
        tool="submit_phase",
        arguments={"phase": "threats"},
        phase="threats",
        seat="security",
        leaves={"found/b.yaml": "a: 1: 2"},
    ),
    "research, no topic": Case(
        result="refused",
        argv=("research", "web", "--topic", "../x", ""),
        tool="research_dispatch_web",
        arguments={"topic": "../x", "question": ""},
    ),
}


def prepared(path: Path, case: Case) -> tuple[OnDisk, dict[str, str]]:
    if case.phase == Phase.IMPLEMENTING:
        session = implementing(path, 2)
    elif case.phase == "threats":
        session = OnDisk(path, case.phase, pipeline=OWN)
    else:
        session = OnDisk(path, case.phase, product_manager=True, reviewer_nominations=REVIEWERS)
    for name, content in case.leaves.items():
        session.leave(name, content)
    subplan = 1 if case.seat == "coder-1" else None
    return session, session.launch(case.seat, case.role, subplan=subplan, topic=case.topic)


def by_shell(environ: dict[str, str], case: Case) -> dict[str, Any]:
    command = [sys.executable, "-m", "agentmux", *case.argv, "--json"]
    answer = ""
    for _ in range(case.times):
        answer = subprocess.run(
            command, env=environ, capture_output=True, text=True, check=False, timeout=60
        ).stdout
    found: dict[str, Any] = json.loads(answer)
    return found


def by_mcp(environ: dict[str, str], case: Case) -> dict[str, Any]:
    async def call(client: Client) -> dict[str, Any]:
        answer = None
        for _ in range(case.times):
            answer = await client.call_tool(case.tool, case.arguments)
        assert answer is not None
        text = answer.content[0].text  # type: ignore[union-attr]
        if answer.is_error:
            return {"result": "error", "reason": text}
        assert answer.structured_content is not None
        assert json.loads(text) == answer.structured_content
        found: dict[str, Any] = answer.structured_content
        return found

    server = build(identity_from(environ, command="agentmux mcp"))
    answer: dict[str, Any] = used(server, call)
    return answer


def used(server: MCPServer | StdioServerParameters, use: Callable[[Client], Awaitable[Any]]) -> Any:
    """Connect to a server with the SDK's own client, and return the result of ``use``."""

    async def main() -> Any:
        async with Client(server, read_timeout_seconds=60) as client:
            return await use(client)

    return asyncio.run(main())


def as_agents_start_it(environ: dict[str, str]) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "agentmux", "mcp"], env=environ
    )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_both_faces_answer_the_same(tmp_path: Path, case: Case) -> None:
    shell, in_shell = prepared(tmp_path / "shell" / "s", case)
    mcp, in_mcp = prepared(tmp_path / "mcp" / "s", case)
    said, told = by_shell(in_shell, case), by_mcp(in_mcp, case)
    assert said["result"] == told["result"] == case.result
    if case.result == "error":
        assert said["reason"] in told["reason"]
        assert shell.kinds == mcp.kinds
        return
    for fields in (said, told):
        fields["reason"] = fields["reason"].replace(str(tmp_path / "shell"), str(tmp_path / "mcp"))
    assert said == told
    assert [(event.id, event.fact) for event in shell.events] == [
        (event.id, event.fact) for event in mcp.events
    ]


def test_the_table_covers_every_signal() -> None:
    assert {case.tool for case in CASES.values()} == SIGNALS


def test_a_process_of_its_own_offers_a_tool_for_every_signal(tmp_path: Path) -> None:
    async def talk(client: Client) -> tuple[dict[str, Any], Any]:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        return tools, await client.call_tool("submit_architecture", {})

    session = OnDisk(tmp_path / "s")
    session.leave(ARCHITECTURE, "how")
    offered, answer = used(as_agents_start_it(session.launch("architect")), talk)
    assert answer.structured_content["result"] == "accepted"
    assert session.kinds[-1] == "submit_architecture"
    assert set(offered) == SIGNALS
    for tool in offered.values():
        assert tool.description
        assert set(tool.output_schema["properties"]) == {
            "schema",
            "result",
            "event_id",
            "reason",
            "problems",
        }


@pytest.mark.long
def test_outside_a_pane_the_server_says_so_and_ends() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "agentmux", "mcp"],
        env={},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith("error: `agentmux mcp` must be run by an agent")
