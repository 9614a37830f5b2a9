"""`agentmux init` as a wizard, driven in a real terminal: a pane of tmux."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from agentmux.adapters.config.config_schema import SCHEMA_FILE
from agentmux.core.names.phase import REVIEWERS
from tests.fakes.bench import Bench
from tests.fakes.make_program import install_make

CLAUDE_HELP = "  --session-id <uuid>  id\\n  -r, --resume [value]  resume\\n"
WaitUntil = Callable[..., None]
AGENT, ALL, LEVEL = "agent should play the roles", "all of it?", "may claude do"
WHERE, WRITE = "features be worked on", "Write it?"


class Wizard:
    """One `agentmux init` in a pane, and the person who types there."""

    def __init__(self, tmux: Bench, project: Path, wait_until: WaitUntil) -> None:
        self._tmux, self._until, self.project = tmux, wait_until, project
        self.begin()

    def begin(self, *options: str) -> None:
        """Run it in a new pane."""
        tmux, project = self._tmux, self.project
        # Without another session the server would end, and might take the next one with it.
        tmux.run("new-session", "-d", "-s", "other")
        tmux.run("kill-session", "-t", "=wizard")
        init = shlex.join([sys.executable, "-P", "-m", "agentmux", "init", *options])
        words = (
            "env",
            f"PATH={os.environ['PATH']}",
            "sh",
            "-c",
            f"trap : INT; {init}; echo CODE=$?; cat",
        )
        size = ("-x", "100", "-y", "60", "-c", str(project))
        tmux.run("new-session", "-d", "-s", "wizard", *size, "--", *words)

    @property
    def screen(self) -> str:
        return self._tmux.run("capture-pane", "-p", "-J", "-t", "=wizard:").stdout.rstrip("\n ")

    def sees(self, words: str) -> None:
        self._until(lambda: words in self.screen, 30, lambda: self.screen)

    def answers(self, question: str, *keys: str) -> None:
        """Wait until the question, by a part of it, waits for its answer; then press the keys."""
        self._until(lambda: self._asks(question), 30, lambda: self.screen)
        self._tmux.run("send-keys", "-t", "=wizard:", *keys)

    def _asks(self, question: str) -> bool:
        shown = self.screen
        return question in shown and shown.endswith("]:")

    @property
    def config(self) -> Path:
        return self.project / ".agentmux/config.yaml"


@pytest.fixture
def wizard(
    tmux: Bench, tmp_path: Path, wait_until: WaitUntil, monkeypatch: pytest.MonkeyPatch
) -> Wizard:
    folder, project = tmp_path / "bin", tmp_path / "project"
    folder.mkdir()
    project.mkdir()
    for name, says in (("claude", CLAUDE_HELP), ("codex", "  resume     Resume a previous\\n")):
        (folder / name).write_text(f"#!/bin/sh\nprintf '{says}'\n")
        (folder / name).chmod(0o755)
    install_make(folder)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return Wizard(tmux, project, wait_until)


def test_every_answer_is_in_the_file_that_is_shown_first(wizard: Wizard) -> None:
    wizard.answers(AGENT, "Enter")
    wizard.answers(ALL, "n", "Enter")
    for does in ("should plan?", "should research?", "should write the code?"):
        wizard.answers(does, "Enter")
    wizard.answers("should review?", "codex", "Enter")
    wizard.answers(LEVEL, "2", "Enter")
    wizard.answers("may codex do", "ask", "Enter")
    wizard.answers(WHERE, "never", "Enter")
    wizard.sees("worktree: never")
    assert not wizard.config.exists()
    wizard.answers(WRITE, "Enter")
    wizard.sees("CODE=0")
    said = yaml.safe_load(wizard.config.read_text())
    assert {**said, "agents": {*said["agents"]}} == {
        "version": 1,
        "defaults": {"agent": "claude"},
        "roles": {role: {"agent": "codex"} for role in REVIEWERS},
        "agents": {"claude"},
        "git": {"worktree": "never"},
    }
    assert said["agents"]["claude"]["permission_args"][:2] == ["--permission-mode", "acceptEdits"]
    assert not (wizard.project / ".agentmux" / SCHEMA_FILE).exists()
    shown = wizard.screen.splitlines()
    places = [n for n, line in enumerate(shown) if LEVEL in line or WHERE in line]
    assert [shown[place - 1] for place in places] == [""] * len(places)
    assert places


@pytest.mark.parametrize(
    "leave", [["C-c"], ["Escape", "Enter"], ["C-d"]], ids=["ctrl-c", "escape", "ctrl-d"]
)
def test_who_leaves_leaves_nothing(wizard: Wizard, leave: list[str]) -> None:
    wizard.answers(AGENT, "Enter")
    wizard.answers(ALL, "Enter")
    wizard.answers(LEVEL, *leave)
    wizard.sees("CODE=130")
    assert not wizard.config.parent.exists()


def test_where_no_tests_are_found_it_says_so_and_how_to_name_one(wizard: Wizard) -> None:
    for question in (AGENT, ALL, LEVEL, WHERE, WRITE):
        wizard.answers(question, "Enter")
    wizard.sees("CODE=0")
    wizard.sees("no tests were found in")
    wizard.sees("write into that file:\nverify: [{name: tests, run: [COMMAND]}]")


def test_who_does_not_want_the_file_gets_none(wizard: Wizard) -> None:
    for question in (AGENT, ALL, LEVEL, WHERE):
        wizard.answers(question, "Enter")
    wizard.answers(WRITE, "n", "Enter")
    wizard.sees("CODE=130")
    assert not wizard.config.parent.exists()


def test_only_the_checks_are_asked_for_and_the_rest_of_the_file_stays(wizard: Wizard) -> None:
    (wizard.project / "Makefile").write_text("test:\n\ttrue\n")
    wizard.config.parent.mkdir()
    wizard.config.write_text("# mine\nversion: 1\ndefaults: {agent: claude}\n")
    wizard.begin("--checks")
    wizard.answers("Let `make test` check results?", "Enter")
    wizard.sees("CODE=0")
    text = wizard.config.read_text()
    assert text.startswith("# mine\nversion: 1\ndefaults: {agent: claude}\n")
    assert yaml.safe_load(text)["verify"] == [{"name": "make-test", "run": ["make", "test"]}]
    wizard.begin("--checks")
    wizard.sees("results are verified already by: make-test")
    wizard.sees("CODE=2")


def test_tests_of_unittest_are_found(wizard: Wizard) -> None:
    (wizard.project / "tests").mkdir()
    (wizard.project / "tests/test_price.py").write_text(
        "import unittest\n\n\nclass Price(unittest.TestCase):\n    def test_it(self): pass\n"
    )
    wizard.begin("--checks", "--defaults")
    wizard.sees("verify: unittest")
    wizard.sees("CODE=0")


def test_a_script_takes_the_checks_that_pass(wizard: Wizard) -> None:
    wizard.begin("--checks", "--defaults")
    wizard.sees("no tests were found in")
    wizard.sees("tests/test_*.py, npm test")
    wizard.sees("CODE=4")
    (wizard.project / "Makefile").write_text("test:\n\tfalse\n")
    wizard.begin("--checks", "--defaults")
    wizard.sees("nothing was written")
    assert not wizard.config.exists()
    (wizard.project / "Makefile").write_text("test:\n\ttrue\n")
    wizard.begin("--checks", "--defaults")
    wizard.sees("CODE=0")
    assert list(yaml.safe_load(wizard.config.read_text())) == ["verify"]
