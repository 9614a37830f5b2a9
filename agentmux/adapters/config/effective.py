"""The values of the configuration that are in effect, and the file and line that set each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.config.layers import BUILT_IN, SCHEMA, Layer, combine_layers
from agentmux.adapters.yaml import schema
from agentmux.core.codec.frozen import DataclassInstance, dataclass, fields
from agentmux.core.config.settings import Address, Settings

_UNITS: Final = ((86_400.0, "d"), (3600.0, "h"), (60.0, "m"), (1.0, "s"))
_KEYS: Final = frozenset(key for key in schema.keys(SCHEMA) if "*" not in key)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingValue:
    """One value of the configuration.

    Attributes:
        key: The dotted key, such as ``resume.max_age``.
        value: The value as it is written in a configuration file: a duration is text, for example.
        layer: The layer that sets it: ``built-in``, ``user``, ``project`` or ``--config``.
        at: The place that sets it, as ``file:line``; empty for a built-in value.
    """

    key: str
    value: object
    layer: str
    at: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the attributes by name, for JSON output; ``at`` is None for a built-in value."""
        return {"key": self.key, "value": self.value, "layer": self.layer, "at": self.at or None}


def effective_values(
    layers: Sequence[Layer], names: Mapping[Path, str]
) -> tuple[SettingValue, ...]:
    """Return every value of the configuration that results from ``layers``, in the schema's order.

    Args:
        layers: The configuration files; a later one overrides an earlier one.
        names: The name of each layer (``user``, ``project`` or ``--config``), by the path of its
            file.
    """
    loaded = combine_layers(layers)
    values = dict(_flat(plain_settings(loaded.settings), loaded.sources))
    return tuple(
        SettingValue(key=key, value=value, **_origin(key, layers, names))
        for key, value in values.items()
        if not _is_of_coders(key)
    )


def _is_of_coders(key: str) -> bool:
    """Whether the key is the coder-only setting ``single`` of another role: no file can set it."""
    return key.startswith("roles.") and key.endswith(".single") and key not in _KEYS


def _origin(key: str, layers: Iterable[Layer], names: Mapping[Path, str]) -> dict[str, str]:
    """Return layer and place of the highest layer that sets ``key`` or a key below it."""
    for layer in reversed(tuple(layers)):
        at = next((at for each, at in layer.sources.items() if _is_in(each, key)), None)
        if at is not None:
            return {"layer": names[layer.path], "at": at}
    return {"layer": BUILT_IN, "at": ""}


def _is_in(key: str, outer: str) -> bool:
    return key == outer or key.startswith(f"{outer}.")


def _flat(
    values: Mapping[str, Any], sources: Mapping[str, str], path: str = ""
) -> Iterator[tuple[str, object]]:
    """Yield dotted key and value of every value that the schema or a layer sets on its own."""
    for key, value in values.items():
        at = f"{path}.{key}" if path else key
        if at in _KEYS or at in sources or not isinstance(value, dict):
            yield at, value
        elif value:
            yield from _flat(value, sources, at)


def plain_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings as nested mappings of plain values, as a configuration file has them.

    A duration is text, such as ``5m``. Keys that no file can set are left out, and so are the keys
    that a role does not set.
    """
    values: dict[str, Any] = {}
    for field in fields(Settings):
        value: object = getattr(settings, field.name)
        values[field.name] = _section(value, field.name) if is_dataclass(value) else _plain(value)
    return values


def _section(section: DataclassInstance | type[DataclassInstance], name: str) -> dict[str, object]:
    values = {}
    for field in fields(section):
        key = field.name.removesuffix("_s")
        if any(_is_in(each, f"{name}.{key}") for each in _ALL):
            values[key] = _field(field.name, getattr(section, field.name))
    return values


_ALL: Final = tuple(schema.keys(SCHEMA))


def _field(name: str, value: object) -> object:
    return _duration(value) if name.endswith("_s") and isinstance(value, float) else _plain(value)


def _plain(value: object) -> object:
    if isinstance(value, Address):
        return str(value)  # which hides the address: it may contain a token
    if is_dataclass(value):
        named = ((each.name, getattr(value, each.name)) for each in fields(value))
        return {name.removesuffix("_s"): _field(name, inner) for name, inner in named}
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, str) else value


def _duration(seconds: float) -> str:
    """Return a duration as text, in the largest unit in which it is a whole number."""
    for unit_s, unit in _UNITS:
        if seconds and seconds % unit_s == 0:
            return f"{seconds / unit_s:.0f}{unit}"
    return f"{seconds * 1000:.0f}ms" if seconds else "0s"
