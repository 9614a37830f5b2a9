"""The JSON Schema of the configuration files, compared with what AgentMux itself accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from agentmux.adapters.config.config_schema import config_schema, config_schema_text
from agentmux.adapters.config.layers import SCHEMA
from agentmux.adapters.yaml import schema
from agentmux.errors import ConfigError

REPOSITORY = Path(__file__).parents[3]
VALIDATOR = Draft7Validator(config_schema())


def mistakes(text: str) -> list[str]:
    found = as_editors_read(yaml.safe_load(text))
    return [error.message for error in VALIDATOR.iter_errors(found)]


def as_editors_read(value: Any) -> Any:
    """Return a value as YAML 1.2 has it: there the key ``on`` is a text, as for us."""
    if isinstance(value, dict):
        return {"on" if key is True else key: as_editors_read(each) for key, each in value.items()}
    return [as_editors_read(each) for each in value] if isinstance(value, list) else value


def is_accepted(text: str) -> bool:
    node = schema.parse(text, "config.yaml")
    assert node is not None
    try:
        schema.read(node, SCHEMA)
    except ConfigError:
        return False
    return True


def documented() -> Iterator[Any]:
    pages = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
    for page in pages:
        for index, text in enumerate(re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)):
            keys = yaml.safe_load(text)
            if isinstance(keys, dict) and {*keys} <= {*SCHEMA}:
                yield pytest.param(text, id=f"{page.stem}-{index}")


def test_it_is_a_json_schema() -> None:
    Draft7Validator.check_schema(config_schema())
    assert json.loads(config_schema_text()) == config_schema()


def test_the_example_keeps_to_it() -> None:
    assert mistakes((REPOSITORY / ".agentmux.example" / "config.yaml").read_text()) == []


@pytest.mark.parametrize("text", [*documented()])
def test_every_example_of_the_documentation_keeps_to_it(text: str) -> None:
    assert is_accepted(text)
    assert mistakes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "roles: {quality: {agent: codex}, security: {args: [--port, 8080]}}",
        "roles:\nagents:\n",
        "agents: {robot: {command: [robot, -x], mcp: null, env: {A_B: c}}}",
        "agents: {robot: {strategies: [{kind: assign, resume: ['--r={session_id}']}]}}",
        "git: {setup: [{name: a, run: [npm, ci], timeout: 10m}], branch_prefix: ''}",
        "tmux: {size: [100, 30], socket_name: x}",
        "version: 1\nresume: {policy: null, max_age: 1.5h, commands: {claude: []}}",
    ],
)
def test_it_accepts_what_agentmux_accepts(text: str) -> None:
    assert is_accepted(text)
    assert mistakes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "rolls: {}",
        "roles: {coder: {modle: x}}",
        "roles: {reviewer_logic: {single: true}}",
        "resume: {policy: sometimes}",
        "resume: {max_age: 7}",
        "tmux: {size: [100]}",
        "tmux: {size: [10, 30]}",
        "verify: [{name: tests}]",
        "agents: {robot: {command: []}}",
        "agents: {robot: {mcp: {}}}",
        "completion: {commit: 1}",
        "version: 2",
    ],
)
def test_it_marks_the_mistakes_that_agentmux_refuses(text: str) -> None:
    assert not is_accepted(text)
    assert mistakes(text)


def test_it_names_the_built_in_values() -> None:
    keys = config_schema()["properties"]
    assert keys["defaults"]["properties"]["agent"]["default"] == "claude"
    assert keys["stall"]["properties"]["nudge_after"]["default"] == "10m"
    assert keys["tmux"]["properties"]["size"]["default"] == [220, 60]


def test_a_reader_without_a_description_is_a_bug() -> None:
    with pytest.raises(TypeError, match="which values it accepts"):
        schema.described_schema({"key": lambda node, _: node.value})
