"""Reads the forges: the built-in ones, with the user's ``forges.yaml`` merged over them.

A project has no such file, because it could name programs to run with the user's log-in.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.config.layers import merge, read_text
from agentmux.adapters.yaml import schema
from agentmux.core.forges.spec import PLACEHOLDERS, ForgeCommand, ForgeSpec
from agentmux.core.names.words.nearest import suggest_name
from agentmux.errors import ConfigError

BUILT_IN: Final = Path(__file__).parent.parent.parent / "forges.yaml"
USER_FILE: Final = "forges.yaml"
"""The name of the user's file of forges, in the folder of the user's configuration."""

_LINE: Final = schema.text()
_HOST: Final = r"[a-z0-9][a-z0-9.-]*(:\d{1,5})?"
_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
_VARIABLE: Final = r"[A-Za-z_][A-Za-z0-9_]*"


def _places_only(*places: str) -> schema.Reader:
    """Return a reader of a line in which only these placeholders (in braces) are allowed."""

    def reader(node: schema.Node, path: str) -> object:
        schema.require_places(node, places)
        return _LINE(node, path)

    return reader


def _words(node: schema.Node, path: str) -> object:
    for item in node.value if isinstance(node.value, list) else ():
        schema.require_places(item, PLACEHOLDERS)
    return schema.words(node, path)


def _paths(node: schema.Node, path: str) -> tuple[str, ...]:
    """Read paths in a JSON answer: keys joined by dots; ``/`` separates several paths."""
    text = schema.text(r"[\w-]+(\.[\w-]+)*(/[\w-]+(\.[\w-]+)*)*", "keys such as `author.login`")
    return tuple(str(text(node, path)).split("/"))


_COMMAND_KEYS: Final[Mapping[str, schema.Schema]] = {
    "argv": _words,
    "stdin": _places_only(*PLACEHOLDERS),
    "draft": _words,
    "fork": _words,
    "entries": _LINE,
    "skip": _LINE,
    "accept": schema.words,
    "missing": schema.pattern,
}
_REQUEST: Final = ("number", "state", "branch", "commit", "base", "source")
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "issue": ("title", "body"),
    "comments": ("author", "author_id", "text"),
    "writer": ("answer",),
    "identity": ("answer",),
    "find": _REQUEST,
    "look": _REQUEST,
    "open": (),
}
"""The fields that the answer to each command must contain, by our names; `_OPTIONAL` ones may be
missing."""
_OPTIONAL: Final = ("author_id",)
_URL: Final = _places_only("host", "repo", "number")

FORGES: Final = schema.Each(
    {
        "like": schema.text(_NAME, "the name of another forge"),
        "program": _LINE,
        "install": _LINE,
        "login": _places_only("host"),
        "hosts": schema.words,
        "aliases": schema.Each(schema.text(_HOST, "the name of a host"), pattern=_HOST),
        "repository": schema.pattern,
        "issue_url": _URL,
        "request_url": _URL,
        "request_name": _LINE,
        "request_ref": _places_only("number"),
        "fork_head": _places_only("owner", "branch"),
        "environment": schema.Each(_LINE, pattern=_VARIABLE),
        "commands": {
            name: {**_COMMAND_KEYS, "fields": dict.fromkeys(fields, _paths)}
            for name, fields in _FIELDS.items()
        },
    },
    pattern=_NAME,
)
"""The schema of a file of forges; see `ForgeSpec` and `ForgeCommand` for the keys."""

_NEEDED: Final = ("program", "hosts", "repository", "issue_url", "request_url")


def load_forges(user_dir: Path | None) -> Mapping[str, ForgeSpec]:
    """Return all forges by name: the user's entries are merged over the built-in ones.

    An entry with ``like`` inherits its missing values from the forge that ``like`` names.

    Args:
        user_dir: The folder of the user's configuration, whose ``forges.yaml`` is read if it
            exists; None for only the built-in forges.

    Raises:
        ConfigError: The user's file has a mistake; the message names file and line.
    """
    table, places = _read(BUILT_IN, f"{BUILT_IN.parent.name}/{BUILT_IN.name}")
    if user_dir is not None:
        own, own_places = _read(user_dir / USER_FILE, str(user_dir / USER_FILE))
        table, places = merge(table, own), {**places, **own_places}
    return {name: _spec(name, _whole(name, table, places), places[name]) for name in table}


def _read(path: Path, name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a file's entries by name, and the place of each entry (``file:line``)."""
    node = schema.parse(read_text(path, name) or "", name)
    values = schema.read(node, FORGES) if node is not None else {}
    if node is None or not isinstance(node.value, dict) or not isinstance(values, dict):
        return {}, {}
    return values, {key: entry.at for key, entry in node.value.items()}


def _whole(
    name: str, table: Mapping[str, Any], places: Mapping[str, str], seen: tuple[str, ...] = ()
) -> dict[str, Any]:
    own = table[name]
    base = own.get("like")
    if base is None:
        return dict(own)
    if base not in table or base in (*seen, name):
        hints = suggest_name(base, [each for each in table if each != name])
        raise ConfigError(f"{places[name]}: `{name}.like`: `{base}` is no other forge", hints=hints)
    return merge(_whole(base, table, places, (*seen, name)), own)


def _spec(name: str, values: Mapping[str, Any], at: str) -> ForgeSpec:
    missing = [key for key in _NEEDED if not values.get(key)]
    if missing:
        raise ConfigError(f"{at}: `{name}` has no `{missing[0]}`")
    commands = {
        key: _command(f"{name}.commands.{key}", key, given, at)
        for key, given in values.get("commands", {}).items()
    }
    plain = {key: value for key, value in values.items() if key not in {"like", "commands"}}
    return ForgeSpec(name=name, commands=commands, **plain)


def _command(path: str, name: str, values: Mapping[str, Any], at: str) -> ForgeCommand:
    if not values.get("argv"):
        raise ConfigError(f"{at}: `{path}` has no `argv`")
    fields = values.get("fields", {})
    for field in _FIELDS[name]:
        if field not in fields and field not in _OPTIONAL:
            raise ConfigError(f"{at}: `{path}.fields` has no `{field}`")
    return ForgeCommand(**values)
