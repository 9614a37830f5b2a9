"""The command line of an agent, built from its registry entry.

"Words" are elements of an argv; no word is interpreted by a shell.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from agentmux.core.agents.spec import (
    CHECKPOINT,
    SESSION_ID,
    AgentSpec,
    HookFormat,
    Hooks,
    ProbeResult,
    PromptBy,
    Strategy,
    is_session_ref,
)


def launch_argv(  # noqa: PLR0913 (one word of the command line each)
    spec: AgentSpec,
    strategy: Strategy,
    *,
    model: str | None = None,
    args: Sequence[str] = (),
    session_ref: str | None = None,
    checkpoint_dir: str | None = None,
    prompt: str | None = None,
) -> tuple[str, ...]:
    """Return the argv that starts an agent with a new conversation.

    Its words are, in this order: the command; the words for the model, the permissions and
    ``args``; the strategy's launch words; the prompt, if the agent takes it in its argv.

    Args:
        spec: The agent's registry entry.
        strategy: How the conversation will be resumed later.
        model: The model; None if the agent chooses. Left out if the agent has no option for it.
        args: Extra words from the user's configuration.
        session_ref: The id that AgentMux chose for the conversation (strategy *assign*).
        checkpoint_dir: The absolute path of the seat's own folder for checkpoints.
        prompt: The first prompt; left out if the agent does not take it in its argv. None if the
            agent gets it later.

    Raises:
        ValueError: The strategy needs a value that is None, or ``session_ref`` is not a valid id.
    """
    places = _places(session_ref, checkpoint_dir, None)
    words = tuple(_fill(word, places) for word in strategy.launch)
    prompted = prompt_words(spec, prompt, resuming=False)
    return (*spec.command, *_standing(spec, model, args), *words, *prompted)


def resume_argv(  # noqa: PLR0913 (what `launch_argv` takes, and a conversation)
    spec: AgentSpec,
    strategy: Strategy,
    *,
    model: str | None = None,
    args: Sequence[str] = (),
    session_ref: str | None = None,
    checkpoint_dir: str | None = None,
    checkpoint: str | None = None,
    prompt: str | None = None,
) -> tuple[str, ...]:
    """Return the argv that resumes a conversation.

    Its words are, in this order: the command; the words for the model, the permissions and
    ``args``; the strategy's resume words, which come before those if they begin with a subcommand;
    the prompt, if the agent takes it in its argv.

    Args:
        spec: The agent's registry entry.
        strategy: How the conversation is resumed.
        model: The model; None if the agent chooses. Left out if the agent has no option for it.
        args: Extra words from the user's configuration.
        session_ref: The id of the conversation. If it is not known yet, pass the placeholder
            `SESSION_ID`; the returned words then contain the placeholder.
        checkpoint_dir: The absolute path of the seat's own folder for checkpoints.
        checkpoint: The path of the file that holds the conversation (strategy *checkpoint*).
        prompt: The message to the resumed agent; left out if the agent does not take it in its
            argv. None if the agent gets it later.

    Raises:
        ValueError: The strategy cannot resume, it needs a value that is None, or ``session_ref`` is
            not a valid id.
    """
    if not strategy.resume:
        raise ValueError(f"{spec.name}: `{strategy.kind}` has no words to resume by")
    places = _places(session_ref, checkpoint_dir, checkpoint)
    words = tuple(_fill(word, places) for word in strategy.resume)
    standing = _standing(spec, model, args)
    prompted = prompt_words(spec, prompt, resuming=True)
    if strategy.resume_first:
        return (*spec.command, *words, *standing, *prompted)
    return (*spec.command, *standing, *words, *prompted)


def prompt_words(spec: AgentSpec, prompt: str | None, *, resuming: bool) -> tuple[str, ...]:
    """Return the argv words that pass ``prompt`` to the agent.

    Empty if ``prompt`` is None or if the agent does not take it in its argv.

    Args:
        spec: The agent's registry entry.
        prompt: The prompt, or None.
        resuming: True for the argv of a resume, False for that of a launch.
    """
    if prompt is None or spec.prompt_by(resuming=resuming) is not PromptBy.ARGV:
        return ()
    return (prompt,) if spec.prompt_flag is None else (spec.prompt_flag, prompt)


def strategy_env(
    spec: AgentSpec,
    strategy: Strategy,
    *,
    session_ref: str | None = None,
    checkpoint_dir: str | None = None,
) -> Mapping[str, str]:
    """Return the environment variables that ``spec`` and ``strategy`` set for the agent.

    If both set a variable, the value of ``strategy`` counts.

    Args:
        spec: The agent's registry entry.
        strategy: How the conversation is resumed, now or later.
        session_ref: The id of the conversation; None if it is not known.
        checkpoint_dir: The absolute path of the seat's own folder for checkpoints; None if it has
            none.

    Raises:
        ValueError: A variable needs a value that is None, or ``session_ref`` is not a valid id.
    """
    places = _places(session_ref, checkpoint_dir, None)
    return {**spec.env, **{name: _fill(word, places) for name, word in strategy.env.items()}}


def checkpoint_path(strategy: Strategy, session_ref: str | None, checkpoint_dir: str) -> str | None:
    """Return the path of the file below ``checkpoint_dir`` that holds the agent's conversation.

    Return None if the strategy's resume words name no such file, or if the file name contains the
    conversation's id and ``session_ref`` is None or not valid. The file may be missing: check that
    it exists, because without it some agents silently start an empty conversation.
    """
    known = session_ref is not None and is_session_ref(session_ref)
    places = _places(session_ref if known else None, checkpoint_dir, None)
    for word in strategy.resume:
        if word.startswith("{checkpoint_dir}/") and (known or SESSION_ID not in word):
            return _fill(word, places)
    return None


def _standing(spec: AgentSpec, model: str | None, args: Sequence[str]) -> tuple[str, ...]:
    """Return the argv words that are the same at launch and at resume."""
    chosen = (spec.model_flag, model) if spec.model_flag and model else ()
    return (*spec.args, *chosen, *spec.permission_args, *args)


_Places = Mapping[str, str | None]


def _places(session_ref: str | None, checkpoint_dir: str | None, checkpoint: str | None) -> _Places:
    if session_ref not in (None, SESSION_ID) and not is_session_ref(session_ref):
        raise ValueError(f"`{session_ref[:80]}` is not a conversation id")
    return {
        SESSION_ID: session_ref,
        "{checkpoint_dir}": checkpoint_dir,
        CHECKPOINT: checkpoint,
    }


def _fill(word: str, places: Mapping[str, str | None]) -> str:
    def value(found: re.Match[str]) -> str:
        filled = places[found[0]]
        if filled is None:
            raise ValueError(f"no value for {found[0]}")
        return filled

    # One pass, so that a placeholder inside a value is not replaced.
    return _any_of(*places).sub(value, word)


@functools.lru_cache(maxsize=8)
def _any_of(*places: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, places)))


def dir_words(spec: AgentSpec, probe: ProbeResult, folder: str) -> tuple[str, ...]:
    """Return the argv words that give the agent ``spec`` access to another folder than its own.

    Empty if the agent has no such option, or if ``probe`` says that the installed program does not
    support it. ``folder`` is an absolute path.
    """
    if spec.add_dir is None or probe.add_dir is False:
        return ()
    return tuple(_fill(word, {"{dir}": folder}) for word in spec.add_dir.args)


def mcp_words(spec: AgentSpec, server: Sequence[str], mcp_file: str) -> tuple[str, ...]:
    """Return the argv words that tell the agent about AgentMux's MCP server.

    Empty if the agent has no words for that. Put the words of the user's configuration after them.

    Args:
        spec: The agent's registry entry.
        server: The argv that starts the server.
        mcp_file: The path of the file with the text of `mcp_document`; `needs_mcp_file` says
            whether the agent needs this file.
    """
    if spec.mcp is None:
        return ()
    places = {
        "{mcp_file}": mcp_file,
        "{mcp_json}": mcp_document(server),
        "{mcp_command}": json.dumps(server[0]),
        "{mcp_args}": json.dumps(list(server[1:])),
    }
    return tuple(_fill(word, places) for word in spec.mcp.args)


def needs_mcp_file(spec: AgentSpec) -> bool:
    """Whether the text of `mcp_document` must be written to a file before the agent starts."""
    return spec.mcp is not None and any("{mcp_file}" in word for word in spec.mcp.args)


def mcp_document(server: Sequence[str]) -> str:
    """Return the JSON text that tells an agent how to start AgentMux's MCP server.

    The form is that of claude's MCP settings, which other agents read, too. ``server`` is the argv
    that starts the server.
    """
    entry = {"command": server[0], "args": list(server[1:])}
    return json.dumps({"mcpServers": {"agentmux": entry}})


HOOK_EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop")
"""The events of an agent at which it runs AgentMux's hook, as claude names them."""


def hook_words(spec: AgentSpec, command: Sequence[str], hook_file: str) -> tuple[str, ...]:
    """Return the argv words that make the agent run ``command`` as a hook.

    Empty if the agent has no hooks, or reads them from an environment variable (see `hook_env`).

    Args:
        spec: The agent's registry entry.
        command: The argv that the agent runs at its events.
        hook_file: The path of the file with the text of `hook_document`; `needs_hook_file` says
            whether the agent needs this file.
    """
    if spec.hooks is None or spec.hooks.format is HookFormat.VARIABLE:
        return ()
    if spec.hooks.format is HookFormat.NOTIFY:  # the value of a setting, in TOML
        return (spec.hooks.flag, f"notify={json.dumps(list(command))}")
    return (spec.hooks.flag, hook_file)


def hook_env(spec: AgentSpec, hook_file: str) -> Mapping[str, str]:
    """Return the environment variable that makes the agent run AgentMux's hooks, with its value.

    Empty if the agent has no hooks, or takes them in its argv (see `hook_words`). ``hook_file`` is
    the path of the file with the text of `hook_document`.
    """
    if spec.hooks is None or spec.hooks.format is not HookFormat.VARIABLE:
        return {}
    return {spec.hooks.flag: hook_file}


def needs_hook_file(spec: AgentSpec) -> bool:
    """Whether the text of `hook_document` must be written to a file before the agent starts."""
    return spec.hooks is not None and spec.hooks.format is not HookFormat.NOTIFY


def hook_document(hooks: Hooks, command: Sequence[str]) -> str:
    """Return the JSON text of the file that makes an agent run ``command`` at its `HOOK_EVENTS`.

    The agent passes the event's name and the conversation's id to the command, as JSON on stdin.
    Write no such file for `HookFormat.NOTIFY` (see `needs_hook_file`).

    Args:
        hooks: How the agent's hooks are configured; determines the form of the text.
        command: The argv that the agent runs at its events.
    """
    entry: Sequence[object] = list(command)
    if hooks.format is not HookFormat.ARGV:  # these formats take a shell command
        entry = [{"hooks": [{"type": "command", "command": shlex.join(command)}]}]
    return json.dumps({"hooks": dict.fromkeys(HOOK_EVENTS, entry)})
