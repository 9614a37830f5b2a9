"""Whether a session's own worktree is still there."""

from pathlib import Path

import pytest

from agentmux.app.session.workplace.own_worktree import has_lost_worktree
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase


@pytest.mark.parametrize(
    ("place", "lost"), [("there", False), ("away", True), ("file/x", True), ("x" * 300, False)]
)
def test_only_what_is_not_there_is_lost(tmp_path: Path, place: str, lost: bool) -> None:
    """A path with a name that is too long can never be read, whoever the user is."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there/.git").write_text("gitdir: /elsewhere\n")
    (tmp_path / "file").touch()
    state = SessionState(phase=Phase.PLANNING, worktree=str(tmp_path / place), worktree_made=True)
    assert has_lost_worktree(state) is lost
