"""The example configuration works when it is copied into a project."""

import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import Project, Session

pytestmark = pytest.mark.long

EXAMPLE = Path(__file__).parents[2] / ".agentmux.example"


def test_a_feature_with_the_example(project: Project) -> None:
    shutil.copytree(EXAMPLE, project.path / ".agentmux")
    project.ok("trust")
    session = Session(project, project.path / project.json("start", "add a greeting")["path"])
    prompts = session.wait().path.glob("launches/*/prompt.md")
    rules = (EXAMPLE / "prompts" / "coder.md").read_text().splitlines()[-1]
    assert [rules in each.read_text() for each in prompts].count(True) == 1
    assert session.state["results"]["verifying"]["checks"]["whitespace"]["outcome"] == "passed"
    session.approve()
    assert {each["agent"] for each in session.state["agents"].values()} == {"demo"}
    assert project.git("status", "--porcelain") == "?? .agentmux/\n"


@pytest.mark.rare("CI runs a feature with the example")
def test_an_agent_of_the_example_that_takes_its_prompts_typed(project: Project) -> None:
    shutil.copytree(EXAMPLE, project.path / ".agentmux")
    project.ok("trust")
    answer = project.json("start", "--agent", "typist", "add a greeting")
    session = Session(project, project.path / answer["path"]).wait()
    assert {each["agent"] for each in session.state["agents"].values()} == {"typist"}
    reached = [each for each in session.events if each["event"] == "prompt_reached"]
    assert any("typed" in each["payload"]["evidence"] for each in reached)
