"""A worker that is killed between any two of its writes loses nothing and repeats nothing."""

import signal

import pytest

from tests.conftest import WaitUntil
from tests.fleet.conftest import FleetHost, Worker

pytestmark = pytest.mark.long


def test_a_worker_killed_before_each_of_its_writes_makes_one_commit(
    host: FleetHost, wait_until: WaitUntil
) -> None:
    def killed_until(status: str) -> int:
        """Kill a worker before each of its writes until one gets there; return how many died."""
        for number in range(1, 30):
            worker = Worker(host, dies_at=number)
            host.workers.append(worker)
            wait_until(lambda w=worker: w.has_ended() or _status(host, feature) in rests)
            if not worker.has_ended():
                worker.kill()
                assert _status(host, feature) == status, f"{host.show(feature)}\n{host.log()}"
                return number - 1
            assert worker.wait() == -signal.SIGKILL, worker.said()
        raise AssertionError(host.log())

    feature, rests = host.submit(), {"waiting", "failed"}
    assert killed_until("waiting") >= 4
    host.ok("approve", feature, "--yes")
    rests = {"waiting", "failed", "done"}
    assert killed_until("done") >= 4

    shown = host.show(feature)
    assert host.commits() == ["add a greeting"]
    assert len(host.project.sessions()) == 1
    assert [each["status"] for each in shown["decisions"]] == ["delivered"]
    session = host.session(feature)
    assert session.kinds("session_started", "approve") == ["session_started", "approve"]


def _status(host: FleetHost, feature: str) -> str:
    return str(host.show(feature)["status"])
