"""Builds the read-only view of the fleet for the desk and the web page."""

from __future__ import annotations

from pathlib import Path

from agentmux.adapters.system.processes.command_runs import CommandRuns
from agentmux.adapters.system.processes.fleet_command import FleetCommand
from agentmux.ports.fleet import Fleet
from agentmux.wiring import machine


def fleet_of(commands: CommandRuns, project: Path | None) -> Fleet:
    """Return a view of this host's fleet, which may not be set up; nothing is read yet.

    Args:
        commands: Runs the `agentmux fleet` commands whose output the view reads.
        project: The project in which these commands run; None runs them without a project.
    """
    return FleetCommand(commands, machine.fleet_url(commands.environ), project)
