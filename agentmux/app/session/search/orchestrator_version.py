"""Live sessions whose orchestrator runs another version of AgentMux, as after an upgrade.

Such an orchestrator keeps running the program with which it began. It does not know what later
versions added to decisions, and the files of its own version are gone from the disk. Signals of
agents still count. The user can look at such a session and stop it, but can decide only after a
resume.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.names.version import VERSION
from agentmux.core.names.words.session_commands import stop_and_resume
from agentmux.errors import BlockedError
from agentmux.ports.processes import Lock

UNNOTED: Final = "older"
"""The version that is assumed for an orchestrator that noted none, as in AgentMux 0.1.0."""


def other_version(note: Mapping[str, object] | None) -> str | None:
    """Return the version of the orchestrator that wrote ``note``; None if it is this program's.

    Also None if the note is not an orchestrator's; ``older`` (`UNNOTED`) if it names no version.

    Args:
        note: The note that the holder of the session's lock wrote about itself; None if there is
            none.
    """
    if note is None or "orchestrator_pid" not in note:
        return None
    version = note.get("version")
    if version == VERSION:
        return None
    return version if isinstance(version, str) and version else UNNOTED


def other_version_label(version: str) -> str:
    """Return a sentence with both versions: that of the orchestrator, and this program's.

    ``version`` is the result of `other_version`.
    """
    return f"its orchestrator is of {_as_words(version)}; this is AgentMux {VERSION}"


def require_own_version(lock: Lock, session: str) -> None:
    """Check that no orchestrator of another version of AgentMux holds the session's lock.

    Args:
        lock: The session's lock.
        session: The session's name, for the message.

    Raises:
        BlockedError: One does; the error's reason is ``version``.
    """
    version = other_version(lock.holder()) if lock.is_held() else None
    if version is None:
        return
    raise BlockedError(
        f"the orchestrator of session {session} is of {_as_words(version)}, and this is AgentMux "
        f"{VERSION}: it would not do all that is asked of it here",
        reason="version",
        hints=(stop_and_resume(session),),
    )


def _as_words(version: str) -> str:
    return "an older AgentMux" if version == UNNOTED else f"AgentMux {version}"
