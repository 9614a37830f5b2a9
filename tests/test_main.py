"""What the program sets up before it runs a command."""

import pytest

from agentmux.__main__ import collect_after


@pytest.mark.parametrize(
    "lasting", [["web"], ["--project", "x", "web", "--open"], ["mcp"], ["_orchestrate", "x"]]
)
def test_garbage_is_collected_sooner_in_a_command_that_lasts(lasting: list[str]) -> None:
    assert collect_after(lasting) < collect_after(["list"])
