"""The command line of an agent, made of its registry entry.

Every word made here is one element of an argv; none of them ever passes through a shell.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from agentmux.core.agents.spec import (
    AgentSpec,
    HookFormat,
    Hooks,
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
    """Return the argv of a first start: command, model, permission and user words, launch, prompt.

    ``session_ref`` is the id minted for the conversation (*assign*), ``checkpoint_dir`` the seat's
    own folder, absolute. The prompt is left out where the agent does not take it in argv.

    Raises:
        ValueError: The strategy needs a value that was not given, or the id is none.
    """
    places = _places(session_ref, checkpoint_dir, None)
    words = tuple(_fill(word, places) for word in strategy.launch)
    prompted = prompt_words(spec, prompt, resuming=False)
    return (*spec.command, *_standing(spec, model, args), *words, *prompted)


def resume_argv(  # noqa: PLR0913 (one word of the command line each)
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
    """Return the argv that brings the conversation back; the launch words are not in it.

    Raises:
        ValueError: The strategy cannot resume, or needs a value that was not given.
    """
    if not strategy.resume:
        raise ValueError(f"{spec.name}: strategy {strategy.kind} has no resume words")
    places = _places(session_ref, checkpoint_dir, checkpoint)
    words = tuple(_fill(word, places) for word in strategy.resume)
    standing = _standing(spec, model, args)
    prompted = prompt_words(spec, prompt, resuming=True)
    if strategy.resume_first:
        return (*spec.command, *words, *standing, *prompted)
    return (*spec.command, *standing, *words, *prompted)


def prompt_words(spec: AgentSpec, prompt: str | None, *, resuming: bool) -> tuple[str, ...]:
    """Return the words that hand over ``prompt``; none where it is pasted or piped instead."""
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
    """Return the variables that the agent gets on top of its environment.

    Raises:
        ValueError: As in `launch_argv`.
    """
    places = _places(session_ref, checkpoint_dir, None)
    return {**spec.env, **{name: _fill(word, places) for name, word in strategy.env.items()}}


def kept_file(strategy: Strategy, session_ref: str | None, checkpoint_dir: str) -> str | None:
    """Return the path of the one file below ``checkpoint_dir`` that resuming opens.

    None where there is no such file, or no id that could name it. Some agents start an empty
    conversation, without a word, when it is gone; so look whether it exists.
    """
    known = session_ref is not None and is_session_ref(session_ref)
    places = _places(session_ref if known else None, checkpoint_dir, None)
    for word in strategy.resume:
        if word.startswith("{checkpoint_dir}/") and (known or "{session_id}" not in word):
            return _fill(word, places)
    return None


def _standing(spec: AgentSpec, model: str | None, args: Sequence[str]) -> tuple[str, ...]:
    """Return the words that are the same at launch and at resume."""
    chosen = (spec.model_flag, model) if spec.model_flag and model else ()
    return (*spec.args, *chosen, *spec.permission_args, *args)


_Places = Mapping[str, str | None]


def _places(session_ref: str | None, checkpoint_dir: str | None, checkpoint: str | None) -> _Places:
    if session_ref is not None and not is_session_ref(session_ref):
        raise ValueError(f"`{session_ref[:80]}` is not a conversation id")
    return {
        "{session_id}": session_ref,
        "{checkpoint_dir}": checkpoint_dir,
        "{checkpoint}": checkpoint,
    }


def _fill(word: str, places: Mapping[str, str | None]) -> str:
    def value(found: re.Match[str]) -> str:
        filled = places[found[0]]
        if filled is None:
            raise ValueError(f"no value for {found[0]}")
        return filled

    # One pass, so that a value that looks like a place is left as it is.
    return re.sub("|".join(map(re.escape, places)), value, word)


def mcp_words(spec: AgentSpec, server: Sequence[str], mcp_file: str) -> tuple[str, ...]:
    """Return the words that tell the agent about our server; they go in front of the user's.

    ``server`` is the argv of our server, ``mcp_file`` where `mcp_document` lies (see
    `needs_mcp_file`).
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
    """Whether `mcp_document` must be written before the launch."""
    return spec.mcp is not None and any("{mcp_file}" in word for word in spec.mcp.args)


def mcp_document(server: Sequence[str]) -> str:
    """Return the JSON that names our server, in the form that claude began and others read."""
    entry = {"command": server[0], "args": list(server[1:])}
    return json.dumps({"mcpServers": {"agentmux": entry}})


HOOK_EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop")


def hook_words(spec: AgentSpec, command: Sequence[str], hook_file: str) -> tuple[str, ...]:
    """Return the words that make the agent run ``command``.

    ``hook_file`` is where `hook_document` lies (see `needs_hook_file`).
    """
    if spec.hooks is None or spec.hooks.format is HookFormat.VARIABLE:
        return ()
    if spec.hooks.format is HookFormat.NOTIFY:  # the value of a setting, in TOML
        return (spec.hooks.flag, f"notify={json.dumps(list(command))}")
    return (spec.hooks.flag, hook_file)


def hook_env(spec: AgentSpec, hook_file: str) -> Mapping[str, str]:
    """Return the variable that makes the agent call us; see `hook_words`."""
    if spec.hooks is None or spec.hooks.format is not HookFormat.VARIABLE:
        return {}
    return {spec.hooks.flag: hook_file}


def needs_hook_file(spec: AgentSpec) -> bool:
    """Whether `hook_document` must be written before the launch."""
    return spec.hooks is not None and spec.hooks.format is not HookFormat.NOTIFY


def hook_document(hooks: Hooks, command: Sequence[str]) -> str:
    """Return the text of a file that makes the agent run ``command`` at `HOOK_EVENTS`.

    The event's name and the conversation's id come to the command as JSON on its stdin.
    """
    entry: Sequence[object] = list(command)
    if hooks.format is not HookFormat.ARGV:  # a shell line there
        entry = [{"hooks": [{"type": "command", "command": shlex.join(command)}]}]
    return json.dumps({"hooks": dict.fromkeys(HOOK_EVENTS, entry)})
