"""Checks values from the fleet's database before this host uses them.

They are not trusted, because others than AgentMux can write to the database.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.core.fleet.fleet_request import FEATURE_MAX, from_fields, session_slug
from agentmux.core.fleet.repositories import is_allowed
from agentmux.core.names import layout
from agentmux.core.names.statuses import DELIVERY_WAYS
from agentmux.errors import DataError, UsageError
from agentmux.fleet.engine.rows import APPROVE, CHANGES, Feature, FeatureDecision, is_uuid
from agentmux.fleet.host.host import Host
from agentmux.fleet.host.repository import clone_of
from agentmux.wiring import machine

_DIGEST: Final = re.compile(r"[A-Za-z0-9]{0,128}")
_PHASE: Final = re.compile(r"([a-z][a-z0-9_-]{0,63})?")


def require_id(text: str) -> str:
    """Return ``text`` unchanged if it is a UUID, and so safe as a file name.

    Raises:
        DataError: It is not a UUID.
    """
    if not is_uuid(text):
        raise DataError("an id in the database of the fleet is no uuid")
    return text


def require_decision(decision: FeatureDecision) -> FeatureDecision:
    """Return the decision unchanged if all its values are valid and safe in a command line.

    Raises:
        DataError: One of the values is invalid.
    """
    require_id(decision.id)
    words = (decision.digest, decision.begins, decision.text)
    good = (
        all(isinstance(each, str) for each in words)
        and decision.kind in {APPROVE, CHANGES}
        and decision.then in {"", *DELIVERY_WAYS}
        and _DIGEST.fullmatch(decision.digest) is not None
        and _PHASE.fullmatch(decision.begins) is not None
        and len(decision.text) <= FEATURE_MAX
    )
    if not good:
        raise DataError(f"decision {decision.id} in the database of the fleet is no decision")
    return decision


def session_of(host: Host, row: Feature) -> Path | None:
    """Return the directory of a feature's session on this host, after checking the path in its row.

    None if there is no session yet, the feature has no project here, or the path in the row is not
    one that this session can have: AgentMux must not write to every path that the database names.
    The directory need not exist.
    """
    project = project_of(host, row) if row.path else None
    if project is None:
        return None
    path, slug = Path(row.path), session_slug(row.id, from_fields(row.wish), row.epoch)
    belongs = path.parent == sessions_dir(project) and layout.slug_of(path.name) == slug
    return path if belongs else None


def project_of(host: Host, row: Feature) -> Path | None:
    """Return the project folder of a feature on this host.

    None if this host may not run the feature's repository, the repository is not on this host
    (nothing is cloned), or the request in the row is invalid. So if a folder is returned, the
    request is valid.
    """
    try:
        repo = from_fields(row.wish).repo
        folder = clone_of(repo, host.place.clones) or Path(repo)
        is_here = is_allowed(repo, host.settings.repos) and folder.is_dir()
        return machine.project_of(folder, host.environ) if is_here else None
    except (UsageError, OSError):  # OSError: such as an unreachable network file system
        return None
