import pytest

from agentmux.app.loop.monitor.detach_hint import leave_line
from agentmux.ports.tmux.terminal import Client, LeaveKeys

USUAL = LeaveKeys(detach="C-b d", back="C-b L")


@pytest.mark.parametrize(
    ("came_from", "keys", "line"),
    [
        ((), USUAL, "C-b d detaches"),
        (("",), USUAL, "C-b d detaches"),
        (("mine",), USUAL, "C-b L goes back (mine)"),
        (("mine", "yours"), USUAL, "C-b L goes back"),
        (("mine", ""), USUAL, "C-b L goes back (mine), C-b d detaches"),
        (("mine",), LeaveKeys(detach="C-a d", back=""), "C-a d detaches"),
        (("",), LeaveKeys(detach="", back=""), "tmux detach -s amx"),
    ],
)
def test_the_foot_says_which_keys_leave(
    came_from: tuple[str, ...], keys: LeaveKeys, line: str
) -> None:
    clients = [Client(name=str(place), came_from=name) for place, name in enumerate(came_from)]
    assert leave_line(clients, keys, "amx") == line
