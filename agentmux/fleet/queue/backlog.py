"""Reads a backlog: a YAML file with a list of features to submit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.config.layers import read_text
from agentmux.adapters.yaml import schema
from agentmux.core.codec.frozen import replace
from agentmux.core.fleet.fleet_request import PRIORITIES, FleetRequest, require_request
from agentmux.core.names.statuses import DELIVERY_WAYS
from agentmux.errors import ConfigError, UsageError
from agentmux.fleet.host.repository import named_repository


@schema.describe_as(lambda: {"type": ["string", "integer"]})
def _issue(node: schema.Node, path: str) -> object:
    return node.value if isinstance(node.value, str) else schema.wrong(node, path, "an issue")


_LINE: Final = schema.text()
_ENTRY: Final[schema.Schema] = {
    "feature": schema.prose,
    "issue": _issue,
    "key": _LINE,
    "repo": _LINE,
    "pipeline": _LINE,
    "agent": _LINE,
    "host": _LINE,
    "base": _LINE,
    "priority": schema.whole(*PRIORITIES),
    "then": schema.choice(*DELIVERY_WAYS),
}


def read_backlog(
    path: Path, usual: FleetRequest, environ: Mapping[str, str]
) -> tuple[FleetRequest, ...]:
    """Return the requests in a backlog, in its order; submit nothing. Empty for an empty file.

    Args:
        path: The YAML file. A relative path to a repository in it is relative to the file's folder.
        usual: The request whose fields complete an entry that leaves them out.
        environ: The environment variables, which say where the user's home directory is.

    Raises:
        ConfigError: The file cannot be read, or contains a mistake; the message names the line.
        UsageError: The file does not exist.
    """
    text = read_text(path, str(path))
    if text is None:
        raise UsageError(f"`{path}` is not a file")
    node = schema.parse(text, str(path))
    if node is None:
        return ()
    entries = schema.listing(_ENTRY, unique="key")(node, "backlog")
    items = node.value if isinstance(node.value, list) else []
    return tuple(
        _request(entry, usual, path.parent, item.at, environ)
        for entry, item in zip(entries, items, strict=True)
    )


def _request(
    entry: dict[str, Any], usual: FleetRequest, folder: Path, at: str, environ: Mapping[str, str]
) -> FleetRequest:
    given = dict(entry)
    if "repo" in given:
        given["repo"] = named_repository(given["repo"], folder, environ)
    try:
        return require_request(replace(usual, **given))
    except UsageError as error:
        raise ConfigError(f"{at}: {error.message}", hints=error.hints) from None
