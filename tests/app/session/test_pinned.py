"""What a resume takes of the present configuration."""

from types import SimpleNamespace
from typing import cast

import pytest

from agentmux.app.session.pinned import steps_ahead
from agentmux.app.world import World
from agentmux.core.codec.frozen import replace
from agentmux.core.config.settings import GitSettings, Settings, SetupStep
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.setup import new_setup

OLD = (SetupStep(name="a", run=("a",)), SetupStep(name="b", run=("b",)))
NEW = (OLD[0], SetupStep(name="b", run=("c",)), SetupStep(name="d", run=("d",)))


@pytest.mark.parametrize(
    ("takes", "anew", "names"),
    [
        (False, False, ()),
        (False, True, ("a", "b")),
        (True, False, ("b", "d")),
        (True, True, ("a", "b", "d")),
    ],
)
def test_the_steps_of_a_setup_that_a_resume_runs(
    takes: bool, anew: bool, names: tuple[str, ...]
) -> None:
    made = new_setup(OLD)
    assert made is not None
    state = SessionState(phase=Phase.PLANNING, setup=replace(made, done=2, finished=True))
    settings = Settings(git=GitSettings(setup=NEW))
    world = cast("World", SimpleNamespace(settings=settings))
    assert steps_ahead(world, state, takes=takes, anew=anew) == names
