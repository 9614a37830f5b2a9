"""The fleet, as the desk and the page look at it."""

from __future__ import annotations

from pathlib import Path

from agentmux.adapters.system.processes.command_runs import CommandRuns
from agentmux.adapters.system.processes.fleet_command import FleetCommand
from agentmux.ports.fleet import Fleet
from agentmux.wiring import machine


def fleet_of(commands: CommandRuns, project: Path | None) -> Fleet:
    """Return the fleet of this host, which may not be set up."""
    return FleetCommand(commands, machine.fleet_url(commands.environ), project)
