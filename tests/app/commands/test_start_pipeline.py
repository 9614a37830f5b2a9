"""What a start freezes of its pipeline."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.app.commands.begin.start import StartRequest, plan_start, start
from agentmux.app.commands.look.pipelines import usable_pipelines
from agentmux.app.commands.resume.resume import plan_resume
from agentmux.app.session.configuration.frozen_files import frozen_text, require_frozen
from agentmux.app.session.configuration.pipeline_choice import choose_pipeline, describe_cost
from agentmux.core.codec.digests import sha256
from agentmux.core.config.settings import Defaults
from agentmux.core.definitions.definition import WHOLE, definition_fields
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.journal.events import Event, SessionInterrupted
from agentmux.core.journal.state import SessionState, encode
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.errors import DataError, ExitCode, UsageError
from tests.app.driver import NotedRepository, Studio, _starter, make_project


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    made = Studio(make_project(tmp_path / "project"), dict(os.environ))
    assert isinstance(made.world.repository, NotedRepository)
    made.world.repository.begin()
    terminal = made.terminal
    made.world = replace(made.world, terminal=lambda _: terminal)
    return made


def request(**values: object) -> StartRequest:
    return StartRequest(feature="fix the typo", agent="demo", worktree=False, **values)  # type: ignore[arg-type]


def begun(studio: Studio, asked: StartRequest) -> tuple[FileSession, SessionState]:
    made = start(studio.world, _starter(), plan_start(studio.world, asked, {}))
    files = FileSession(made.path)
    return files, files.load().state


def test_a_session_of_feature_without_checks_records_its_pipeline(studio: Studio) -> None:
    files, state = begun(studio, request())
    written = json.loads((files.path / layout.STATE).read_text())
    assert written == encode(state)
    assert written["pipeline"] == definition_fields(FEATURE)
    assert (written["verify"], written["results"], written["fix"]) == ([], {}, None)
    assert written["schema_version"] == layout.SCHEMA_VERSION
    whole = json.loads(frozen_text(files, state, WHOLE))
    assert whole["pipeline"] == written["pipeline"]
    assert state.phase == Phase.ARCHITECTING


def test_another_pipeline_is_frozen_by_its_content(studio: Studio) -> None:
    files, state = begun(studio, request(pipeline="quick"))
    assert state.schema_version == layout.SCHEMA_VERSION
    assert [each.phase for each in state.pipeline.phases] == [
        "implementing", "reviewing", "fixing", "completing",
    ]  # fmt: skip
    assert state.phase == Phase.IMPLEMENTING
    assert state.implementation_active_plan_ids == (1,)
    (name,) = (path.name for path in (files.path / layout.PIPELINE).iterdir())
    assert state.pipeline_files == {WHOLE: name}
    whole = json.loads(frozen_text(files, state, WHOLE))
    assert whole["pipeline"]["name"] == "quick"
    assert whole["verify"] == []
    first = json.loads((files.path / layout.JOURNAL).read_text().splitlines()[1])
    assert first["payload"]["state"]["pipeline_files"] == {WHOLE: name}


def test_an_older_program_refuses_the_session_by_each_of_its_files(studio: Studio) -> None:
    files, state = begun(studio, request(pipeline="quick"))
    files.append(an_event())  # by the orchestrator
    with files.transact() as held:  # by a signal
        held.append(an_event())
    assert versions(FileSession(files.path)) == [2, 2, 2, 2]
    # Programs that know worktrees read 2, which 0.1.0 refuses, and would start this one over.
    assert state.schema_version == 3


def versions(files: FileSession) -> list[int]:
    lines = (files.path / layout.JOURNAL).read_text().splitlines()
    return [json.loads(line)["v"] for line in lines]


def an_event() -> Event:
    fact = SessionInterrupted(cause="x")
    return Event(id=uuid4().hex, at="", seat="user", launch="", cycle=1, fact=fact)


def test_a_frozen_file_that_differs_is_refused(studio: Studio) -> None:
    files, state = begun(studio, request(pipeline="quick"))
    path = files.path / layout.frozen(state.pipeline_files[WHOLE])
    assert sha256(path.read_bytes()).hexdigest() == path.name
    path.write_text("{}")
    with pytest.raises(DataError, match="it was changed") as caught:
        require_frozen(files, state)
    assert caught.value.exit_code == ExitCode.DATA
    path.unlink()
    with pytest.raises(DataError, match="missing"):
        require_frozen(files, state)


def test_the_configuration_names_the_pipeline_where_the_user_does_not(studio: Studio) -> None:
    settings = replace(studio.world.settings, defaults=Defaults(pipeline="quick"))
    studio.world = replace(studio.world, settings=settings)
    assert plan_start(studio.world, request(), {}).pipeline.definition.name == "quick"
    feature = plan_start(studio.world, request(pipeline="feature"), {})
    assert feature.state.pipeline == FEATURE


def test_a_pipeline_that_does_not_exist_or_does_not_fit_is_refused(studio: Studio) -> None:
    with pytest.raises(UsageError, match="no pipeline `quik`") as caught:
        plan_start(studio.world, request(pipeline="quik"), {})
    assert "did you mean `quick`?" in caught.value.hints
    with pytest.raises(UsageError, match="no phase for --product-manager"):
        plan_start(studio.world, request(pipeline="quick", product_manager=True), {})


def test_only_the_roles_of_the_pipeline_need_an_agent(studio: Studio) -> None:
    short = plan_start(studio.world, request(pipeline="quick"), {})
    assert set(short.agents) == {
        "coder", "reviewer_logic", "reviewer_quality", "reviewer_expert",
    }  # fmt: skip
    assert "web-researcher" in plan_start(studio.world, request(), {}).agents


def test_a_session_whose_state_and_journal_are_lost_has_its_pipeline_still(studio: Studio) -> None:
    files, state = begun(studio, request(pipeline="quick"))
    for name in (layout.STATE, layout.STATE_BACKUP, layout.JOURNAL, layout.CURSOR):
        (files.path / name).unlink(missing_ok=True)
    whole = frozen_text(files, state, WHOLE)
    other = whole.replace('"name": "quick"', '"name": "other"')
    assert other != whole
    (files.path / layout.frozen("0" * 64)).write_text(other)  # not what its name says
    loaded = FileSession(files.path).load()
    assert (loaded.source, loaded.state.pipeline) == ("none", state.pipeline)
    assert loaded.state.pipeline_files == state.pipeline_files
    plan = plan_resume(studio.world, FileSession(files.path))
    assert plan.phase == Phase.IMPLEMENTING
    assert [each.work.role for each in plan.panes] == ["coder"]
    (path,) = (files.path / layout.frozen(each) for each in state.pipeline_files.values())
    path.write_text(other)
    assert FileSession(files.path).load().state.pipeline == FEATURE


def test_a_person_can_choose_each_pipeline_that_a_start_takes(studio: Studio) -> None:
    own = studio.world.project / ".agentmux/pipelines"
    own.mkdir(parents=True)
    (own / "broken.yaml").write_text("version: 1\nphases: 7\n")
    world = replace(
        studio.world,
        settings=replace(studio.world.settings, defaults=Defaults(agent="demo", pipeline="quick")),
    )
    (default, says), *others = usable_pipelines(world)
    assert (default, says[:19]) == ("quick", "For a small change:")
    assert "feature" in dict(others)
    assert "broken" not in dict(others)
    assert "review" not in dict(others), "it needs something to look at"
    for name, _ in others:
        assert plan_start(world, request(pipeline=name), {}).pipeline.definition.name == name


def test_the_cost_counts_the_prompts_of_a_pipeline_of_the_users_own(studio: Studio) -> None:
    own = studio.world.project / ".agentmux/pipelines"
    own.mkdir(parents=True)
    (own / "long.md").write_text("Do it well. " * 4000)
    (own / "alone.yaml").write_text(
        "version: 1\nname: alone\nresult: commit\nphases:\n"
        "- {phase: implementing, kind: work, roles: [coder], prompt: long.md}\n"
        "- {phase: completing, kind: complete, roles: [coder], prompt: summary}\n"
    )
    world = studio.world.consent.preview()
    assert (
        describe_cost(world, choose_pipeline(world, "alone"))
        == "2 agents or more, 57 kB of prompts"
    )
    assert (
        describe_cost(world, choose_pipeline(world, "quick"))
        == "3 agents or more, 17 kB of prompts"
    )


def test_a_session_that_was_started_says_what_it_costs(studio: Studio) -> None:
    planned = plan_start(studio.world, request(product_manager=True), {})
    begun_session = start(studio.world, _starter(), planned)
    assert begun_session.cost == "6 agents or more, 38 kB of prompts"
