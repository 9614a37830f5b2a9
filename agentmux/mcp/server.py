"""``agentmux mcp``: an MCP server on stdin and stdout, through which an agent sends its signals.

It has a tool for each signal. One server belongs to one launch of an agent. The environment names
that launch; it is read once, at the start.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, TypedDict, cast

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from agentmux.adapters.disk.signal_files import FileSignals
from agentmux.adapters.system.clock import utc_now
from agentmux.adapters.system.ids import new_id
from agentmux.adapters.wake.pipe import poke
from agentmux.app.signals.checks import Identity, Submission
from agentmux.app.signals.submission import identity_from, submit
from agentmux.core.codec.frozen import replace
from agentmux.core.terminal.visible_text import visible
from agentmux.errors import AgentmuxError

INSTRUCTIONS: Final = """\
AgentMux runs you as one agent of a pipeline. Hand your work in with the submit tool that your
instructions name, when it is complete and not before. `refused` lists every problem: fix all of
them and submit again. `accepted`, `duplicate` and `ignored` need no further action.
"""

_WITHOUT_ARGUMENTS: Final = {
    "submit_pm_done": "Hand in 01_product_management/requirements.md.",
    "submit_architecture": "Hand in 02_architecting/architecture.md.",
    "submit_plan": "Hand in 04_planning/plan.yaml.",
    "submit_design": "Hand in 05_design/design.md.",
    "submit_summary": "Hand in 08_completion/summary.md.",
    "submit_hello": "Tell which conversation this is. Hands nothing in.",
}


class ToolAnswer(TypedDict):
    """The answer to a signal, with the fields of ``agentmux submit --json``."""

    schema: int
    result: Literal["accepted", "ignored", "duplicate", "refused"]
    event_id: str | None
    reason: str
    problems: list[str]


Send = Callable[[Submission], ToolAnswer]

SubplanArg = Annotated[
    int | None, Field(default=None, ge=1, description="The sub-plan (default: that of your seat).")
]
Role = Annotated[
    str, Field(default="", description="logic, quality or expert (default: that of your seat).")
]
PhaseName = Annotated[str, Field(description="The name of the phase, as in your instructions.")]
OwnTopic = Annotated[str, Field(default="", description="The topic (default: that of your seat).")]
Topic = Annotated[str, Field(description="A short name: a-z, 0-9 and hyphens.")]
Question = Annotated[
    str,
    Field(description="The question, with everything that the researcher needs: it sees no more."),
]


def main(environ: Mapping[str, str]) -> int:
    """Run the server until standard input ends; return the exit code.

    Args:
        environ: Environment of the process; it names the session, the seat and the launch.
    """
    try:
        identity = identity_from(environ, command="agentmux mcp")
    except AgentmuxError as error:
        sys.stderr.write(f"error: {error.message}\n")
        return error.exit_code
    build(identity).run("stdio")
    return 0


def build(identity: Identity) -> MCPServer:
    """Return a server whose tools send signals to AgentMux, for the launch in ``identity``."""
    server = MCPServer("agentmux", instructions=INSTRUCTIONS)

    def send(submission: Submission) -> ToolAnswer:
        try:
            answer = submit(
                FileSignals(Path(identity.session_dir)),
                identity,
                submission,
                at=utc_now(),
                new_id=new_id,
                poke=poke,
            )
        except AgentmuxError as error:
            hints = "".join(f"\nhint: {hint}" for hint in error.hints)
            raise ToolError(visible(f"{error.message}{hints}")) from error
        problems = tuple(map(visible, answer.problems))
        shown = replace(answer, reason=visible(answer.reason), problems=problems)
        return cast("ToolAnswer", shown.to_fields())

    for name, says in _WITHOUT_ARGUMENTS.items():
        server.add_tool(_plain(send, name), name=name, description=says)
    _add_submits(server, send)
    _add_research(server, send)
    return server


def _plain(send: Send, signal: str) -> Callable[[], ToolAnswer]:
    def hand_in() -> ToolAnswer:
        return send(Submission(signal=signal))

    return hand_in


def _add_submits(server: MCPServer, send: Send) -> None:
    @server.tool()
    def submit_done(subplan_index: SubplanArg = None) -> ToolAnswer:
        """Tell that the code of a sub-plan, or of a fix, is complete."""
        return send(Submission(signal="submit_done", subplan=subplan_index))

    @server.tool()
    def submit_phase(phase: PhaseName) -> ToolAnswer:
        """Hand in all files of a phase that has no tool of its own."""
        return send(Submission(signal="submit_phase", phase=phase))

    @server.tool()
    def submit_review(role: Role = "") -> ToolAnswer:
        """Hand in your review file in 07_review."""
        return send(Submission(signal="submit_review", role=role))

    @server.tool()
    def submit_research_done(topic: OwnTopic = "") -> ToolAnswer:
        """Hand in summary.md and detail.md of a research topic."""
        return send(Submission(signal="submit_research_done", topic=topic))


def _add_research(server: MCPServer, send: Send) -> None:
    @server.tool()
    def research_dispatch_code(topic: Topic, question: Question) -> ToolAnswer:
        """Ask another agent a question about this code base, and go on meanwhile."""
        return send(Submission(signal="research_dispatch_code", topic=topic, question=question))

    @server.tool()
    def research_dispatch_web(topic: Topic, question: Question) -> ToolAnswer:
        """Ask another agent to answer a question from the web, and go on meanwhile."""
        return send(Submission(signal="research_dispatch_web", topic=topic, question=question))
