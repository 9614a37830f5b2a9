"""The hooks in the file of ``--settings``: commands to run at certain events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.demo_agent.errors import WrongArgvError
from agentmux.demo_agent.work.commands import run

EVENTS: Final = frozenset({"SessionStart", "UserPromptSubmit", "Stop"})


class HookRunner:
    """Runs the command that is configured for an event, waits for it, and ignores its result."""

    def __init__(self, settings: str | None, env: Mapping[str, str]) -> None:
        """Read the settings file.

        Args:
            settings: Path of the file; None: no hooks.
            env: Environment of the commands.

        Raises:
            WrongArgvError: The file cannot be read, or names an unknown event.
        """
        self._env = dict(env)
        self._argv = _read(settings) if settings else {}

    def fire(self, event: str, **fields: str) -> None:
        """Run the command for ``event``, if any, with the fields as a JSON object on stdin."""
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
