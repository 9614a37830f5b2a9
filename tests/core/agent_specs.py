"""Agents and strategies for the tests of the core."""

from __future__ import annotations

from agentmux.core.agents.spec import AgentSpec, PromptBy, Strategy, StrategyKind

UUID = "6f1b0c8e-0a4f-4f57-9d4e-0d6f3a1f9a10"
ASSIGN = Strategy(
    kind=StrategyKind.ASSIGN,
    launch=("--session-id", "{session_id}"),
    resume=("--resume", "{session_id}"),
    probe={"assign": "--session-id", "resume": "--resume"},
)
LEARN = Strategy(
    kind=StrategyKind.LEARN,
    resume=("resume", "{session_id}"),
    resume_first=True,
    learn="THREAD",
    probe={"resume": "resume"},
)
CONTINUE = Strategy(kind=StrategyKind.CONTINUE, resume=("--continue",), probe={"c": "--continue"})
CHECKPOINT = Strategy(
    kind=StrategyKind.CHECKPOINT,
    launch=("--checkpoint-dir", "{checkpoint_dir}"),
    resume=("--checkpoint-dir", "{checkpoint_dir}", "--resume", "{checkpoint}"),
)
SPEC = AgentSpec(
    name="robot",
    match=("robot",),
    command=("robot",),
    args=("--quiet",),
    model_flag="--model",
    prompt=PromptBy.ARGV,
    permission_args=("--allow",),
    strategies=(ASSIGN, CONTINUE),
)
