"""Reads the setting ``notify``. Errors never quote an address, because it may contain a token."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agentmux.adapters.yaml import schema
from agentmux.core.config.settings import OWN_ADDRESSES, Address, NotifyRule
from agentmux.core.names.occasion import Occasion
from agentmux.core.names.words.nearest import suggest_name

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\x00-\x20\x7f]+")
_KEYS: Final = ("on", "to")
_EXAMPLE: Final = "for example: notify: [{on: [decision, failed], to: [bell, desktop]}]"


def _description() -> schema.JsonSchema:
    to = {"type": "array", "items": {"type": "string"}}
    on = {"type": "array", "items": {"enum": [str(each) for each in Occasion]}}
    rule = {"type": "object", "properties": {"on": on, "to": to}, "required": ["to"]}
    return {"type": "array", "items": {**rule, "additionalProperties": False}}


@schema.describe_as(_description)
def notify_rules(node: schema.Node, path: str) -> object:
    """Return the rules in a parsed list of a configuration file, as a tuple of `NotifyRule`.

    Args:
        node: The list. Each of its rules is a mapping with ``to`` (a list of addresses) and
            optionally ``on`` (a list of occasions; without it, the rule is for all occasions).
        path: The dotted key of the list, for messages.

    Raises:
        ConfigError: The list has a mistake.
    """
    return tuple(_rule(item, f"{path}[{n}]") for n, item in enumerate(_items(node, path)))


def _rule(node: schema.Node, path: str) -> NotifyRule:
    if not isinstance(node.value, dict):
        schema.fail(node.at, f"`{path}` must be a mapping with `on` and `to`", _EXAMPLE)
    for key, entry in node.value.items():
        if key not in _KEYS:
            shown = f" `{key}`" if re.fullmatch(r"[\w-]{1,20}", key) else ""
            schema.fail(entry.at, f"unknown key{shown} in `{path}`", "known: on, to")
    if "to" not in node.value:
        schema.fail(node.at, f"`{path}` has no `to`", _EXAMPLE)
    to = tuple(_address(item, f"{path}.to") for item in _items(node.value["to"].node, f"{path}.to"))
    if "on" not in node.value:
        return NotifyRule(to=to)
    on = _items(node.value["on"].node, f"{path}.on")
    return NotifyRule(on=tuple(_occasion(item, f"{path}.on") for item in on), to=to)


def _items(node: schema.Node, path: str) -> Sequence[schema.Node]:
    if not isinstance(node.value, list):
        schema.fail(node.at, f"`{path}` must be a list", _EXAMPLE)
    return node.value


def _occasion(node: schema.Node, path: str) -> Occasion:
    word = _text(node)
    if word not in set(Occasion):
        schema.fail(
            node.at,
            f"`{path}` has a word that is no occasion",
            *suggest_name(word, list(Occasion)),
            f"known: {', '.join(Occasion)}",
        )
    return Occasion(word)


def _address(node: schema.Node, path: str) -> Address:
    text = _text(node)
    if text not in OWN_ADDRESSES and not _URL.fullmatch(text):
        schema.fail(
            node.at,
            f"`{path}` has an entry that is no address",
            *suggest_name(text, OWN_ADDRESSES),
            f"an address is {', '.join(OWN_ADDRESSES)}, or a URL of Apprise such as ntfy://TOPIC",
        )
    return Address(text)


def _text(node: schema.Node) -> str:
    return node.value if isinstance(node.value, str) else ""
