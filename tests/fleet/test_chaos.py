"""A short form of `tests.fleet.chaos`."""

import pytest

from tests.fleet.chaos import Chaos, Options
from tests.fleet.postgres import PROGRAMS


@pytest.mark.skipif(not PROGRAMS, reason="it needs PostgreSQL: ./dev test-fleet")
def test_killed_workers_and_a_killed_database_lose_and_repeat_nothing() -> None:
    said: list[object] = []
    options = Options(features=4, workers=2, crashes=1, hangs=0, stops=0, every_s=6, limit_s=200)
    chaos = Chaos(options, said.append)
    assert chaos.run() == [], said
    assert any(name.startswith("PostgreSQL") for name in chaos.counts)
