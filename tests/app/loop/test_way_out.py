import pytest

from agentmux.app.loop.way_out import leave_line
from agentmux.ports.terminal import Client, LeaveKeys

USUAL = LeaveKeys(detach="C-b d", back="C-b L")


@pytest.mark.parametrize(
    ("came_from", "keys", "line"),
    [
        ((), USUAL, "detach: C-b d"),
        (("",), USUAL, "detach: C-b d"),
        (("mine",), USUAL, "back to mine: C-b L"),
        (("mine", "yours"), USUAL, "back: C-b L"),
        (("mine", ""), USUAL, "back to mine: C-b L, detach: C-b d"),
        (("mine",), LeaveKeys(detach="C-a d", back=""), "detach: C-a d"),
        (("",), LeaveKeys(detach="", back=""), "tmux detach -s amx"),
    ],
)
def test_the_foot_says_which_keys_leave(
    came_from: tuple[str, ...], keys: LeaveKeys, line: str
) -> None:
    clients = [Client(name=str(place), came_from=name) for place, name in enumerate(came_from)]
    assert leave_line(clients, keys, "amx") == line
