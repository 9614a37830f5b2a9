"""The JSON Schema of the configuration files, which editors use to check and complete them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.config.effective import plain_settings
from agentmux.adapters.config.layers import SCHEMA
from agentmux.adapters.yaml import schema
from agentmux.core.config.settings import Settings
from agentmux.core.names import layout

SCHEMA_FILE: Final = "config.schema.json"
"""The name of the schema file, which ``agentmux init`` writes beside ``config.yaml``."""

EDITOR_LINE: Final = f"# yaml-language-server: $schema={SCHEMA_FILE}"
"""The first line of a configuration file, by which editors find the schema in the same folder."""


def schema_path(project: Path) -> Path:
    """Return the path of the schema file of a project's configuration; it may not exist."""
    return project / layout.PROJECT_FOLDER / SCHEMA_FILE


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 7) of the configuration files, with all default values."""
    json_schema = schema.described_schema(SCHEMA)
    _add_defaults(json_schema, plain_settings(Settings()))
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Configuration of AgentMux",
        "description": "What each key means: docs/reference/configuration.md",
        **json_schema,
    }


def config_schema_text() -> str:
    """Return the content of the schema file: `config_schema` as JSON, with a final newline."""
    return json.dumps(config_schema(), indent=1, ensure_ascii=False) + "\n"


def _add_defaults(made: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Add each built-in value to the schema of its key in ``made``, as the default."""
    for key, value in values.items():
        inner = made["properties"].get(key)
        if inner is None:
            continue
        if isinstance(value, dict) and "properties" in inner:
            _add_defaults(inner, value)
        else:
            inner["default"] = value
