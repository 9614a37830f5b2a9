"""The commands of checks in the state."""

from agentmux.core.config.commands import VerifyCommand
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.checks.verify_commands import frozen_commands, recorded_commands


def test_commands_come_back_as_they_were() -> None:
    given = (
        VerifyCommand(name="tests", run=("pytest", "-q"), timeout_s=60),
        VerifyCommand(name="types", run=("mypy",), required=False),
    )
    state = SessionState(phase=Phase.IMPLEMENTING, verify=recorded_commands(given))
    assert frozen_commands(state) == given
