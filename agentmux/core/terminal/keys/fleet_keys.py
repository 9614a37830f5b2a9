"""The table of the desk's keys for the fleet, which only work if a fleet is set up."""

from __future__ import annotations

from typing import Final

from agentmux.core.codec.frozen import dataclass

OPEN_KEY: Final = "f"
"""The key that opens the view of the fleet."""
OPEN_SAYS: Final = "the fleet: its features, decisions and hosts"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetKey:
    """A key in the view of the fleet.

    Attributes:
        key: The key, by Textual's name.
        shown: The key as the help shows it.
        action: What it does, in one word for the program.
        says: What it does, as the help shows it.
        command: The command that it runs, as typed after ``agentmux fleet``; empty if it runs none.
    """

    key: str
    shown: str
    action: str
    says: str
    command: str = ""


def _key(key: str, shown: str, action: str, says: str, command: str = "") -> FleetKey:
    return FleetKey(key=key, shown=shown, action=action, says=says, command=command)


FLEET_KEYS: Final = (
    _key("enter", "Enter", "show", "what is to be decided on the feature", "show"),
    _key("a", "a", "approve", "approve: shows what would happen, then asks", "approve"),
    _key(
        "c",
        "c",
        "changes",
        "ask for changes: shows what there is, then asks for your words",
        "request-changes",
    ),
    _key("r", "r", "retry", "go on with a feature that has failed: asks first", "retry"),
    _key(
        "o",
        "o",
        "open",
        "open its session in this terminal; on another host, through ssh",
        "attach",
    ),
    _key("x", "x", "cancel", "stop a feature, and run it no further: asks first", "cancel"),
    _key(
        "d",
        "d",
        "drain",
        "let the host that is marked below take nothing more (Tab goes there): asks first",
        "drain",
    ),
    _key("l", "l", "look", "look again now", "list"),
    _key("escape", "Esc", "back", "back to the sessions"),
)


def fleet_help() -> tuple[str, ...]:
    """Return the lines about the fleet in the desk's help: an empty line, a heading, the keys."""
    lines = (f"  {each.shown:<8}{each.says}" for each in FLEET_KEYS)
    return ("", "The fleet", f"  {OPEN_KEY:<8}{OPEN_SAYS}", *lines)
