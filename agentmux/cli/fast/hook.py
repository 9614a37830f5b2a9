"""``agentmux hook``: records the conversation and the turn that an agent's own hook reports.

The report is a JSON object. Claude Code and the agents that follow it send it on standard input,
with fields such as ``session_id`` and ``hook_event_name``. Codex passes it as the only argument of
its ``notify`` program; the program of the user's own ``notify`` setting is then run, too. An agent
may stop if its hook fails, so this command never fails and prints nothing.
Source: https://code.claude.com/docs/en/hooks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from agentmux.adapters.disk.session.signal_files import FileSignals
from agentmux.adapters.system.clock import utc_now
from agentmux.adapters.system.codex_notify import run_own_notify
from agentmux.adapters.system.ids import new_id
from agentmux.adapters.wake.pipe import poke
from agentmux.app.signals.submission import identity_from, is_conversation, note_turn, report
from agentmux.core.codec.frozen import replace
from agentmux.core.names.turn import Turn

INPUT_MAX: Final = 16 << 20
"""The most bytes of a report that are read; a report contains the whole prompt."""

PROMPTED: Final = frozenset({"UserPromptSubmit", "BeforeAgent"})
"""The names of the hook events that report the begin of a turn."""

ENDED: Final = frozenset({"Stop", "AfterAgent"})
"""The names of the hook events that report the end of a turn."""

NOTIFIED: Final = "agent-turn-complete"
"""The type of codex's report at the end of a turn."""

_AT_WORK: Final = ("background_tasks", "session_crons")
"""The fields of a report that list work which goes on after the end of the turn.

If one of them is not empty, the agent is still working.
"""


def main(argv: Sequence[str], stdin: BinaryIO, environ: Mapping[str, str]) -> int:
    """Record what a hook reports about its agent's conversation and turn; always return 0.

    With a report in ``argv``, which only the agent codex passes, also start the program in the
    user's own ``notify`` setting of codex, if there is one, and do not wait for its end.

    Args:
        argv: The report, a JSON object, as the only argument; empty if the agent passes none.
        stdin: The stream from which the report is read if ``argv`` is empty.
        environ: Environment of this process; ``AGENTMUX_SESSION_DIR`` and the like in it name the
            session and the launch. Without them, nothing is recorded.
    """
    # The agent must not suffer from a missing pane or session, a full disk, or a bug of ours.
    with suppress(Exception):
        _record(argv[0].encode() if argv else stdin.read(INPUT_MAX), environ)
    if argv:
        run_own_notify(argv[0], environ)
    return 0


def _record(data: bytes, environ: Mapping[str, str]) -> None:
    fields = json.loads(data)
    if not isinstance(fields, dict):
        return
    identity = identity_from(environ, command="agentmux hook")
    files = FileSignals(Path(identity.session_dir))
    if fields.get("type") == NOTIFIED:  # codex sends it for side threads, too
        identity = replace(identity, conversation=str(fields.get("thread-id", "")))
        turn = _turn(_last(fields), identity.session_dir, over=True)
        note_turn(files, identity, turn, known=True)
        return
    event, session_id = fields.get("hook_event_name"), fields.get("session_id")
    conversation = session_id if isinstance(session_id, str) and is_conversation(session_id) else ""
    report(
        files,
        replace(identity, conversation=conversation),
        evidence=f"hook {event}" if event in PROMPTED else "",
        at=utc_now(),
        new_id=new_id,
        poke=poke,
    )
    if event in PROMPTED and fields.get("prompt"):  # qwen's next step of a turn has an empty one
        note_turn(files, identity, _turn(fields.get("prompt"), identity.session_dir, over=False))
    elif event in ENDED and not any(fields.get(each) for each in _AT_WORK):
        note_turn(files, identity, Turn.ENDED)


def _turn(prompt: object, session_dir: str, *, over: bool) -> Turn:
    """Return the turn of an agent: who began it, and whether it is over.

    AgentMux began it if the prompt names a file in the session's directory, else the user did.

    Args:
        prompt: The prompt that began the turn, as the hook reports it; may be missing.
        session_dir: The session's directory.
        over: Whether the turn is over.
    """
    if not isinstance(prompt, str) or session_dir not in prompt:
        return Turn.OF_USER
    return Turn.ENDED if over else Turn.BEGUN


def _last(fields: Mapping[str, Any]) -> object:
    messages = fields.get("input-messages")
    return messages[-1] if isinstance(messages, list) and messages else None
