"""What the desk and the page need of the fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agentmux.core.fleet.board import FleetBoard, FleetQuestion


class Fleet(Protocol):
    """Looks at the fleet. Its methods block: call them in a thread.

    They raise `AgentmuxError` with the words of the command where the database is away, or is of
    another version.
    """

    def is_set_up(self) -> bool:
        """Return whether this host knows a fleet; that costs one look at a file."""

    def board(self) -> FleetBoard:
        """Return the fleet as it is now, or was a few seconds ago."""

    def question(self, feature: str) -> FleetQuestion:
        """Return what is to be decided on the feature with this id.

        Raises:
            NotFoundError: There is none, or several.
        """

    def forget(self) -> None:
        """Read anew at the next look: something was decided."""
