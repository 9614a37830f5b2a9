"""Session folders: which commands may still be waiting for an orchestrator to start."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from freezegun import freeze_time

from agentmux.adapters.disk.session.handover import ReadyPipe
from agentmux.adapters.disk.session.session_folders import STARTING_S, starters

AT_S = 1_767_262_500.0


@pytest.mark.parametrize(
    ("later_s", "found"),
    [(0.0, True), (STARTING_S - 1, True), (STARTING_S + 1, False), (-STARTING_S - 1, False)],
)
def test_a_command_that_began_to_start_a_session_counts_for_a_while(
    short_dir: Path, later_s: float, found: bool
) -> None:
    """If the clock was set back, the command must not count forever."""
    pipe = ReadyPipe(short_dir, {})
    os.utime(short_dir, (AT_S, AT_S))
    with freeze_time(datetime.fromtimestamp(AT_S + later_s, UTC)):
        assert [pid for pid, _ in starters(short_dir)] == ([os.getpid()] if found else [])
    pipe.close()


def test_a_folder_that_is_gone_has_no_starters(short_dir: Path) -> None:
    assert starters(short_dir / "gone") == ()
