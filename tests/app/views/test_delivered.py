"""Waiting for a delivery ends when the session's files say that it is done."""

import os
import time
from pathlib import Path

import pytest

from agentmux.app.session.lookup import entry_at, sessions_dir
from agentmux.app.views.delivered import wait_delivered
from agentmux.core.journal.events import Approved, CommitMade
from agentmux.core.journal.state import Options
from agentmux.core.names.phase import Phase
from agentmux.errors import TimedOutError
from agentmux.wiring import build
from tests.app.on_disk import OnDisk


def test_a_delivery_is_over_when_the_state_is_saved(tmp_path: Path) -> None:
    session = OnDisk(
        sessions_dir(tmp_path) / "20260101-101500-x",
        Phase.COMPLETING,
        summary_submitted=True,
        options=Options(commit=True),
    )
    session.tell(Approved())
    session.commit()
    approval = session.state.approval or ""
    site = build.site(tmp_path, config=None, environ=dict(os.environ))

    def waited() -> str:
        entry = entry_at(site, session.path)
        found = wait_delivered(site, entry, approval, timeout_s=0, monotonic=time.monotonic)
        return str(found.commit and found.commit.commit)

    session.tell(CommitMade(commit="c" * 40))
    with pytest.raises(TimedOutError):
        waited()
    session.commit()
    assert waited() == "c" * 40
