"""A worker runs features as `start` would, and its crashes lose and repeat nothing."""

import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from agentmux.core.fleet.lease import LAPSED, decode
from agentmux.core.fleet.routing import HEARTBEAT_S
from agentmux.fleet.decisions import deciding
from agentmux.fleet.decisions.deciding import GivenDecision
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import engine_for
from agentmux.fleet.engine.tables import HOSTS
from agentmux.fleet.queue import listing
from tests.conftest import WaitUntil
from tests.faults.freezing import frozen
from tests.fleet.conftest import FleetHost, Worker

pytestmark = pytest.mark.rare("CI runs it on PostgreSQL: ./dev test-fleet --short")


def test_a_worker_killed_at_each_turn_leaves_one_session_and_one_commit(
    host: FleetHost, wait_until: WaitUntil
) -> None:
    feature = host.submit("--key", "greeting")
    assert host.submit("--key", "greeting") == feature

    def killed_at(command: str) -> None:
        """Kill a new worker while a command of it runs, which goes on by itself."""
        worker = host.worker()
        wait_until(lambda: _runs(host, command))
        worker.kill()

    killed_at("start")
    following = host.worker()
    host.until_session(feature)
    second = Worker(host)
    assert second.wait() == 3
    assert "a worker of this host runs already" in second.said()
    following.kill()
    session = host.session(feature).wait("decision")
    host.worker()
    shown = host.until(feature, "waiting")
    assert "to be committed" in "\n".join(shown["question"]["lines"])
    host.workers[-1].kill()

    host.ok("approve", feature[:8], "--yes")
    killed_at("approve")
    host.worker()
    done = host.until(feature, "done", "failed", "waiting")
    assert done["status"] == "done", f"{done}\n{host.log()}"
    assert host.commits() == ["add a greeting"]
    assert (
        done["result"]["commit"] == host.project.git("rev-parse", session.state["branch"]).strip()
    )
    assert [each["status"] for each in done["decisions"]] == ["delivered"]
    assert host.project.sessions() == [session.path]
    assert session.kinds("session_started", "approve") == ["session_started", "approve"]


def _runs(host: FleetHost, command: str) -> bool:
    """Return whether a worker's command runs, such as ``start``."""
    for pid, _ in host.project.processes():
        with suppress(OSError):  # it has ended
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if command.encode() in words and b"--json" in words:
                return True
    return False


def test_a_session_whose_tmux_server_was_killed_is_resumed(
    host: FleetHost, wait_until: WaitUntil
) -> None:
    feature = host.submit()
    worker = host.worker()
    host.until_session(feature)
    worker.kill()
    host.project.tmux("kill-server")
    host.worker()
    host.until(feature, "waiting")
    assert host.session(feature).kinds("resumed") == ["resumed"]


def test_a_free_slot_is_told_before_the_next_regular_beat(
    host: FleetHost, engine: sa.Engine, wait_until: WaitUntil
) -> None:
    beats: list[float] = []
    was_busy = False

    def is_free_again() -> bool:
        nonlocal was_busy
        with engine.connect() as connection:
            busy, seen_at = connection.execute(sa.select(HOSTS.c.busy, HOSTS.c.seen_at)).one()
        if seen_at not in beats:
            beats.append(seen_at)
        was_busy = was_busy or bool(busy)
        return was_busy and not busy

    host.worker()
    host.submit()
    wait_until(is_free_again)
    assert beats[-1] - beats[-2] < HEARTBEAT_S


def test_a_decision_on_another_result_is_refused_by_the_host(host: FleetHost) -> None:
    feature = host.submit()
    host.worker()
    shown = host.until(feature, "waiting")
    stale = host.fails(3, "approve", feature, "--yes", "--digest", "0123456789")
    assert "not what was shown" in stale

    session = host.session(feature)
    (host.project.path / session.state["worktree"] / "later.py").write_text("a = 1\n")
    host.ok("approve", feature, "--yes", "--digest", shown["question"]["digest"])
    again = host.until(feature, "waiting", "done", "failed")
    assert again["status"] == "waiting"
    assert again["decisions"][0]["status"] == "refused"
    assert "not what was shown" in again["decisions"][0]["answer"]
    assert again["question"]["digest"] != shown["question"]["digest"]
    assert host.commits() == []


def test_a_session_whose_lease_has_lapsed_does_not_act(
    host: FleetHost, wait_until: WaitUntil
) -> None:
    host.allow(str(host.project.path), lease_s=6)
    feature = host.submit()
    worker = host.worker()
    host.until(feature, "waiting")
    session = host.session(feature)
    worker.signal(signal.SIGSTOP)
    wait_until(lambda: _has_lapsed(session.read("lease")))
    errors = host.project.root / "approve.err"
    approving = _approving(host, session.name, errors)
    wait_until(lambda: f"waits: {LAPSED}\n" in errors.read_text())
    wait_until(lambda: "lease" in host.project.run("status", session.name).stdout)
    assert host.commits() == []
    assert session.state["phase"] != "done"

    worker.signal(signal.SIGCONT)
    host.until(feature, "done")
    assert approving.wait(60) == 0
    assert errors.read_text().count("waits: ") == 1
    assert host.commits() == ["add a greeting"]


def test_an_orchestrator_that_was_frozen_beyond_its_lease_does_not_act(
    host: FleetHost, wait_until: WaitUntil
) -> None:
    host.allow(str(host.project.path), lease_s=6)
    feature = host.submit()
    worker = host.worker()
    host.until(feature, "waiting")
    session = host.session(feature)
    with frozen(session.runtime["orchestrator_pid"]):
        approving = _approving(host, session.name, host.project.root / "approve.err")
        wait_until(lambda: session.kinds("approve"))
        worker.signal(signal.SIGSTOP)
        wait_until(lambda: _has_lapsed(session.read("lease")))
    wait_until(lambda: session.state["approval"])  # the orchestrator has read it
    read_at = time.monotonic()
    wait_until(lambda: host.commits() or time.monotonic() > read_at + 5)
    assert host.commits() == []

    worker.signal(signal.SIGCONT)
    host.until(feature, "done")
    assert approving.wait(60) == 0
    assert host.commits() == ["add a greeting"]


def _approving(host: FleetHost, session: str, errors: Path) -> subprocess.Popen[bytes]:
    """Approve in a process of its own, which writes its errors into a file."""
    with errors.open("wb") as told:
        return subprocess.Popen(
            [sys.executable, "-m", "agentmux", "approve", session, "--yes"],
            cwd=host.project.path,
            env=host.project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=told,
        )


def _has_lapsed(text: str) -> bool:
    found = decode(text.encode())
    return found is not None and found.until < datetime.now(UTC)


@pytest.mark.follows(
    "to go on with it: agentmux fleet retry …",
    "the fleet has no features: agentmux fleet submit …",
    "…, once its worker runs: agentmux fleet worker, on …",
)
def test_a_cancelled_feature_stops_and_a_retry_resumes_it(
    host: FleetHost, wait_until: WaitUntil
) -> None:
    feature = host.submit()
    host.worker()
    host.until_session(feature)
    host.ok("cancel", feature)
    shown = host.until(feature, "failed")
    assert shown["reason"] == "cancelled"
    assert "agentmux" not in host.project.program("tmux", "list-sessions").stdout
    assert "is failed already" in host.fails(3, "cancel", feature)

    host.ok("retry", feature)
    host.until(feature, "waiting")
    assert host.commits() == []
    assert "only one that has failed" in host.fails(3, "retry", feature)


@pytest.mark.follows('to ask for changes: agentmux fleet request-changes … "…"')
def test_changes_requested_elsewhere_begin_another_cycle(host: FleetHost) -> None:
    feature = host.submit()
    worker = host.worker()
    shown = host.until(feature, "waiting")
    worker.kill()
    engine = engine_for(host.database)
    given = GivenDecision(
        kind=rows.CHANGES, digest=shown["question"]["digest"], text="say it louder"
    )
    deciding.decide(engine, listing.find(engine, feature), given)
    engine.dispose()
    host.worker()
    again = host.until(feature, "waiting", "failed")
    assert (again["question"] or {}).get("cycle") == 2, f"{again}\n{host.log()}"
