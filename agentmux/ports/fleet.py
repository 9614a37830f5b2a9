"""The protocol through which the desk and the web page read the fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agentmux.core.fleet.board import FleetBoard, FleetQuestion


class Fleet(Protocol):
    """A read-only view of the fleet.

    `board` and `question` block, so call them in a thread. They raise `AgentmuxError`, with the
    message and hints of the `agentmux fleet` command, if the database cannot be reached or has a
    different version.
    """

    def is_set_up(self) -> bool:
        """Return whether a fleet has been set up on this host; only checks that a file exists."""

    def board(self) -> FleetBoard:
        """Return the state of the fleet, which may be a few seconds old.

        The call may block, so use a thread.

        Raises:
            AgentmuxError: The database cannot be reached, or has a different version.
        """

    def question(self, feature: str) -> FleetQuestion:
        """Return the decision that a feature waits for, and what an approval would do.

        If the feature waits for none, only ``feature`` is set in the result; ``digest``,
        ``obstacle`` and ``lines`` are empty. The call may block, so use a thread.

        Args:
            feature: The feature's id.

        Raises:
            NotFoundError: No feature has this id, or several have it.
            AgentmuxError: The database cannot be reached, or has a different version.
        """

    def forget(self) -> None:
        """Drop cached answers, so that the next call reads the fleet; call it after a decision."""
