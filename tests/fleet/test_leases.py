"""The files of the leases that a worker writes beside its sessions."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentmux.core.fleet import lease
from agentmux.fleet.host.leases import Leases

NOW, NOW_S = datetime(2026, 1, 1, 12, 0, tzinfo=UTC), 500.0


@pytest.fixture
def leases() -> Leases:
    """Leases of a minute, which the database has just agreed to."""
    made = Leases(60.0)
    made.extend(NOW, NOW_S)
    return made


def held(session: Path) -> lease.Lease | None:
    return lease.decode((session / lease.NAME).read_bytes())


def test_a_lease_is_written_and_renewed(leases: Leases, tmp_path: Path) -> None:
    until = NOW + timedelta(seconds=60)
    for epoch in (1, 2):  # the feature was given to this host once more
        leases.renew({tmp_path: epoch})
        assert held(tmp_path) == lease.Lease(epoch=epoch, until=until, until_s=NOW_S + 60)
    leases.extend(NOW + timedelta(seconds=5), NOW_S + 5)
    leases.write(tmp_path, 2)
    later = until + timedelta(seconds=5)
    assert held(tmp_path) == lease.Lease(epoch=2, until=later, until_s=NOW_S + 65)


def test_a_lease_of_a_newer_epoch_stays(leases: Leases, tmp_path: Path) -> None:
    leases.end(tmp_path, 3)  # it belongs to another host now
    before = (tmp_path / lease.NAME).read_bytes()
    for epoch in (1, 2):
        leases.write(tmp_path, epoch)
        assert (tmp_path / lease.NAME).read_bytes() == before
    assert leases.has_ended(tmp_path)


def test_a_lease_makes_no_directory(leases: Leases, tmp_path: Path) -> None:
    leases.write(tmp_path / "gone", 1)
    leases.end(tmp_path / "gone", 1)
    assert not (tmp_path / "gone").exists()


def test_a_lease_has_lapsed_as_soon_as_one_clock_says_so(leases: Leases) -> None:
    minute = timedelta(seconds=60)
    assert not leases.have_lapsed(NOW + minute / 2, NOW_S + 59)
    assert leases.have_lapsed(NOW, NOW_S + 60), "the wall clock was set back"
    assert leases.have_lapsed(NOW + minute, NOW_S), "the host was suspended"
    assert Leases(60.0).have_lapsed(NOW, NOW_S), "nothing was agreed yet"
