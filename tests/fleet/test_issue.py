"""A backlog of issues, on a repository that no host has yet."""

import pytest

from tests.fakes.forge import FakeForge
from tests.fleet.conftest import FleetHost

pytestmark = pytest.mark.long

URL = "https://github.com/o/r.git"
BACKLOG = f"""\
- key: issue-42
  issue: 42
  repo: {URL}
  pipeline: quick
  agent: demo
  then: pr
"""


@pytest.mark.rare("CI goes from an issue to a request without a fleet")
def test_an_issue_of_a_repository_that_is_cloned_ends_in_one_request(host: FleetHost) -> None:
    project = host.project
    forge = FakeForge(project.root / "forge")
    project.env |= forge.environment
    project.env["PATH"] = f"{forge.bin}:{project.env['PATH']}"
    bare = project.root / "r.git"
    project.git("init", "-q", "--bare", "-b", "main", str(bare))
    project.git("push", "-q", str(bare), "main")
    forge.repository("o/r", bare)
    forge.issue(42, "Add a greeting", "Please.")
    with (project.home / ".gitconfig").open("a") as file:
        file.write(f'[url "{bare}"]\n\tinsteadOf = {URL}\n')
    host.allow("https://github.com/o/*")
    backlog = project.root / "backlog.yaml"
    backlog.write_text(BACKLOG)

    (made,) = host.json("submit", "--from", str(backlog))["features"]
    assert host.json("submit", "--from", str(backlog))["features"][0] == {**made, "new": False}
    host.worker()
    waiting = host.until(made["id"], "waiting", "failed")
    assert waiting["status"] == "waiting", f"{waiting}\n{host.log()}"
    assert str(host.place.clones) in waiting["path"]
    assert "Please." in host.session(made["id"]).read("requirements.md")

    host.ok("approve", "issue-42", "--yes")
    done = host.until(made["id"], "done", "failed", "waiting")
    assert done["status"] == "done", f"{done}\n{host.log()}"
    (request,) = forge.requests
    assert request["base"] == "main"
    assert request["body"].endswith("Closes #42\n")
    assert done["result"]["request"]["number"] == 100
    tip = project.git("-C", str(bare), "rev-parse", done["result"]["branch"]).strip()
    assert tip == done["result"]["commit"]
    assert host.commits() == []
