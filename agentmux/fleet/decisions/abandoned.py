"""Stops sessions on this host whose features were given to another host in the meantime."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from agentmux.core.fleet.fleet_request import from_fields, session_slug
from agentmux.core.terminal.text import command_words
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.tables import FEATURES
from agentmux.fleet.host.host import Host
from agentmux.fleet.host.session import HostSessions
from agentmux.fleet.host.untrusted_rows import project_of

logger = logging.getLogger(__name__)

_EPOCHS: Final = 10
"""How many earlier epochs of a feature are searched for a session on this host."""


def stop_abandoned(host: Host) -> None:
    """Stop the sessions on this host of features that were begun again elsewhere.

    Those are the features for which a person has abandoned this host (`drain.abandon`). It blocks
    until the sessions have stopped.
    """
    for row in host.write(lambda each: rows.features(each, FEATURES.c.epoch > 1)):
        project = project_of(host, row) if host.id in row.refused_by else None
        if project is None:
            continue
        request = from_fields(row.wish)
        sessions = HostSessions(project=project, environ=host.environ, config=host.config)
        for epoch in range(max(1, row.epoch - _EPOCHS), row.epoch):
            path = sessions.find(session_slug(row.id, request, epoch))
            if path is not None and not host.leases.has_ended(path):
                stop_if_lost(host, path, row.id, epoch)


def stop_if_lost(host: Host, session: Path, feature: str, epoch: int) -> None:
    """Stop a session and end its lease, unless its feature still belongs to this host.

    The feature does not belong to this host if another host has it, it was begun again (its epoch
    has grown), or it is gone. In these cases, it blocks until the session has stopped.

    Args:
        host: This host.
        session: The session's directory.
        feature: The feature's id.
        epoch: The epoch of the feature that the session belongs to.
    """
    row = host.write(lambda each: rows.feature(each, feature))
    if row is not None and row.host == host.id and row.epoch == epoch:
        return
    logger.warning("%s was given to another host: stopping %s", feature, session.name)
    host.leases.end(session, epoch)
    with host.commands.feature_lock(feature) as lock:
        project = session.parents[2]
        host.commands.run(project, command_words.stop(session.name), lock=lock)
