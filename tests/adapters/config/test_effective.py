"""The settings in effect, and where each of them comes from."""

from __future__ import annotations

import json
from pathlib import Path

from agentmux.adapters.config.effective import SettingValue, effective_values, plain_settings
from agentmux.adapters.config.layers import load_settings, read_layers
from agentmux.core.config.settings import Settings

FULL = """
roles: {coder: {agent: codex, single: true}, security: {args: [-x]}}
agents: {claude: {env: {A: b}}}
resume: {max_age: 90m, reject_after: 1500ms, commands: {claude: [-c]}}
git: {setup: [{name: a, run: [npm, ci], timeout: 1h}]}
verify: [{name: tests, run: [pytest], required: false}]
"""


def shown(tmp_path: Path, user: str, project: str) -> dict[str, SettingValue]:
    (tmp_path / "user").mkdir()
    (tmp_path / ".agentmux").mkdir()
    own = tmp_path / ".agentmux/config.yaml"
    (tmp_path / "user/config.yaml").write_text(user)
    own.write_text(project)
    layers = read_layers(tmp_path / "user", tmp_path, None)
    names = {tmp_path / "user/config.yaml": "user", own: "project"}
    return {each.key: each for each in effective_values(layers, names)}


def test_each_value_has_the_layer_that_wins(tmp_path: Path) -> None:
    found = shown(tmp_path, "defaults:\n  agent: codex\n  model: x\n", "defaults: {agent: pi}\n")
    agent, model = found["defaults.agent"], found["defaults.model"]
    assert (agent.value, agent.layer, agent.at) == ("pi", "project", ".agentmux/config.yaml:1")
    assert (model.value, model.layer) == ("x", "user")
    assert model.at == "user/config.yaml:3"
    assert (found["resume.native"].value, found["resume.native"].layer) == (True, "built-in")


def test_values_are_written_as_in_a_file(tmp_path: Path) -> None:
    found = {key: each.value for key, each in shown(tmp_path, "", FULL).items()}
    assert found["resume.max_age"] == "90m"
    assert found["resume.reject_after"] == "1500ms"
    assert found["resume.commands.claude"] == ["-c"]
    assert found["agents.claude.env.A"] == "b"
    assert found["roles.coder.single"] is True
    assert "roles.security.single" not in found
    assert found["verify"] == [
        {"name": "tests", "run": ["pytest"], "timeout": "10m", "required": False}
    ]


def test_the_built_in_settings_written_into_a_file_are_the_built_in_settings(
    tmp_path: Path,
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps(plain_settings(Settings())))
    assert load_settings(tmp_path, tmp_path / "project", None).settings == Settings()
