"""What the how-to pages say works when it is done."""

import re
from pathlib import Path

import pytest

from tests.e2e.conftest import QUICK, Project, Session

RARE = pytest.mark.rare("CI runs test_moving.py, test_rewind.py and test_installation_gone.py")

pytestmark = pytest.mark.long

PAGES = Path(__file__).parents[2] / "docs" / "how-to"


def blocks(page: str, kind: str = "sh") -> list[str]:
    text = (PAGES / f"{page}.md").read_text("utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def shell(project: Project, script: str) -> str:
    """Run a script to its end in the project; each of its commands succeeds."""
    done = project.program("sh", "-euc", script)
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.rare("CI follows other pages")
def test_prompts_of_your_own_reach_the_agents(project: Project) -> None:
    write, show = blocks("own-prompts")
    shell(project, write)
    project.start().wait()
    said = [(project.path / each).read_text() for each in shell(project, show).split()]
    found = sorted(("`make test`" in each, "integer of cents" in each) for each in said)
    assert found[-2:] == [(False, True), (True, False)]
    assert set(found[:-2]) <= {(False, False), (False, True)}  # the reviewer writes the summary


def test_the_page_on_roles_is_a_configuration(project: Project) -> None:
    (text,) = blocks("roles", "yaml")
    project.config(text.removeprefix("version: 1\n"))
    origins = shell(project, blocks("roles")[-1])
    assert re.search(r"roles\.coder.*codex", origins)
    assert re.search(r"roles\.architect.*opus", origins)


@RARE
def test_after_uninstalling_nothing_is_left(project: Project) -> None:
    project.config("defaults: {agent: demo}\n")
    session = project.start("add a greeting", "--worktree").wait()
    shell(project, "agentmux approve --yes --merge; agentmux completion bash --install")
    session.wait("done").gone()
    live = project.start("add another").wait()
    script = "".join(blocks("uninstall"))
    installers = r"^(uv tool|pipx) uninstall .*\n|^rm -rf ~/agentmux\n"
    script = re.sub(installers, "", script, flags=re.MULTILINE).replace("NAME", live.name)
    shell(project, script.replace("agentmux remove", "agentmux remove --yes"))
    live.gone()
    assert not (project.path / ".agentmux" / ".sessions").exists()
    assert [str(each) for each in project.home.rglob("*agentmux*")] == []
    assert project.git("branch", "--list", "agentmux/*") == ""
    assert project.git("for-each-ref", "refs/agentmux") == ""
    assert len(project.git("worktree", "list").splitlines()) == 1


@pytest.mark.rare("CI follows other pages")
def test_the_line_of_crontab_resumes_what_the_end_of_the_machine_has_stopped(
    project: Project,
) -> None:
    session = project.start("add a greeting").wait()
    project.ok("stop", session.name)
    (line,) = re.findall(r"^@reboot (.*)$", (PAGES / "ssh.md").read_text("utf-8"), re.MULTILINE)
    line = line.replace("$HOME/project", str(project.path)).replace("$HOME/.local/bin/", "")
    shell(project, line)
    session.wait()
    assert project.json("list")["sessions"][0]["status"] == "decision"


@RARE
def test_a_rewind_as_the_page_says_it(project: Project) -> None:
    session = project.start("add a greeting", "--worktree").wait()
    script = blocks("rewind", "")[0].replace("SESSION", session.name)
    said = shell(project, script.replace("--to planning   ", "--to planning --yes ") + "\n")
    assert "is in phase implementing" in said
    session.wait()


@RARE
def test_a_session_moves_as_the_page_says(project: Project) -> None:
    there, here = blocks("move-a-session")
    project.scenario({"roles": {"coder": {"silent": True}}})
    session = project.start("add a greeting", "--worktree").until_seat("coder-1")
    shell(project, there)
    (shown,) = project.json("status", session.name)["sessions"]
    assert shown["status"] == "moved"
    clone = project.root / "clone"
    project.git("clone", "-q", str(project.path), str(clone))
    project.scenario(QUICK)
    script = here.replace("resume", "resume --detach")
    assert "imported session" in shell(project, f"cd {clone}\n{script}")
    found = Session(project, clone / ".agentmux" / ".sessions" / session.name)
    project.ok("--project", str(clone), "wait", found.name, "--for", "decision", "--timeout", "30")
