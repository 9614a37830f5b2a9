"""A configuration that has changed is named at a resume; only a repin takes it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.app.commands.begin.start import StartRequest, plan_start, start
from agentmux.app.commands.resume.resume import plan_resume
from agentmux.app.session.configuration.pinned import repin
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.names import layout
from agentmux.errors import AgentmuxError, ConfigError, DataError
from agentmux.wiring import build
from tests.app.driver import NotedRepository, Studio, _starter, make_project

HEAD = "version: 1\nname: mine\nphases:\n"
WORK = "  - {phase: implementing, kind: work, folder: 06_implementation, roles: [coder]}\n"
REVIEW = """\
  - phase: reviewing
    kind: review
    folder: 07_review
    roles: [reviewer_logic, reviewer_quality, reviewer_expert]
    on_fail: fixing
  - phase: fixing
    kind: fix
    folder: 06_implementation
    roles: [coder]
    prompt: coder-fix
"""
END = """\
  - phase: completing
    kind: complete
    folder: 08_completion
    roles: [reviewer_logic, reviewer_quality, reviewer_expert]
    prompt: summary
"""


class Bench:
    """A session that has not launched anything yet: of the user's own pipeline, or another."""

    def __init__(self, tmp_path: Path, pipeline: str = "mine") -> None:
        studio = Studio(make_project(tmp_path / "project"), dict(os.environ))
        assert isinstance(studio.world.repository, NotedRepository)
        studio.world.repository.begin()
        self.studio = studio
        self.file = Path(os.environ["XDG_CONFIG_HOME"]) / "agentmux/pipelines/mine.yaml"
        self.file.parent.mkdir(parents=True)
        self.file.write_text(HEAD + WORK + REVIEW + END)
        asked = StartRequest(feature="x", agent="demo", worktree=False, pipeline=pipeline)
        made = start(self.world(), _starter(), plan_start(self.world(), asked, {}))
        self.files = FileSession(made.path)

    def world(self) -> World:
        """The world of a new process, which reads the files again."""
        made = build.world(self.studio.project, environ=dict(os.environ))
        terminal = self.studio.terminal
        return replace(made, terminal=lambda _: terminal)

    def session(self) -> Session:
        studio = self.studio.world
        made = Session(self.files, now=studio.now, new_id=studio.new_id)
        made.take_over()
        return made


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_what_has_changed_is_named_and_not_taken(bench: Bench) -> None:
    assert plan_resume(bench.world(), bench.files).changed == ()
    bench.file.write_text(HEAD + WORK + END)
    plan = plan_resume(bench.world(), bench.files)
    assert plan.changed == ("pipelines.mine",)
    assert any("pipelines.mine has changed since" in each for each in plan.warnings)
    assert plan.resumed.pipeline is not None
    assert len(plan.resumed.pipeline.phases) == 4


def test_a_repin_takes_it_and_its_dry_run_shows_it(bench: Bench) -> None:
    bench.file.write_text("# Another one.\n" + HEAD + WORK + END)
    plan = plan_resume(bench.world(), bench.files, repin=True)
    assert plan.resumed.pipeline is not None
    assert len(plan.resumed.pipeline.phases) == 2
    session = bench.session()
    assert repin(bench.world(), session) == ()
    assert session.state.pipeline == plan.resumed.pipeline
    assert session.state.pipeline_files == plan.resumed.pipeline_files
    after = plan_resume(bench.world(), bench.files)  # its files are there
    assert after.changed == ()


@pytest.mark.follows("take the present one: agentmux resume … --repin")
def test_a_damaged_file_is_refused_until_a_repin_writes_it_again(bench: Bench) -> None:
    (digest,) = bench.files.load().state.pipeline_files.values()
    path = bench.files.path / layout.frozen(digest)
    path.write_text("{}")
    with pytest.raises(DataError, match="it was changed"):
        plan_resume(bench.world(), bench.files)
    assert plan_resume(bench.world(), bench.files, repin=True).changed == ("pipelines.mine",)
    repin(bench.world(), bench.session())
    assert plan_resume(bench.world(), bench.files).changed == ()


def test_a_pipeline_that_is_gone_or_broken_changes_nothing_and_cannot_be_taken(
    bench: Bench,
) -> None:
    bench.file.write_text(HEAD)
    assert plan_resume(bench.world(), bench.files).changed == ("pipelines.mine",)
    with pytest.raises(AgentmuxError, match="phases: expected a list"):
        plan_resume(bench.world(), bench.files, repin=True)
    bench.file.unlink()
    assert plan_resume(bench.world(), bench.files).changed == ("pipelines.mine",)
    with pytest.raises(AgentmuxError, match="no pipeline `mine`"):
        plan_resume(bench.world(), bench.files, repin=True)


def test_the_dry_run_of_a_repin_shows_the_prompt_that_is_not_written_yet(bench: Bench) -> None:
    prompt = bench.file.with_name("work.md")
    prompt.write_text("Do it like this. {{feature}}\n")
    own = WORK.replace("roles: [coder]", "roles: [coder], prompt: work.md")
    bench.file.write_text(HEAD + own + REVIEW + END)
    (pane,) = plan_resume(bench.world(), bench.files, repin=True).panes
    assert "Do it like this. " in pane.full_prompt
    assert "agentmux submit done --subplan 1" in pane.full_prompt
    repin(bench.world(), bench.session())
    prompt.write_text("Do it another way.\n")
    plan = plan_resume(bench.world(), bench.files)
    assert "Do it like this. " in plan.panes[0].full_prompt
    assert plan.changed == ("pipelines.mine",)
    (digest,) = (d for name, d in plan.state.pipeline_files.items() if name == "work.md")
    (bench.files.path / layout.frozen(digest)).write_text("Obey me.\n")
    (pane,) = plan_resume(bench.world(), bench.files, repin=True).panes
    assert "Do it another way." in pane.full_prompt


def test_a_session_without_checks_takes_them_and_gives_them_up_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path, pipeline="feature")
    began = bench.files.load().state
    assert began.pipeline == FEATURE
    config = bench.file.parent.with_name("config.yaml")
    config.write_text("verify: [{name: tests, run: [pytest], timeout: 1m}]\n")
    plan = plan_resume(bench.world(), bench.files)
    assert plan.changed == ("verify",)
    assert plan.resumed.verify == ()
    repin(bench.world(), bench.session())
    state = plan_resume(bench.world(), bench.files).resumed
    assert "verifying" in [each.phase for each in state.pipeline.phases]
    assert [each["name"] for each in state.verify] == ["tests"]
    config.unlink()
    assert plan_resume(bench.world(), bench.files).changed == ("verify",)
    repin(bench.world(), bench.session())
    after = plan_resume(bench.world(), bench.files)
    assert (after.changed, after.resumed.verify) == ((), ())
    assert after.resumed.pipeline == FEATURE
    assert after.resumed.pipeline_files == began.pipeline_files


@pytest.mark.follows("if you began it, let git forget it: git rm -r --cached …")
def test_a_session_that_came_with_the_repository_is_not_resumed(bench: Bench) -> None:
    top, path = bench.studio.project, bench.files.path

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(top), *words], check=True, capture_output=True)

    git("init", "-q")
    assert plan_resume(bench.world(), bench.files).phase == "implementing"
    git("add", "-f", str(path / layout.PIPELINE))
    with pytest.raises(ConfigError, match="came with the repository") as caught:
        plan_resume(bench.world(), bench.files, repin=True)
    assert f"git rm -r --cached {path.relative_to(top)}" in caught.value.hints[0]
    git("rm", "-r", "-q", "--cached", str(path))
    # A link in the repository leads to files of the repository.
    path.parent.rename(top / "Elsewhere")
    path.parent.symlink_to(top / "Elsewhere")
    git("add", "-f", f"Elsewhere/{path.name}/{layout.JOURNAL}")
    with pytest.raises(ConfigError, match="came with the repository"):
        plan_resume(bench.world(), bench.files)


def test_a_tracked_session_is_resumed_if_it_brings_neither_commands_nor_prompts(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path, pipeline="feature")
    top, path = bench.studio.project, bench.files.path
    for words in (("init", "-q"), ("add", "-f", str(path / layout.JOURNAL))):
        subprocess.run(["git", "-C", str(top), *words], check=True, capture_output=True)
    assert plan_resume(bench.world(), bench.files).phase == "architecting"
    config = bench.file.parent.with_name("config.yaml")
    config.write_text("verify: [{name: tests, run: [pytest]}]\n")
    repin(bench.world(), bench.session())
    with pytest.raises(ConfigError, match="came with the repository"):
        plan_resume(bench.world(), bench.files)
