"""What a resume takes of the present configuration."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from uuid import uuid4

import pytest

from agentmux.adapters.config.project_files import ProjectFiles, ProjectPipelines
from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.app.session.configuration.pinned import repin, steps_ahead
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.codec.frozen import replace
from agentmux.core.config.commands import SetupStep
from agentmux.core.config.settings import GitSettings, Settings
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import SETUP, Phase
from agentmux.core.pipeline.checks.setup import new_setup
from tests.app.on_disk import OnDisk

OLD = (SetupStep(name="a", run=("a",)), SetupStep(name="b", run=("b",)))
NEW = (OLD[0], SetupStep(name="b", run=("c",)), SetupStep(name="d", run=("d",)))

FILES = ProjectFiles(Path("/nowhere"), (), dict, Path)
WORLD = cast(
    "World",
    SimpleNamespace(
        settings=Settings(git=GitSettings(setup=NEW)), pipelines=ProjectPipelines(FILES, None)
    ),
)


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
    tmp_path: Path, takes: bool, anew: bool, names: tuple[str, ...]
) -> None:
    made = new_setup(OLD)
    assert made is not None
    state = SessionState(phase=Phase.PLANNING, setup=replace(made, done=2, finished=True))
    files = FileSession(tmp_path)
    assert steps_ahead(WORLD, state, files, takes=takes, anew=anew) == names


def test_a_step_that_succeeded_before_a_kill_is_done_also_after_a_repin(tmp_path: Path) -> None:
    on_disk = OnDisk(tmp_path / "session", Phase.PLANNING, setup=new_setup(OLD))
    on_disk.launch(SETUP, topic="a")
    record = tmp_path / "session" / layout.launch(f"launch-{SETUP}") / "exit.json"
    record.parent.mkdir(parents=True)
    record.write_text('{"status": 0, "signal": null}')
    session = Session(on_disk.files, now=lambda: datetime.now(UTC), new_id=lambda: uuid4().hex)
    session.take_over()
    assert steps_ahead(WORLD, session.state, on_disk.files, takes=True, anew=False) == ("b", "d")
    repin(WORLD, session)
    assert session.state.setup is not None
    assert session.state.setup.done == 1
