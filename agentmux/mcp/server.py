"""``agentmux mcp``: the MCP server on stdin and stdout through which an agent sends its signals.

It has one tool for each signal. A server belongs to one launch of an agent, which the environment
of its process names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypedDict, cast

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from agentmux.adapters.disk.session.signal_files import FileSignals
from agentmux.adapters.system.clock import utc_now
from agentmux.adapters.system.ids import new_id
from agentmux.adapters.wake.pipe import poke
from agentmux.app.signals.submission import identity_from, submit
from agentmux.core.codec.frozen import replace
from agentmux.core.fold.signals.description import Argument, Identity, SignalDescription, Submission
from agentmux.core.fold.signals.table import DESCRIPTIONS
from agentmux.core.terminal.text.visible_text import visible
from agentmux.errors import AgentmuxError

INSTRUCTIONS: Final = """\
AgentMux runs you as one agent of a pipeline. Hand your work in with the submit tool that your
instructions name, when it is complete and not before. `refused` lists every problem: fix all of
them and submit again. `accepted`, `duplicate` and `ignored` need no further action.
"""
"""The instructions that the server sends to the agent."""


class ToolAnswer(TypedDict):
    """The answer to a signal, with the same fields as the output of ``agentmux submit --json``."""

    schema: int
    result: Literal["accepted", "ignored", "duplicate", "refused"]
    event_id: str | None
    reason: str
    problems: list[str]


Send = Callable[[Submission], ToolAnswer]
"""A function that submits a signal to the session and returns the answer."""


def main(environ: Mapping[str, str]) -> int:
    """Run the MCP server on stdin and stdout until stdin ends, and return the process's exit code.

    If the environment names no launch, no server runs: an error is written to stderr, and its exit
    code is returned.

    Args:
        environ: The environment of the process, which names the session, the seat and the launch.
    """
    try:
        identity = identity_from(environ, command="agentmux mcp")
    except AgentmuxError as error:
        sys.stderr.write(f"error: {error.message}\n")
        return error.exit_code
    build(identity).run("stdio")
    return 0


def build(identity: Identity) -> MCPServer:
    """Return a new MCP server with one tool for each signal; the caller has to run it.

    ``identity`` names the session, the seat and the launch for which the tools submit signals.
    """
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

    for name, signal in DESCRIPTIONS.items():
        server.add_tool(_Tool(send, signal), name=name, description=_sentence(signal.says))
    return server


class _Tool:
    """The function of a tool: the SDK reads the tool's schema from its signature."""

    def __init__(self, send: Send, signal: SignalDescription) -> None:
        self._send = send
        self.__name__ = signal.fact.kind
        parameters = [_parameter(each) for each in signal.arguments]
        self.__signature__ = Signature(parameters, return_annotation=ToolAnswer)

    def __call__(self, **given: Any) -> ToolAnswer:  # noqa: ANN401 (the signature has the types)
        return self._send(Submission(signal=self.__name__, **given))


def _parameter(argument: Argument) -> Parameter:
    is_number = argument.is_number
    described = Field(description=_sentence(argument.says), ge=1 if is_number else None)
    return Parameter(
        argument.field,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if argument.is_required else None if is_number else "",
        annotation=Annotated[int | None if is_number else str, described],
    )


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
