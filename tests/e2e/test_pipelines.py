"""Pipelines other than `feature`, with demo agents in real tmux."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
_SHELL: Final = re.compile(
    r"^(?P<fence>```+)sh\n(?P<body>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL
)


def test_a_small_change_takes_the_short_way(project: Project) -> None:
    session = project.start("fix the typo", "--quick").wait()

    project.ok("approve", session.name, "--yes")
    session.wait("done").gone()
    assert session.launched() == ["coder-1", "reviewer_logic", "reviewer_logic"]
    assert "  pipeline      quick\n" in project.ok("status", session.name)
    assert project.git("log", "--format=%s") == "fix the typo\nBegin\n"


@pytest.mark.rare("CI takes the short way, which is a pipeline like any other")
def test_the_page_about_ones_own_pipeline_works_as_it_is_written(project: Project) -> None:
    page = (ROOT / "docs/how-to/own-pipeline.md").read_text(encoding="utf-8")
    script = "".join(found["body"] for found in _SHELL.finditer(page))
    done = project.program("sh", "-euc", script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "o  threat_model" in done.stdout
    (path,) = (each for each in project.sessions() if each.name.endswith("-add-a-greeting"))
    session = Session(project, path)
    session.wait("done").gone()
    assert session.launched() == ["security", "coder-1", "reviewer_logic", "reviewer_logic"]
    assert session.read("threat_model/threats.yaml").startswith("threats:")
    assert project.git("log", "--format=%s") == "add a greeting\nBegin\n"


@pytest.mark.rare("CI takes the short way, which is a pipeline like any other")
def test_a_phase_of_ones_own_goes_on_after_everything_was_killed_as_it_began(
    project: Project, wait_until: WaitUntil
) -> None:
    shutil.copytree(ROOT / ".agentmux.example", project.path / ".agentmux")
    project.ok("trust")
    project.scenario({"roles": {"security": {"submit": "no"}}})
    answer = project.json("start", "--pipeline", "careful", "add a greeting")
    session = Session(project, project.path / answer["path"])
    wait_until((session.path / "threat_model/threats.yaml").exists, 20)
    project.tmux("kill-server")
    wait_until(lambda: not project.processes(), 20)
    (project.path / ".agentmux/pipelines/prompts/threats.md").write_text("Do something else.\n")
    project.scenario({})

    plan = project.json("resume", "--dry-run", session.name)["sessions"][0]
    assert plan["phase"] == "threat_model"
    assert plan["changed_settings"] == ["pipelines.careful"]
    project.ok("resume", session.name, "--detach")
    session.wait()
    checked = ["coder-1", "check-whitespace"]
    assert session.launched() == ["security", "security", *checked, "security", "security"]
    assert [each.name for each in (session.path / "security_review").glob("*.yaml")]
    prompts = [each.read_text() for each in session.path.glob("launches/*/*.md")]
    assert not any("Do something else" in each for each in prompts)
    assert any("You look for the threats" in each for each in prompts)
