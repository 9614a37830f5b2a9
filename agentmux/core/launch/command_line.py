"""The command lines with which an agent's program is started, and their files and variables."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from agentmux.core.agents.command_lines import (
    dir_words,
    hook_document,
    hook_env,
    hook_words,
    launch_argv,
    mcp_document,
    mcp_words,
    needs_hook_file,
    needs_mcp_file,
    resume_argv,
)
from agentmux.core.agents.spec import SESSION_ID, StrategyKind, is_session_ref
from agentmux.core.codec.frozen import dataclass
from agentmux.core.conversation.resume_record import ResumeRecord
from agentmux.core.launch.facts import LaunchFacts

_MCP: Final = "mcp.json"
_HOOKS: Final = "hooks.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCommand:
    """The command lines of an agent's program for one launch, without a prompt.

    Each command line is a sequence of words, which begins with the program.

    Attributes:
        begin: The command line that begins a new conversation; empty if no agent can play the seat.
        resume: The command line that later resumes this new conversation, with ``{session_id}`` in
            it if the id is not known yet; empty if the agent cannot resume.
        latest: The command line that resumes the agent's latest conversation. It is used as long as
            the id of the new one is not known; empty for agents that do not need it.
        configured_resume: The command line that resumes the earlier conversation as the setting
            ``resume.commands`` says; None if there is none or the setting does not apply.
        files: The contents of the files in the launch folder that the command lines refer to, by
            name.
        env: The environment variable, by its name, that makes the agent run our hook. Empty if the
            agent needs none, or if the user has set up hooks. It applies to this launch only and is
            not part of the resume record.
    """

    begin: tuple[str, ...]
    resume: tuple[str, ...]
    latest: tuple[str, ...]
    configured_resume: tuple[str, ...] | None
    files: Mapping[str, str]
    env: Mapping[str, str]


def agent_command(facts: LaunchFacts) -> AgentCommand:
    """Return the command lines with which the agent of the launch's seat can be started.

    Nothing is started or written; `AgentCommand.files` has the contents of their files.
    """
    around, player, spec = facts.session_facts, facts.player, facts.player.spec
    earlier, files, hook_file = _to_restate(facts), _files(facts), f"{facts.folder}/{_HOOKS}"
    args = (
        *mcp_words(spec, around.mcp_server, f"{facts.folder}/{_MCP}"),
        *hook_words(spec, around.hook, hook_file),
        *(() if around.is_inside else dir_words(spec, player.probe, around.session)),
        *player.args,
    )
    ref, model, folder = facts.new_conversation, player.model, player.checkpoint_dir
    begin = resume = latest = tuple[str, ...]()
    restated: tuple[str, ...] | None = None
    if player.can_play:
        begin = launch_argv(
            *(spec, player.strategy), model=model, args=args, session_ref=ref, checkpoint_dir=folder
        )
    resumes = functools.partial(resume_argv, spec, args=args, checkpoint_dir=folder)
    if player.strategy.resume:
        kept = player.checkpoint_file or None
        resume = resumes(
            player.strategy, model=model, session_ref=ref or SESSION_ID, checkpoint=kept
        )
    if player.strategy.kind is StrategyKind.LEARN:
        strategies = (each for each in spec.strategies if each.kind is StrategyKind.CONTINUE)
        latest = next((resumes(each, model=model) for each in strategies), ())
    if earlier is not None:
        known = earlier.session_ref if is_session_ref(earlier.session_ref or "") else SESSION_ID
        restated = player.preferred_strategy.resume and resumes(
            player.preferred_strategy,
            model=earlier.model,
            session_ref=known,
            checkpoint=earlier.checkpoint or None,
        )
    return AgentCommand(
        begin=begin,
        resume=resume,
        latest=latest,
        configured_resume=restated,
        files=files,
        env={} if facts.has_own_hooks else hook_env(spec, hook_file),
    )


def _to_restate(facts: LaunchFacts) -> ResumeRecord | None:
    """Return the record of the seat's earlier conversation if ``resume.commands`` applies to it.

    None if the setting does not name the agent's program, or if another agent played the seat last.
    """
    record, player = facts.history.record, facts.player
    named = player.program in facts.session_facts.resume.commands
    same = record is not None and record.agent == player.name
    return facts.history.deciding_record if named and same else None


def _files(facts: LaunchFacts) -> Mapping[str, str]:
    spec, around, files = facts.player.spec, facts.session_facts, dict[str, str]()
    if needs_mcp_file(spec):
        files[_MCP] = mcp_document(around.mcp_server)
    if spec.hooks is not None and needs_hook_file(spec):
        files[_HOOKS] = hook_document(spec.hooks, around.hook)
    return files
