"""The JSON Schema of the configuration files, with which an editor checks and completes them."""

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
"""The file beside ``config.yaml`` that ``agentmux init`` writes."""

EDITOR_LINE: Final = f"# yaml-language-server: $schema={SCHEMA_FILE}"
"""The first line of a configuration file; editors find the schema by it, from the file's folder."""


def schema_path(project: Path) -> Path:
    """Return where the schema of a project's configuration is."""
    return project / layout.PROJECT_FOLDER / SCHEMA_FILE


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 7) of every configuration file, with the built-in values."""
    json_schema = schema.described_schema(SCHEMA)
    _add_defaults(json_schema, plain_settings(Settings()))
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Configuration of AgentMux",
        "description": "What each key means: docs/reference/configuration.md",
        **json_schema,
    }


def config_schema_text() -> str:
    """Return the schema as the text of a file."""
    return json.dumps(config_schema(), indent=1, ensure_ascii=False) + "\n"


def _add_defaults(made: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Add the built-in values to the schemas of their keys, below ``made``."""
    for key, value in values.items():
        inner = made["properties"].get(key)
        if inner is None:
            continue
        if isinstance(value, dict) and "properties" in inner:
            _add_defaults(inner, value)
        else:
            inner["default"] = value
