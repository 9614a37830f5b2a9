"""Where a result that was kept could be pushed, for those who only look at a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.errors import AgentmuxError
from agentmux.ports.remotes import NoRemoteError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux.app.world import Site

_ANY: Final = "REMOTE"


def kept_remote(site: Site, branch: str, environ: Mapping[str, str]) -> str | None:
    """Return, for people, the remote to which a branch of the project would be pushed.

    It is ``REMOTE`` where git's configuration does not say which of several; None where the
    repository has none, or git does not tell.
    """
    try:
        return site.remotes(site.project, environ).target(branch)
    except NoRemoteError as error:
        return _ANY if error.remotes else None
    except AgentmuxError:
        return None
