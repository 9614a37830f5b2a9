"""Which orchestrators count as those of another version."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from agentmux.adapters.disk.lock import SessionLock
from agentmux.app.session.search.orchestrator_version import (
    UNNOTED,
    other_version,
    other_version_label,
    require_own_version,
)
from agentmux.core.names.version import VERSION
from agentmux.errors import BlockedError

OURS = {"orchestrator_pid": 7, "version": VERSION}


@pytest.mark.parametrize(
    ("note", "found"),
    [
        (None, None),
        ({}, None),
        ({"command": "resume --reattach"}, None),  # of a command, not of an orchestrator
        (OURS, None),
        ({"orchestrator_pid": 7}, UNNOTED),
        ({"orchestrator_pid": 7, "version": 3}, UNNOTED),
        ({"orchestrator_pid": 7, "version": "9.0"}, "9.0"),
    ],
)
def test_only_an_orchestrator_of_another_version_has_another_version(
    note: Mapping[str, object] | None, found: str | None
) -> None:
    assert other_version(note) == found


def test_the_version_is_said_where_it_is_known() -> None:
    assert "of an older AgentMux; this is" in other_version_label(UNNOTED)
    assert f"of AgentMux 9.0; this is AgentMux {VERSION}" in other_version_label("9.0")


def test_a_note_counts_while_the_lock_is_held(tmp_path: Path) -> None:
    lock, holder = SessionLock(tmp_path), SessionLock(tmp_path)
    require_own_version(lock, "s")
    holder.acquire(0, OURS)
    require_own_version(lock, "s")
    holder.release()
    holder.acquire(0, {**OURS, "version": "9.0"})
    with pytest.raises(BlockedError, match=r"of session s is of AgentMux 9\.0") as refused:
        require_own_version(lock, "s")
    assert refused.value.reason == "version"
    holder.release(keep_note=True)
    require_own_version(lock, "s")
