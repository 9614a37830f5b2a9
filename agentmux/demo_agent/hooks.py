"""Runs the hooks in the file of ``--settings``: commands for certain events of the agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.demo_agent.errors import WrongArgvError
from agentmux.demo_agent.work.commands import run

EVENTS: Final = frozenset({"SessionStart", "UserPromptSubmit", "Stop"})
"""The names of the events that can have a hook."""


class HookRunner:
    """Runs the command that is configured for an event, waits for it, and ignores its result."""

    def __init__(self, settings: str | None, env: Mapping[str, str]) -> None:
        """Read the settings file.

        Args:
            settings: The path of the file; None if there are no hooks.
            env: The environment variables of the commands.

        Raises:
            WrongArgvError: The file cannot be read, or names an unknown event.
        """
        self._env = dict(env)
        self._argv = _read(settings) if settings else {}

    def fire(self, event: str, **fields: str) -> None:
        """Run the command for an event and wait for its end; do nothing if the event has none.

        A command that fails or takes too long is not an error.

        Args:
            event: The event: ``SessionStart``, ``UserPromptSubmit`` or ``Stop``.
            fields: The fields of the JSON object that the command reads from stdin, in addition to
                ``hook_event_name``, which is the event.
        """
        if event in self._argv:
            run(self._argv[event], self._env, json.dumps({"hook_event_name": event, **fields}))


def _read(path: str) -> dict[str, list[str]]:
    try:
        hooks = json.loads(Path(path).read_text(encoding="utf-8")).get("hooks", {})
        argv = {event: [str(word) for word in words] for event, words in hooks.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise WrongArgvError(f"Error: settings {path}: {error}") from error
    if not EVENTS.issuperset(argv) or not all(argv.values()):
        raise WrongArgvError(f"Error: settings {path}: hooks are {', '.join(sorted(EVENTS))}")
    return argv
