"""Which commands check results: found in the project's files, shown, tried, and then written."""

import os
from pathlib import Path

import pytest

from agentmux.adapters.config.layers import load_settings
from agentmux.cli.ask.check_choice import ask_checks, found_commands
from agentmux.cli.commands.project import config_template
from agentmux.cli.commands.project.config_template import Choices, config_text
from agentmux.core.config.commands import VerifyCommand

GOOD = VerifyCommand(name="good", run=("sh", "-c", "echo x >> ran; exit 0"))
BAD = VerifyCommand(name="bad", run=("sh", "-c", "echo x >> ran; exit 1"))
MISSING = VerifyCommand(name="missing", run=("no-such-program",))


@pytest.mark.parametrize(
    ("command", "answers", "taken", "runs"),
    [
        (GOOD, [""], True, 1),
        (GOOD, ["Y"], True, 1),
        (GOOD, ["n"], False, 0),
        (GOOD, ["what?", "n"], False, 0),
        (BAD, ["y", "what?", "y"], True, 1),
        (BAD, ["", ""], False, 1),
        (BAD, ["", "y"], True, 1),
        (MISSING, ["", ""], False, 0),
    ],
)
def test_a_command_is_shown_and_tried_before_it_is_taken(
    command: VerifyCommand, answers: list[str], taken: bool, runs: int, tmp_path: Path
) -> None:
    asked: list[str] = []

    def ask(text: str) -> str:
        asked.append(text)
        return answers[len(asked) - 1]

    found = ask_checks((command,), tmp_path, os.environ, ask)
    assert found == ((command,) if taken else ())
    assert len(asked) == len(answers)
    assert command.run[0] in asked[0]
    ran = tmp_path / "ran"
    assert (len(ran.read_text().splitlines()) if ran.exists() else 0) == runs


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").touch()
    (tmp_path / "go.mod").write_text("module x\n")
    found = found_commands(tmp_path)
    assert [each.name for each in found] == ["pytest", "go-test"]
    path = config_template.require_free(tmp_path)
    config_template.write(path, config_text(Choices(agent="demo", verify=found)))
    assert load_settings(None, tmp_path, None).settings.verify == found
    path.unlink()
    config_template.write(path, config_text(Choices(agent="demo")))
    assert load_settings(None, tmp_path, None).settings.verify == ()
    assert "# verify: []" in path.read_text()
