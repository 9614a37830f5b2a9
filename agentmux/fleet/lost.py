"""Stops a session whose feature was given to another host while this one was not heard."""

from __future__ import annotations

import logging
from pathlib import Path

from agentmux.core.terminal import command_words
from agentmux.fleet import rows
from agentmux.fleet.host import Host

logger = logging.getLogger(__name__)


def stop_if_lost(host: Host, session: Path, feature: str, epoch: int) -> None:
    """Stop the session and end its lease, unless this host still has the feature.

    Args:
        host: This host.
        session: The session's directory.
        feature: The feature's id.
        epoch: The epoch in which this host had it.
    """
    row = host.write(lambda each: rows.feature(each, feature))
    if row is not None and row.host == host.id and row.epoch == epoch:
        return
    logger.warning("%s was given to another host: stopping %s", feature, session.name)
    host.leases.end(session, epoch)
    with host.commands.alone(feature) as lock:
        project = session.parents[2]
        host.commands.run(project, command_words.stop(session.name), lock=lock)
