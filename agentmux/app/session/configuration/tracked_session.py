"""Refuses a session that came with a repository: somebody else wrote what it runs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from agentmux.app.session.search.lookup import shown_path
from agentmux.core.definitions.definition import WHOLE
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.names import layout
from agentmux.errors import ConfigError, MissingError

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

_DECISIVE: Final = (layout.STATE, layout.JOURNAL, layout.PIPELINE)
"""The files that decide which commands and prompts a session has, relative to its directory."""


def require_own(world: World, state: SessionState, path: Path) -> None:
    """Check that the commands and prompts frozen in a session did not come with the repository.

    They were trusted when the session began, but only by the user who began it. If git tracks the
    session's files, they came with a clone, or leave with the next push.

    Args:
        world: The session's project; not yet `with_workplace`.
        state: The state of the session.
        path: The session's directory.

    Raises:
        ConfigError: Git tracks the session's files.
        GitError: Git refuses to work here.
    """
    if not _brings_commands(state):
        return
    try:
        files = world.repository.list_tracked_files(tuple(path / name for name in _DECISIVE))
    except MissingError:  # nothing was cloned without git
        return
    if not files:
        return
    place = shown_path(path, world.project)
    raise ConfigError(
        f"session {path.name} came with the repository (git tracks {place}):"
        " what it runs and tells agents was not trusted here",
        hints=(
            f"if you began it, let git forget it: git rm -r --cached {shlex.quote(place)}",
            f"else remove it: agentmux remove {path.name}",
        ),
    )


def _brings_commands(state: SessionState) -> bool:
    base = state.base_checks
    # The copy of the default pipeline says what AgentMux says.
    is_default = state.pipeline == FEATURE and state.pipeline_files.keys() <= {WHOLE}
    own = state.verify or state.setup is not None or (state.pipeline_files and not is_default)
    return bool(own or (base is not None and base.steps))
