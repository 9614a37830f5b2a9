"""The two files that every agent reads first: the feature request, and the common rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.core.names import layout
from agentmux.core.prompts import prompt
from agentmux.core.prompts.prompt import PromptInputs

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

_UNKNOWN: Final = (
    "The request of this session was not kept. The documents in its folders show what it is about."
)


def first_texts(world: World, path: Path, state: SessionState) -> Mapping[str, str]:
    """Return the two files that every agent reads first, the request and the common rules.

    Writes nothing.

    Args:
        world: The outside world.
        path: The session's directory.
        state: The state of the session.

    Returns:
        The content of each file, by its path relative to the session's directory.
    """
    inputs = PromptInputs(
        session_dir=str(path),
        project_dir=str(world.tree),
        feature=state.feature,
        issue=state.issue,
    )
    context = prompt.render(world.texts.templates.template(prompt.CONTEXT), inputs)
    return {
        layout.REQUIREMENTS: prompt.requirements(state.feature or _UNKNOWN, state.issue),
        layout.CONTEXT: context,
    }
