"""The wall clock in the journal's format."""

import pytest
from freezegun import freeze_time

from agentmux.adapters.system.clock import utc_now
from agentmux.app.session.writer import stamp
from agentmux.wiring import machine


@pytest.mark.parametrize(
    ("at", "written"),
    [
        ("2026-01-01T10:15:00", "2026-01-01T10:15:00.000Z"),
        ("2026-01-01T10:15:00.007", "2026-01-01T10:15:00.007Z"),
        ("2026-12-31T23:59:59.999999", "2026-12-31T23:59:59.999Z"),
        ("2024-02-29T01:00:00+02:00", "2024-02-28T23:00:00.000Z"),
    ],
)
def test_an_instant_is_written_in_utc_and_cut_to_milliseconds(at: str, written: str) -> None:
    with freeze_time(at):
        assert utc_now() == written
        assert stamp(machine.now()) == written  # both functions that stamp journal lines agree
