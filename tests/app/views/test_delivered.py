"""Waiting for a delivery ends when the session's files say that it is done."""

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.app.session.search.lookup import entry_at, sessions_dir
from agentmux.app.views.session.delivered import DeliveryFailedError, wait_delivered
from agentmux.app.world import Site
from agentmux.core.journal.events import Approved, CommitDelayed, CommitMade
from agentmux.core.journal.state import Options, SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.errors import TimedOutError
from agentmux.ports.processes import Lock
from agentmux.wiring import build
from tests.app.on_disk import OnDisk


def approved(root: Path) -> OnDisk:
    session = OnDisk(
        sessions_dir(root) / "20260101-101500-x",
        Phase.COMPLETING,
        summary_submitted=True,
        options=Options(commit=True),
    )
    session.tell(Approved())
    session.commit()
    return session


def site_at(root: Path) -> Site:
    return build.site(root, config=None, environ=dict(os.environ))


def waits(
    root: Path,
    session: OnDisk,
    approval: str,
    timeout_s: float = 0,
    site: Site | None = None,
    say: Callable[[str], object] = print,
) -> SessionState:
    site = site or site_at(root)
    entry = entry_at(site, session.path)
    return wait_delivered(
        *(site, entry, approval), timeout_s=timeout_s, monotonic=time.monotonic, say=say
    )


def test_a_delivery_is_over_when_the_state_is_saved(tmp_path: Path) -> None:
    session = approved(tmp_path)
    approval = session.state.approval or ""
    session.tell(CommitMade(commit="c" * 40))
    with pytest.raises(TimedOutError):
        waits(tmp_path, session, approval)
    session.commit()
    found = waits(tmp_path, session, approval)
    assert found.commit is not None
    assert found.commit.commit == "c" * 40


def test_an_approval_that_another_decision_has_replaced_has_failed(tmp_path: Path) -> None:
    session = approved(tmp_path)
    with pytest.raises(DeliveryFailedError, match="the session goes on without it"):
        waits(tmp_path, session, "an earlier one")


def test_without_an_orchestrator_nobody_is_waited_for(tmp_path: Path) -> None:
    session = approved(tmp_path)
    with pytest.raises(TimedOutError, match="has ended; its next one goes on"):
        waits(tmp_path, session, session.state.approval or "", 3)


def test_an_orchestrator_that_saves_and_ends_between_two_looks_has_delivered(
    tmp_path: Path,
) -> None:
    session = approved(tmp_path)
    approval = session.state.approval or ""
    site = site_at(tmp_path)

    def ends(path: Path) -> Lock:
        if session.state.commit is None:
            session.tell(CommitMade(commit="c" * 40))
            session.commit()
        return site.locks.session(path)

    found = waits(
        tmp_path, session, approval, 3, replace(site, locks=replace(site.locks, session=ends))
    )
    assert found.commit is not None
    assert found.commit.commit == "c" * 40


def test_what_a_delivery_waits_for_is_said_once_and_only_by_the_orchestrator_at_work(
    tmp_path: Path,
) -> None:
    session = approved(tmp_path)
    approval = session.state.approval or ""
    site, said = site_at(tmp_path), list[str]()
    note = {"orchestrator_pid": os.getpid() + 1, "problem": "of an earlier one"}
    (session.path / layout.RUNTIME).write_text(json.dumps(note))
    held = site.locks.session(session.path)
    held.acquire(1, {"pid": os.getpid()})

    def follow(_: Path, __: float) -> Iterator[None]:
        yield
        noted = note | {"orchestrator_pid": os.getpid(), "problem": "its lease has lapsed"}
        (session.path / layout.RUNTIME).write_text(json.dumps(noted))
        yield
        yield
        session.tell(CommitDelayed(reason="the index is locked"))
        session.commit()
        yield
        session.tell(CommitMade(commit="c" * 40))
        session.commit()
        yield

    waits(tmp_path, session, approval, 60, replace(site, follow=follow), said.append)
    held.release()
    assert said == ["its lease has lapsed", "the commit waits: the index is locked"]


def test_what_a_delivery_does_is_said_where_it_takes_too_long(tmp_path: Path) -> None:
    session = approved(tmp_path)
    approval = session.state.approval or ""
    with pytest.raises(TimedOutError, match="is still at work after 0 s: it commits"):
        waits(tmp_path, session, approval)
    session.tell(CommitDelayed(reason="the index is locked"))
    session.commit()
    with pytest.raises(TimedOutError, match="the commit waits: the index is locked"):
        waits(tmp_path, session, approval)
