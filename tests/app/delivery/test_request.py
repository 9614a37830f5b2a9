"""The step `request` with real git and a `gh` of ours."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.forge import command_line
from agentmux.app.delivery.steps.request import RequestStep
from agentmux.app.delivery.steps.ways import describe_way, way_of
from agentmux.app.delivery.steps.work import StepWork
from agentmux.core.journal.results import PhaseResult
from agentmux.core.journal.state import (
    Base,
    Commit,
    Delivery,
    Issue,
    Options,
    Request,
    SessionState,
)
from agentmux.core.names.phase import Phase
from agentmux.core.names.statuses import PR
from agentmux.errors import UsageError
from agentmux.ports.forge import ForgeError
from agentmux.wiring import build
from tests.fakes.forge import FakeForge

BRANCH = "agentmux/x"
STEP = RequestStep()


def git(path: Path, *words: str) -> str:
    name = ("-c", "user.name=n", "-c", "user.email=e@x")
    argv = ("git", *name, *words)
    done = subprocess.run(argv, cwd=path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Scene:
    """A project whose branch was pushed to a bare repository, which is ``o/r`` on the forge."""

    def __init__(self, root: Path) -> None:
        self.forge = FakeForge(root / "forge")
        self.bare, self.project = root / "r.git", root / "p"
        git(root, "init", "-q", "--bare", "-b", "main", str(self.bare))
        git(root, "init", "-q", "-b", "main", str(self.project))
        self.forge.repository("o/r", self.bare)
        git(self.project, "remote", "add", "origin", "https://github.com/o/r.git")
        git(self.project, "config", f"url.{self.bare}.insteadOf", "https://github.com/o/r.git")
        self.change("Begin", "main")
        git(self.project, "switch", "-qc", BRANCH)
        self.home = self.project / ".agentmux" / ".sessions" / "20260101-101500-x"
        (self.home / "08_completion").mkdir(parents=True)
        (self.home / "08_completion" / "summary.md").write_text("# Done\n\nIt greets.\n")
        self.environ = {
            "PATH": f"{self.forge.bin}:{os.environ['PATH']}", "HOME": str(root),
            **self.forge.environment,
        }  # fmt: skip
        self.commit = self.change("Add a greeting", BRANCH)

    def change(self, message: str, branch: str) -> str:
        git(self.project, "commit", "-qm", message, "--allow-empty")
        git(self.project, "push", "-q", "origin", f"HEAD:{branch}")
        return git(self.project, "rev-parse", "HEAD")

    def state(self, **more: Any) -> SessionState:
        plain: dict[str, Any] = {
            "phase": Phase.COMPLETING,
            "feature": "Add a greeting\n\nfor all",
            "branch": BRANCH,
            "base": Base(commit="0" * 40, branch="main"),
            "worktree": str(self.project),
            "options": Options(commit=True),
            "commit": Commit(status="made", commit=self.commit),
            "delivery": Delivery(id="a", then="pr"),
            "results": {
                "reviewing": PhaseResult(
                    verdicts={"reviewer_logic": "pass"},
                    reviews={"reviewer_logic": {"verdict": "pass", "summary": "It works."}},
                )
            },
            "implementation_groups": ({"plans": [{"index": 1, "name": "Say hello"}]},),
        }
        return SessionState(**{**plain, **more})

    def work(self, **more: Any) -> StepWork:
        world = build.world(self.project, environ=self.environ)
        state = self.state(**more)
        return StepWork(world=world, state=state, home=self.home, environ=self.environ)

    def taken(self, **more: Any) -> dict[str, str]:
        work = self.work(**more)
        record = STEP.prepare(work)
        return {**record, **STEP.perform(work, record)}


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(command_line, "SETTLES_S", 0.0)
    return Scene(tmp_path)


def test_a_request_is_opened_as_a_draft_with_summary_plan_and_verdicts(scene: Scene) -> None:
    issue = Issue(url="https://github.com/o/r/issues/42", number=42, title="No greeting")
    done = scene.taken(issue=issue)
    assert (done["number"], done["url"]) == ("100", "https://github.com/o/r/pull/100")
    assert STEP.describe_result(done) == "opened pull request #100: https://github.com/o/r/pull/100"
    (made,) = scene.forge.requests
    assert (made["base"], made["branch"], made["draft"]) == ("main", BRANCH, True)
    assert made["title"] == "No greeting"
    assert made["body"] == (
        "# Done\n\nIt greets.\n\n## Plan\n\n1. Say hello\n\n## Review\n\n- logic: pass: It works."
        "\n\nCloses #42\n"
    )


def test_a_request_is_opened_once(scene: Scene) -> None:
    work = scene.work()
    record = STEP.prepare(work)
    first = STEP.perform(work, record)
    again = STEP.perform(work, record)  # as after a kill between opening and recording
    assert len(scene.forge.requests) == 1
    assert {**again, "adopted": "no"} == first
    assert STEP.describe_result(again).startswith("updated pull request #100")


def test_a_strangers_request_for_a_branch_of_the_same_name_is_not_adopted(scene: Scene) -> None:
    fork = scene.bare.parent / "fork.git"
    git(scene.project, "clone", "-q", "--bare", str(scene.bare), str(fork))
    scene.forge.repository("stranger/r", fork)
    scene.forge.request(branch=BRANCH, source="github.com/stranger/r", commit=scene.commit)
    assert scene.taken()["number"] == "101"


def test_a_closed_request_is_not_adopted(scene: Scene) -> None:
    scene.forge.request(branch=BRANCH, commit=scene.commit, state="CLOSED")
    assert scene.taken()["number"] == "101"


def test_a_request_at_another_commit_is_named_and_nothing_is_opened(scene: Scene) -> None:
    scene.forge.request(branch=BRANCH, commit="c" * 40)
    with pytest.raises(ForgeError, match=r"/pull/100 is open for branch .* at commit cccccccccccc"):
        scene.taken()
    assert len(scene.forge.requests) == 1


def test_a_forge_may_take_a_moment_to_see_what_was_pushed(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "SETTLES_S", 30.0)
    program = (scene.forge.bin / "gh").read_text()
    # The second look is the first one that sees the commit.
    scene.forge.request(branch=BRANCH, commit="c" * 40)
    late = scene.forge.folder / "late"
    late.write_text((scene.forge.folder / "forge.json").read_text().replace("c" * 40, scene.commit))
    seen = f'[ "$2" = view ] && cp {late} {scene.forge.folder}/forge.json\n'
    (scene.forge.bin / "gh").write_text(program.replace("exec ", f"{seen}exec "))
    assert scene.taken()["number"] == "100"


def test_a_request_from_a_fork_goes_to_the_upstream(scene: Scene) -> None:
    git(scene.project, "remote", "rename", "origin", "upstream")
    fork = scene.bare.parent / "fork.git"
    git(scene.project, "clone", "-q", "--bare", str(scene.bare), str(fork))
    scene.forge.repository("me/r", fork)
    git(scene.project, "remote", "add", "origin", "git@github.com:me/r.git")
    git(scene.project, "config", "remote.pushDefault", "origin")
    done = scene.taken()
    assert (done["repo"], done["source"]) == ("o/r", "me/r")
    assert scene.forge.requests[0]["source"] == "github.com/me/r"
    assert scene.taken()["adopted"] == "yes"


def test_an_issue_of_another_repository_is_named_in_full(scene: Scene) -> None:
    issue = Issue(url="https://github.com/o/tracker/issues/7", number=7, title="t")
    scene.taken(issue=issue)
    assert scene.forge.requests[0]["body"].endswith("\n\nCloses o/tracker#7\n")


def test_secrets_do_not_reach_a_request(scene: Scene) -> None:
    (scene.project / ".gitignore").write_text(".env\n")
    (scene.project / ".env").write_text(
        "export API_KEY='k3y-planted'\nMODE=production\nURL=postgres://u:pw@h/db\n"
    )
    summary = "It uses k3y-planted at postgres://u:pw@h/db in production, with t0ken-of-env."
    (scene.home / "08_completion" / "summary.md").write_text(summary)
    scene.environ["GH_TOKEN"] = "t0ken-of-env"
    scene.taken(feature="Use k3y-planted")
    made = scene.forge.requests[0]
    assert made["title"] == "Use [hidden]"
    assert made["body"].startswith("It uses [hidden] at [hidden] in production, with [hidden].")


def test_a_failure_after_the_request_was_opened_finds_it(scene: Scene) -> None:
    program = (scene.forge.bin / "gh").read_text()
    fails = '"$@" || exit; [ "$2" != create ] || { echo "connection reset" >&2; exit 1; }'
    (scene.forge.bin / "gh").write_text(program.replace("exec ", "").replace('"$@"', fails))
    assert scene.taken()["number"] == "100"
    assert len(scene.forge.requests) == 1


def test_not_logged_in(scene: Scene) -> None:
    scene.forge.log_out()
    with pytest.raises(ForgeError, match="please run: gh auth login"):
        scene.taken()


def test_a_request_that_the_session_continues(scene: Scene) -> None:
    scene.forge.request(branch=BRANCH, commit=scene.commit, base="develop")
    request = Request(url="https://github.com/o/r/pull/100", number=100)
    done = scene.taken(request=request)
    assert (done["number"], done["adopted"]) == ("100", "yes")
    assert len(scene.forge.requests) == 1


def test_what_cannot_be_requested(scene: Scene) -> None:
    with pytest.raises(UsageError, match="not known into which branch of origin"):
        scene.taken(base=None)
    git(scene.project, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    assert scene.taken(base=None)["base"] == "main"
    with pytest.raises(UsageError, match="the result is on branch `main` itself"):
        scene.taken(branch="main")
    git(scene.project, "remote", "set-url", "origin", "/srv/x.git")
    with pytest.raises(UsageError, match="no remote of this repository is on a forge"):
        scene.taken()


def test_a_setting_opens_requests_that_are_ready(scene: Scene) -> None:
    folder = Path(scene.environ["HOME"]) / ".config" / "agentmux"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("version: 1\ncompletion: {draft: false}\n")
    scene.taken()
    assert scene.forge.requests[0]["draft"] is False


def test_what_is_missing_is_said_before_the_approval(scene: Scene) -> None:
    work = scene.work()
    assert way_of(work.world, work.state, PR) == PR
    said = describe_way(work.world, work.state, PR)
    assert said == (
        "then pushed to origin, branch agentmux/x; a draft pull request asks to merge it into main"
        " of o/r on github.com"
    )
    (scene.forge.bin / "gh").unlink()
    with pytest.raises(ForgeError, match="`gh` is not installed"):
        way_of(work.world, work.state, PR)
    request = Request(url="https://github.com/o/r/pull/7", number=7)
    continued = scene.work(request=request)
    assert describe_way(continued.world, continued.state, PR).endswith(
        "; https://github.com/o/r/pull/7 is updated"
    )
