"""Until when a session of a fleet may act."""

from datetime import UTC, datetime, timedelta

import pytest

from agentmux.core.fleet.lease import Lease, LeaseLapsedError, decode, require_lease

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
HELD = Lease(epoch=3, until=NOW + timedelta(seconds=1))


def test_a_lease_comes_back_as_it_was() -> None:
    assert decode(HELD.encode().encode()) == HELD


def test_a_session_acts_while_its_lease_holds_and_without_one() -> None:
    require_lease(None, NOW)
    require_lease(HELD.encode().encode(), NOW)


@pytest.mark.parametrize(
    "data",
    [
        Lease(epoch=3, until=NOW).encode().encode(),
        b"",
        b"\xff",
        b"[]",
        b"[" * 4096,
        b'{"epoch": 0, "until": "2030-01-01"}',
        b'{"epoch": true, "until": "2030-01-01"}',
        b'{"epoch": 1}',
    ],
)
def test_a_lapsed_or_damaged_lease_keeps_it_from_acting(data: bytes) -> None:
    with pytest.raises(LeaseLapsedError, match="has not renewed"):
        require_lease(data, NOW)
