"""What an orchestrator does when it cannot start anything any more, or fails again and again."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.app.loop.background_tasks import TRIES
from agentmux.core.names.phase import Phase
from agentmux.errors import ExitCode, InstallationGoneError
from tests.app.driver import Studio, make_project


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    made = Studio(make_project(tmp_path / "project"), dict(os.environ), cycles=1, short=True)
    settings = made.world.settings
    often = replace(settings.snapshots, interval_s=1.0)
    made.world = replace(made.world, settings=replace(settings, snapshots=often))
    made.start()
    return made


def test_while_its_installation_is_gone_nothing_begins_and_it_says_so(
    studio: Studio, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[int] = []

    def gone(session: str) -> None:
        seen.append(len(studio.terminal.opened))
        if len(seen) < 3:
            raise InstallationGoneError("it is gone", hints=(f"agentmux stop {session}",))

    studio.require_installed = gone
    assert studio.drive("start", deadline_s=60) is ExitCode.OK
    assert seen[:3] == [0, 0, 0]
    assert studio.state().phase == Phase.DONE
    assert "a step failed: it is gone; agentmux stop add-a-calculator" in caplog.text


def test_a_step_that_fails_unexpectedly_again_and_again_ends_the_process(studio: Studio) -> None:
    tries: list[str] = []

    def strange(session: str) -> None:
        tries.append(session)
        raise KeyError("strange")

    studio.require_installed = strange
    assert studio.drive("start", deadline_s=60) is ExitCode.FAILED
    assert TRIES <= len(tries) <= 2 * TRIES  # those within a second count once
    interruption = studio.state().interruption
    assert interruption is not None
    assert "failed 3 times by an unexpected error: KeyError: 'strange'" in interruption.cause
    studio.require_installed = lambda _: None
    studio.resume()
    assert studio.drive("resume", deadline_s=60) is ExitCode.OK
