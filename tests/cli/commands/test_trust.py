"""A project's files have no effect until the user trusts them; inspecting them runs nothing."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.app.commands.look.trust import (
    NotTrustedError,
    find_untrusted,
    keep,
    keep_written,
    require_trusted,
    seats_effect,
)
from agentmux.app.world import World
from agentmux.cli.main import main
from agentmux.core.journal.state import Options
from agentmux.core.names import layout
from agentmux.core.names.phase import PRODUCT_MANAGER, ROLES, Phase
from agentmux.errors import ExitCode
from agentmux.wiring import build
from tests.app.on_disk import OnDisk
from tests.conftest import trust
from tests.fakes.pseudo_terminal import read_to_end

Capture = pytest.CaptureFixture[str]
Run = Callable[..., int]
NAME = "20260101-101500-add-auth"
PLAYING = [role for role in ROLES if role != PRODUCT_MANAGER]


@pytest.fixture
def project(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    folder = tmp_path / "project"
    (folder / ".agentmux/prompts").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder.resolve()


@pytest.fixture
def evil(project: Path) -> Path:
    """A program in the repository; when it runs, it writes ``evil.sh.ran`` beside it."""
    program = project / "evil.sh"
    program.write_text('#!/bin/sh\necho ran >> "$0.ran"\necho "--session-id --resume 1.0.0"\n')
    program.chmod(0o755)
    return program


def ran(evil: Path) -> bool:
    return evil.with_name("evil.sh.ran").exists()


@pytest.fixture
def run(project: Path) -> Run:
    return lambda *argv: main(argv, os.environ)


def configure(project: Path, text: str) -> None:
    (project / ".agentmux/config.yaml").write_text(f"version: 1\n{text}\n")


def world(project: Path) -> World:
    return build.world(project, environ=os.environ)


def asked(project: Path, *agents: str) -> list[str]:
    """Return the keys of the parts whose trust a start would ask for."""
    flags = {"*": agents[0]} if agents else {}
    effect = seats_effect(flags, {}, PLAYING)
    return [part.key for part in find_untrusted(world(project), effect)]


# -- effects of untrusted files ------------------------------------------------------------------


def test_until_trusted_nothing_that_runs_or_is_told_has_effect(project: Path) -> None:
    configure(
        project,
        "defaults: {agent: robot, model: big, max_review_iterations: 1}\n"
        "roles: {coder: {agent: claude, args: [-x]}}\n"
        "agents: {robot: {command: ./evil.sh}, claude: {args: [-y]}}\n"
        "resume: {max_age: 1d, commands: {claude: [--continue]}}\n"
        "completion: {commit: false}",
    )
    (project / ".agentmux/prompts/coder.md").write_text("Obey.\n")
    found = world(project)
    assert found.settings.agent_for("coder") == "claude"
    assert found.settings.defaults.model is None
    assert found.settings.role("coder").args == ()
    assert found.agents.spec("claude").args == ()
    assert not found.agents.spec("robot").known
    assert found.settings.resume.commands == {}
    assert found.texts.templates.extension("coder") is None
    # The other settings of the file need no trust.
    assert found.settings.defaults.max_review_iterations == 1
    assert found.settings.resume.max_age_s == 86400
    assert not found.settings.completion.commit

    trust(project)
    found = world(project)
    assert found.settings.agent_for("planner") == "robot"
    assert found.settings.choose_player("planner", {}, {}).model == "big"
    assert found.settings.role("coder").args == ("-x",)
    assert found.agents.spec("robot").command == ("./evil.sh",)
    assert found.agents.spec("claude").args == ("-y",)
    assert found.settings.resume.commands == {"claude": ("--continue",)}
    assert found.texts.templates.extension("coder") == "Obey.\n"


def test_what_the_user_says_needs_no_trust(project: Path, tmp_path: Path) -> None:
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "agentmux/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("agents: {robot: {like: demo, command: mine}}\n")
    flag = tmp_path / "flag.yaml"
    flag.write_text("defaults: {agent: robot}\n")
    found = build.world(project, config=flag, environ=os.environ)
    assert found.settings.defaults.agent == "robot"
    assert found.agents.spec("robot").command == ("mine",)
    assert found.consent.trust.parts() == ()
    # A setting that the user's file overrides needs no trust.
    configure(project, "defaults: {agent: ./evil.sh}")
    found = build.world(project, config=flag, environ=os.environ)
    assert find_untrusted(found, seats_effect({}, {}, PLAYING)) == ()


@pytest.mark.parametrize(
    ("text", "agents", "keys"),
    [
        ("defaults: {agent: ./evil.sh}", (), ["defaults.agent"]),
        ("defaults: {agent: ./evil.sh}", ("demo",), []),
        ("defaults: {model: big}", (), ["defaults.model"]),
        ("agents: {other: {command: ./evil.sh}}", (), []),
        ("agents: {demo: {args: [-x]}}", ("demo",), ["agents.demo"]),
        ("agents: {demo: {args: [-x]}}", ("claude",), []),
        ("agents: {my: {match: [tool]}}", ("tool --fast",), ["agents.my"]),
        (
            "agents: {a: {like: b}, b: {command: ./evil.sh}}",
            ("a",),
            ["agents.a", "agents.b"],
        ),
        ("roles: {coder: {args: [-x]}}", (), ["roles.coder"]),
        ("roles: {coder: {args: [-x]}}", ("demo",), []),
        ("roles: {coder: {single: true}}", ("demo",), ["roles.coder"]),
        ("roles: {product-manager: {agent: ./evil.sh}}", (), []),
        ("resume: {commands: {claude: [--continue]}}", (), ["resume.commands.claude"]),
        ("resume: {commands: {claude: [--continue]}}", ("demo",), []),
        ("tmux: {socket_name: mine}\nstall: {nudge_after: 1m}", (), []),
    ],
)
def test_a_start_asks_about_what_it_would_use(
    project: Path, text: str, agents: tuple[str, ...], keys: list[str]
) -> None:
    configure(project, text)
    assert asked(project, *agents) == keys
    trust(project)
    assert asked(project, *agents) == []


def test_a_change_asks_about_what_changed_alone(project: Path) -> None:
    configure(project, "defaults: {agent: demo}\nroles: {coder: {agent: claude}}")
    trust(project)
    configure(project, "# a word\nroles: {coder: {agent: codex}}\ndefaults:\n  agent: demo")
    assert asked(project) == ["roles.coder"]
    assert world(project).settings.agent_for("coder") == "demo"
    (project / ".agentmux/prompts/planner.md").write_text("Obey.\n")
    assert asked(project) == ["roles.coder", "prompts.planner"]


def test_a_copy_of_a_trusted_project_is_not_trusted(project: Path, tmp_path: Path) -> None:
    configure(project, "defaults: {agent: demo}")
    trust(project)
    project.rename(tmp_path / "moved")
    assert asked(tmp_path / "moved") == ["defaults.agent"]


# -- the race ------------------------------------------------------------------------------------


def test_what_is_used_is_what_was_trusted_whatever_the_file_says_by_now(project: Path) -> None:
    configure(project, "defaults: {agent: demo}")
    found = world(project)
    configure(project, "defaults: {agent: ./evil.sh}")
    found.consent.trust.keep({part.key: part.digest for part in found.consent.trust.parts()})
    there = found.consent.allow(frozenset(["defaults.agent"]))
    assert there.settings.defaults.agent == "demo"
    assert asked(project) == ["defaults.agent"]


def test_an_orchestrator_refuses_what_changed_since_it_was_asked_for(project: Path) -> None:
    configure(project, "defaults: {agent: demo}")
    trust(project)
    configure(project, "defaults: {agent: ./evil.sh}")
    with pytest.raises(NotTrustedError, match=r"defaults\.agent"):
        require_trusted(world(project), seats_effect({}, {}, PLAYING))


# -- the commands --------------------------------------------------------------------------------


def test_no_program_of_a_repository_runs_before_consent(
    project: Path, evil: Path, run: Run, capsys: Capture
) -> None:
    configure(project, f"agents: {{claude: {{command: {evil}}}}}")
    session = OnDisk(project / layout.SESSIONS_DIR / NAME, Phase.ARCHITECTING)
    session.commit()
    for words in (
        ("agents",),
        ("agents", "--json"),
        ("agents", "probe", "claude"),
        ("agents", "show", "claude"),
        ("start", "x"),
        ("start", "--yes", "--detach", "x"),
        ("start", "--agent", "claude", "--json", "x"),
        ("resume", NAME),
        ("resume", "--yes", "--fresh", NAME),
    ):
        assert run(*words) == ExitCode.CONFIG, words
        said = capsys.readouterr()
        assert "this project is not trusted" in said.err
        assert "agents.claude" in said.err
        assert "trust it: agentmux trust\n" in said.err
        assert not ran(evil), words
    for words in (
        ("resume", "--dry-run"),
        ("resume", "--dry-run", "--json", NAME),
        ("start", "--dry-run", "x"),
        ("list",),
        ("status",),
        ("agents", "show", "demo"),
        ("trust", "--show"),
    ):
        assert run(*words) == 0, words
        assert not ran(evil), words
    assert run("agents", "--trust") == 0
    assert ran(evil)
    assert run("agents", "probe", "claude") == 0


def test_looking_ahead_warns_and_foresees_what_trust_would_do(
    project: Path, run: Run, capsys: Capture
) -> None:
    configure(project, "defaults: {agent: demo}")
    session = OnDisk(project / layout.SESSIONS_DIR / NAME, Phase.ARCHITECTING)
    session.commit()
    assert run("start", "--dry-run", "--json", "x") == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["agents"].values()) == {"demo"}
    assert "not trusted" in found["warnings"][0]
    assert run("resume", "--dry-run", "--json", NAME) == 0
    (found,) = json.loads(capsys.readouterr().out)["sessions"]
    assert [each["agent"] for each in found["panes"]] == ["demo"]
    assert "not trusted" in found["warnings"][0]
    assert not (project / "../home/state/agentmux/trust").exists()


def test_a_session_asks_by_the_flags_of_its_start(project: Path, evil: Path, run: Run) -> None:
    configure(project, f"defaults: {{agent: {evil}}}")
    options = Options(agents={"*": "demo"})
    path = project / layout.SESSIONS_DIR / NAME
    OnDisk(path, Phase.ARCHITECTING, options=options).commit()
    assert run("resume", "--dry-run", "--json", NAME) == 0
    assert find_untrusted(world(project), seats_effect(options.agents, {}, PLAYING)) == ()


def test_trust_shows_keeps_and_revokes(project: Path, run: Run, capsys: Capture) -> None:
    def shown() -> dict[str, Any]:
        assert run("trust", "--show", "--json") == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    assert shown()["trusted"] is True
    configure(project, 'agents: {robot: {command: [./evil.sh, "\\u202e"]}}')
    (project / ".agentmux/prompts/coder.md").write_text("Obey.\nAlways.\n")
    assert shown()["trusted"] is False
    assert [(each["key"], each["standing"]) for each in shown()["parts"]] == [
        ("agents.robot", "new"),
        ("prompts.coder", "new"),
    ]
    assert run("trust", "--show") == 0
    said = capsys.readouterr().out
    assert 'agents.robot (new)\n  command: ["./evil.sh", "\\u202e"]' in said
    assert '"Always."' in said
    assert shown()["trusted"] is False

    assert run("trust") == 0
    assert "evil.sh" in capsys.readouterr().err
    assert shown()["trusted"] is True
    configure(project, "agents: {robot: {command: ./worse.sh}}")
    assert [each["standing"] for each in shown()["parts"]] == ["changed", "trusted"]

    assert run("trust", "--revoke") == 0
    assert "are not trusted any more" in capsys.readouterr().err
    assert {each["standing"] for each in shown()["parts"]} == {"new"}
    assert run("trust", "--show", "--revoke") == ExitCode.USAGE


def test_an_agent_trusts_nothing(project: Path, capsys: Capture) -> None:
    configure(project, "defaults: {agent: demo}")
    environ = {**os.environ, "AGENTMUX_LAUNCH_ID": "abc", "AGENTMUX_SEAT": "coder-1"}
    for words in (
        ["trust"],
        ["trust", "--revoke"],
        ["agents", "--trust"],
        ["start", "--trust", "x"],
    ):
        assert main(words, environ) == ExitCode.BLOCKED, words
        assert "is for a person" in capsys.readouterr().err
    assert main(["trust", "--show"], environ) == 0
    assert asked(project) == ["defaults.agent"]


def test_what_init_writes_is_trusted_and_nothing_besides(project: Path, run: Run) -> None:
    (project / ".agentmux/prompts/coder.md").write_text("Obey.\n")
    assert run("init", "--defaults") == 0
    assert asked(project) == ["prompts.coder"]
    assert world(project).settings.defaults.agent == "claude"


def test_a_project_in_which_an_agent_called_init_is_not_trusted(project: Path) -> None:
    environ = {**os.environ, "AGENTMUX_LAUNCH_ID": "abc"}
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "agentmux/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("defaults: {agent: codex}\n")
    assert main(["init", "--defaults"], environ) == 0
    own.unlink()
    assert asked(project) == ["defaults.agent"]


# -- the question --------------------------------------------------------------------------------


def at_terminal(project: Path, *words: str, answer: str) -> tuple[int, str]:
    """Run a command on a terminal and answer its question; return its exit code and output."""
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "agentmux", *words]
    process = subprocess.Popen(
        argv, cwd=project, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    os.write(ours, answer.encode())
    said = read_to_end(ours)
    return process.wait(60), said


def test_a_person_is_shown_what_would_be_used_and_asked(project: Path, evil: Path) -> None:
    configure(project, f"agents: {{claude: {{command: {evil}}}, other: {{command: no.sh}}}}")
    code, said = at_terminal(project, "agents", "show", "claude", answer="n\n")
    assert code == ExitCode.INTERRUPTED
    assert f'agents.claude (new)\r\n    command: ["{evil}"]' in said
    assert "agents.other" not in said
    assert "Trust this in" in said
    assert not ran(evil)
    assert "to trust it later: agentmux trust" in said
    assert f"to go on without it, change it in {project / '.agentmux'}" in said
    assert "or say which agent plays the roles: agentmux start --agent NAME" in said
    code, said = at_terminal(project, "agents", "show", "claude", answer="y\n")
    assert code == 0
    assert ran(evil)
    # This part is trusted now; the other one, which was not shown, is not.
    assert asked(project) == []
    code, said = at_terminal(project, "agents", "show", "other", answer="n\n")
    assert code == ExitCode.INTERRUPTED
    assert "agents.other (new)" in said


def test_a_question_of_an_agent_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(project, "defaults: {agent: demo}")
    monkeypatch.setenv("AGENTMUX_LAUNCH_ID", "abc")
    code, said = at_terminal(project, "agents", answer="y\n")
    assert code == ExitCode.BLOCKED
    assert "is for a person" in said
    assert asked(project) == ["defaults.agent"]


def test_a_refused_start_leaves_nothing(project: Path, run: Run) -> None:
    configure(project, "defaults: {agent: demo}")
    assert run("start", "--detach", "x") == ExitCode.CONFIG
    assert not (project / layout.SESSIONS_DIR).exists()


TWO_PARTS = "defaults: {agent: demo}\nroles: {coder: {agent: demo}}\n"


def test_what_was_revoked_while_somebody_was_asked_stays_so(project: Path, run: Run) -> None:
    configure(project, TWO_PARTS)
    assert run("trust", "--yes") == 0
    asking = world(project)
    assert len(asking.consent.trust.trusted_parts()) == 2
    assert run("trust", "--revoke") == 0

    (answered,) = [part for part in asking.consent.trust.parts() if part.key == "defaults.agent"]
    keep(asking, [answered])

    assert set(world(project).consent.trust.trusted_parts()) == {"defaults.agent"}


def test_what_came_in_while_the_user_wrote_is_not_trusted(project: Path) -> None:
    before = world(project)
    configure(project, TWO_PARTS)  # only its first line is from the user
    keep_written(before, world(project), ("defaults.agent",))
    assert set(world(project).consent.trust.trusted_parts()) == {"defaults.agent"}


def test_what_was_not_trusted_before_the_user_wrote_stays_so(project: Path) -> None:
    configure(project, TWO_PARTS)  # by somebody else
    before = world(project)
    configure(project, "defaults: {agent: codex}\nroles: {coder: {agent: demo}}\n")
    keep_written(before, world(project), ("defaults.agent",))
    assert world(project).consent.trust.trusted_parts() == {}
    assert "defaults.agent" in asked(project)


def test_what_was_trusted_before_the_user_wrote_is_trusted_as_it_is_now(
    project: Path, run: Run
) -> None:
    configure(project, TWO_PARTS)
    assert run("trust", "--yes") == 0
    before = world(project)
    configure(project, "defaults: {agent: codex}\nroles: {coder: {agent: demo}}\n")
    keep_written(before, world(project), ("defaults.agent",))
    assert asked(project) == []
