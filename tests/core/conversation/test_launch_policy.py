"""What a person chose for the seats of a resume, and what they agreed to."""

from __future__ import annotations

import pytest

from agentmux.core.conversation.launch_policy import (
    ORDINARY,
    LaunchPolicy,
    policy_of,
    read_agreed,
)
from agentmux.core.names.conversations import SeatChoice
from agentmux.errors import UsageError


def test_a_policy_says_what_was_chosen_for_each_seat() -> None:
    chosen = {
        "architect": SeatChoice.PLANNED,
        "coder-1": SeatChoice.FRESH,
        "coder-2": SeatChoice.SHELL,
        "coder-3": SeatChoice.STOPPED,
    }
    policy = policy_of(chosen)
    assert {seat: policy.choice(seat) for seat in chosen} == chosen
    every = LaunchPolicy(fresh=("*",), shell=("coder-2",), stopped=("coder-3",))
    assert {**{seat: every.choice(seat) for seat in chosen}, "architect": None} == {
        **chosen,
        "architect": None,
    }
    assert every.choice("architect") is SeatChoice.FRESH
    assert LaunchPolicy(stopped=("*",), fresh=("coder-1",)).choice("coder-1") is SeatChoice.STOPPED


def test_only_what_was_agreed_to_is_covered() -> None:
    assert ORDINARY.covers("coder-1", "d1")
    agreed = LaunchPolicy(agreed={"coder-1": "d1"}, shell=("coder-3",), stopped=("coder-4",))
    assert agreed.covers("coder-1", "d1")
    assert not agreed.covers("coder-1", "d2")
    assert not agreed.covers("coder-2", "d1")  # it was not shown
    assert agreed.covers("coder-3", "d3")  # no agent starts
    assert agreed.covers("coder-4", "d4")


def test_a_digest_is_given_with_its_seat() -> None:
    assert read_agreed(["coder-1=d1", "architect=d2"]) == {"coder-1": "d1", "architect": "d2"}
    for wrong in ("d1", "=d1"):
        with pytest.raises(UsageError, match=f"--agreed {wrong}` is not SEAT=DIGEST"):
            read_agreed([wrong])
