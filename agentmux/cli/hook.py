"""``agentmux hook``: what an agent's hooks tell us, as a JSON object on standard input.

The form is that of Claude Code's hooks (``session_id``, ``hook_event_name``), which others follow.
An agent stops or shows an error where its hook fails: this never fails, and prints nothing.
Source: https://code.claude.com/docs/en/hooks.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from agentmux.adapters.clock import utc_now
from agentmux.adapters.signal_files import SignalFiles
from agentmux.adapters.wake import poke
from agentmux.app.submit import identity_from, is_conversation, report

INPUT_MAX: Final = 16 << 20
"""Bytes; a hook's input carries the prompt."""

PROMPTED: Final = "UserPromptSubmit"


def main(stdin: BinaryIO, environ: Mapping[str, str]) -> int:
    """Record what the hook tells, if it is news; always returns 0."""
    # Outside a pane, in a session that is gone, on a full disk: the agent must not suffer from it,
    # nor from a mistake of ours.
    with suppress(Exception):
        _record(stdin.read(INPUT_MAX), environ)
    return 0


def _record(data: bytes, environ: Mapping[str, str]) -> None:
    fields = json.loads(data)
    if not isinstance(fields, dict):
        return
    identity = identity_from(environ, command="agentmux hook")
    said = fields.get("session_id")
    conversation = said if isinstance(said, str) and is_conversation(said) else ""
    report(
        SignalFiles(Path(identity.session_dir)),
        replace(identity, conversation=conversation),
        evidence=f"hook {PROMPTED}" if fields.get("hook_event_name") == PROMPTED else "",
        at=utc_now(),
        new_id=lambda: str(uuid.uuid4()),
        poke=poke,
    )
