"""The recipe for unattended runs in docs/how-to/ci.md works as written."""

import re
from pathlib import Path

import pytest

from tests.e2e.conftest import Project, Session

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ci.md"


def test_the_recipe_runs_a_feature_to_its_end(project: Project) -> None:
    section = PAGE.read_text("utf-8").partition("## Run a feature unattended")[2]
    found = re.search(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert found is not None
    project.config("defaults: {agent: demo}\n")
    (project.path / "feature.md").write_text("# Greetings\n\nThe program says hello.\n")
    done = project.program("sh", "-euc", found[1])
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = project.sessions()
    session = Session(project, path).wait("done")
    assert session.state["phase"] == "done"
    session.gone()
