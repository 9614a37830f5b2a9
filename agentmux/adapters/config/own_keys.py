"""Reads the setting ``desk``: a user's own keys and colours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.adapters.yaml import schema
from agentmux.core.names.words.nearest import suggest_name
from agentmux.core.terminal.keys.key_names import KEY_NAMES, parse_key, show_key
from agentmux.core.terminal.keys.key_table import KEYS, OWN_KEYS

THEMES: Final = (
    *("textual-dark", "textual-light", "nord", "gruvbox", "dracula", "tokyo-night", "monokai"),
    *("flexoki", "catppuccin-latte", "catppuccin-frappe", "catppuccin-macchiato"),
    *("catppuccin-mocha", "solarized-light", "solarized-dark", "rose-pine", "rose-pine-moon"),
    *("rose-pine-dawn", "atom-one-dark", "atom-one-light", "ansi-dark", "ansi-light"),
)
"""The names of Textual's themes."""

_KEY: Final = {"type": ["string", "integer"]}
_HINT: Final = f"a key is a character, or one of: {', '.join(KEY_NAMES)}"


@schema.describe_as(lambda: {"anyOf": [_KEY, {"type": "array", "items": _KEY, "minItems": 1}]})
def _keys(node: schema.Node, path: str) -> object:
    """Read a key or a list of keys; return a tuple of their names."""
    items = node.value if isinstance(node.value, list) else [node]
    return tuple(_key(each, path) for each in items) or schema.wrong(node, path, "at least one key")


def _key(node: schema.Node, path: str) -> str:
    word = node.value if isinstance(node.value, str) else ""
    near = suggest_name(word.casefold(), KEY_NAMES)
    return parse_key(word) or schema.wrong(node, path, "a key", *near, _HINT)


_OWN: Final = dict.fromkeys(OWN_KEYS, _keys)


@schema.describe_as(lambda: schema.described_schema(_OWN))
def _own_keys(node: schema.Node, path: str) -> object:
    """Read the keys of commands; return a dict of tuples. No key may stand for two commands."""
    own = schema.read(node, _OWN, path)
    if not isinstance(own, dict) or not isinstance(node.value, dict):
        return {}
    for key, one, other in KEYS.with_own(own).shared_keys():
        mine, theirs = (one, other) if one.name in own else (other, one)
        more = f", or give `{theirs.name}` another one, too" if theirs.name in OWN_KEYS else ""
        what = f"`{show_key(key)}` in `{path}` is the key of `{mine.name}` and of `{theirs.name}`"
        schema.fail(node.value[mine.name].at, what, f"choose another key for `{mine.name}`{more}")
    return own


DESK: Final[Mapping[str, schema.Schema]] = {
    "keys": _own_keys,
    "theme": schema.optional(schema.choice(*THEMES)),
}
"""The schema of the setting ``desk``."""
