"""Sets one value in a configuration file that a person wrote, and changes no other byte.

The text is edited, not generated. The result is parsed again: if its content is anything other than
the old content plus the new value, the file is not written.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from agentmux.adapters.config.layers import LARGEST
from agentmux.adapters.disk import files
from agentmux.errors import ConfigError

_NEW_MODE: Final = 0o644
_STEP: Final = 2
"""The number of spaces that indent a new level."""

_BOM: Final = "\ufeff"


def set_value(path: Path, keys: Sequence[str], value: object) -> None:
    """Set one value in the YAML file at ``path``; create the file and its folder if missing.

    Args:
        path: The file.
        keys: The keys that lead to the value, outermost first: ``("roles", "coder", "model")``.
        value: A plain value that YAML can write. An old value there is replaced.

    Raises:
        ConfigError: The file cannot be edited without changing something else in it. The hint is
            the line to add by hand.
        DataError: The file cannot be written. After either error, the file is unchanged.
    """
    hint = f"add to it by hand: {as_line(keys, value)}"
    try:
        mode = _mode(path)
        data = files.read_strict(path, LARGEST)
        text = data.decode("utf-8") if data is not None else ""
        new_text = with_value(text, keys, value)
    except ValueError as error:
        raise ConfigError(f"{path}: was left as it is: {error}", hints=(hint,)) from None
    files.make_dir(path.parent)
    files.replace(path, new_text.encode("utf-8"), mode)


def as_line(keys: Sequence[str], value: object) -> str:
    """Return one line of YAML that sets ``value`` at ``keys``: ``roles: {coder: {model: x}}``.

    The line has no newline. ``keys`` lead to the value, outermost first: ``("roles", "coder",
    "model")``.
    """
    first, *rest = keys
    return f"{_flow(first)}: {_nest_value(rest, value)}"


def with_value(text: str, keys: Sequence[str], value: object) -> str:
    """Return the YAML ``text`` with ``value`` set at ``keys``, and no other byte changed.

    ``keys`` lead to the value, outermost first: ``("roles", "coder", "model")``. An old value there
    is replaced. An empty ``text`` is that of an empty file.

    Raises:
        ValueError: The text cannot be edited without changing something else; the message says why.
    """
    bom, text = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    try:
        root = yaml.compose(text, yaml.SafeLoader)
        new_text = _edit_text(text, root, keys, value)
        before, after = yaml.safe_load(text), yaml.safe_load(new_text)
    except yaml.YAMLError as error:
        raise ValueError(f"it is not plain YAML ({type(error).__name__})") from None
    if after != _merge_value(before, keys, value):
        raise ValueError("its form is not understood")
    return bom + new_text


def _mode(path: Path) -> int:
    """Return the permissions of the file at ``path``, or those for a new file if it is missing.

    Raises:
        ValueError: The file is not regular, is a link or has several hard links; replacing it
            would leave its other names with the old content.
    """
    try:
        facts = path.lstat()
    except OSError:
        return _NEW_MODE
    if not stat.S_ISREG(facts.st_mode) or facts.st_nlink > 1:
        raise ValueError("it is a link, or not a regular file")
    return stat.S_IMODE(facts.st_mode)


def _merge_value(before: object, keys: Sequence[str], value: object) -> object:
    if not keys:
        return value
    inner = dict(before) if isinstance(before, dict) else {}
    inner[keys[0]] = _merge_value(inner.get(keys[0]), keys[1:], value)
    return inner


def _edit_text(text: str, root: yaml.Node | None, keys: Sequence[str], value: object) -> str:
    if root is None:
        return _append(text, _block(text, keys, value, 0))
    node, rest = root, list(keys)
    while isinstance(node, yaml.MappingNode):
        pairs = [pair for pair in node.value if pair[0].value == rest[0]]
        if not pairs:
            return _add_value(text, node, rest, value, is_root=node is root)
        key, node = pairs[0]
        rest = rest[1:]
        if not rest or not isinstance(node, yaml.MappingNode):
            return _replace_value(text, key, node, rest, value)
    raise ValueError("it does not contain a mapping")


def _add_value(
    text: str, node: yaml.MappingNode, keys: Sequence[str], value: object, *, is_root: bool
) -> str:
    """Return ``text`` with ``value`` below ``keys`` added to the mapping ``node``.

    ``node`` must not have the first of the keys. ``is_root``: ``node`` is the whole document.
    """
    if node.flow_style:
        comma = ", " if node.value else ""
        return _insert_at(text, node.start_mark.index + 1, f"{as_line(keys, value)}{comma}")
    column = node.start_mark.column
    if is_root:
        return _append(text, _block(text, keys, value, column))
    return _below(text, _end(node), _block(text, keys, value, column))


def _replace_value(
    text: str, key: yaml.Node, node: yaml.Node, keys: Sequence[str], value: object
) -> str:
    """Return ``text`` with ``node``, the value of ``key``, replaced by ``value`` below ``keys``.

    Raises:
        ValueError: The old value cannot be replaced without losing something.
    """
    start, end = node.start_mark.index, node.end_mark.index
    if start == end:  # there is nothing after the colon
        if keys:
            block = _block(text, keys, value, key.start_mark.column + _STEP)
            return _below(text, start, block)
        return _insert_at(text, start, f" {_flow(value)}")
    old = text[start:end]
    is_null = isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"
    if "\n" in old or "#" in old or (keys and not is_null):
        raise ValueError(f"`{key.value}` has another value there already")
    return text[:start] + _nest_value(keys, value) + text[end:]


def _end(node: yaml.Node) -> int:
    """Return the offset of the end of the last value in ``node``, before any comment after it."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


def _insert_at(text: str, place: int, new: str) -> str:
    return text[:place] + new + text[place:]


def _below(text: str, place: int, block: str) -> str:
    """Return ``text`` with the lines ``block`` inserted below the line at offset ``place``."""
    if place and text[place - 1] == "\n":
        return _insert_at(text, place, block)
    line_end = text.find("\n", place)
    if line_end < 0:
        return _append(text, block)
    return _insert_at(text, line_end + 1, block)


def _append(text: str, block: str) -> str:
    ending = "" if not text or text.endswith("\n") else _newline(text)
    return f"{text}{ending}{block}"


def _block(text: str, keys: Sequence[str], value: object, column: int) -> str:
    """Return ``value`` below its ``keys``, one line for each key, the first indented by ``column``.

    Line ends are those of ``text``.
    """
    newline = _newline(text)
    lines = [f"{' ' * (column + _STEP * level)}{_flow(key)}:" for level, key in enumerate(keys)]
    lines[-1] += f" {_flow(value)}"
    return newline.join(lines) + newline


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _nest_value(keys: Sequence[str], value: object) -> str:
    mapping: Any = value
    for key in reversed(keys):
        mapping = {key: mapping}
    return _flow(mapping)


def _flow(value: object) -> str:
    """Return ``value`` as one line of YAML that is valid both in block and in flow style."""
    dumped = yaml.safe_dump(
        [value], default_flow_style=True, width=float("inf"), allow_unicode=True, sort_keys=False
    )
    return dumped.strip()[1:-1]
