"""Until when a session of a fleet may act."""

from datetime import UTC, datetime, timedelta

import pytest

from agentmux.core.fleet.lease import Lease, LeaseLapsedError, decode, require_lease

NOW, NOW_S = datetime(2026, 1, 1, 12, 0, tzinfo=UTC), 500.0
SECOND = timedelta(seconds=1)
HELD = Lease(epoch=3, until=NOW + SECOND, until_s=NOW_S + 1)


def test_a_lease_comes_back_as_it_was() -> None:
    assert decode(HELD.encode().encode()) == HELD


def test_a_session_acts_while_its_lease_holds() -> None:
    require_lease(HELD.encode().encode(), NOW, NOW_S)


@pytest.mark.parametrize(
    "data",
    [
        Lease(epoch=3, until=NOW, until_s=NOW_S + 1).encode().encode(),
        Lease(epoch=3, until=NOW + SECOND, until_s=float("nan")).encode().encode(),
        b"",
        b"\xff",
        b"[]",
        b"[" * 4096,
        b'{"epoch": 0, "until": "2030-01-01", "until_s": 1000.0}',
        b'{"epoch": true, "until": "2030-01-01", "until_s": 1000.0}',
        b'{"epoch": 1, "until": "2030-01-01", "until_s": true}',
        b'{"epoch": 1, "until": "2030-01-01"}',
        b'{"epoch": 1, "until_s": 1000.0}',
    ],
)
def test_a_lapsed_or_damaged_lease_keeps_it_from_acting(data: bytes) -> None:
    with pytest.raises(LeaseLapsedError, match="has not renewed"):
        require_lease(data, NOW, NOW_S)


def test_a_clock_that_is_set_back_lets_no_session_act_for_longer() -> None:
    with pytest.raises(LeaseLapsedError):
        require_lease(HELD.encode().encode(), NOW - timedelta(hours=1), NOW_S + 1)
