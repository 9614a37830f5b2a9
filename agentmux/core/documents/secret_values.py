"""Values that must not be published, such as those in ``.env`` files; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

HIDDEN: Final = "[hidden]"
_LINE: Final = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?P<name>[\w.-]+)[ \t]*[=:][ \t]*(?P<value>.+?)[ \t]*$",
    re.MULTILINE,
)
_SECRET_NAME: Final = re.compile(
    r"secret|token|passw|pwd|credential|auth(?!or)|private|api_?key|access_?key|(?:^|_)key(?:$|_)|dsn",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"[A-Za-z]+|[0-9.,:]+")
_LEAST_SECRET: Final = 4
_LEAST: Final = 8


def values_in(text: str) -> Iterator[str]:
    """Yield the values of a file of variables (``NAME=value``) that look as if they were secret.

    A word or a number is not one, unless its name says so; nor is anything very short.
    """
    for match in _LINE.finditer(text):
        value = match["value"]
        if value[0] in "'\"" and value[-1] == value[0] and len(value) > 1:
            value = value[1:-1]
        if is_secret(match["name"], value):
            yield value


def secrets_of(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of an environment whose names say that they are secret."""
    for name, value in environ.items():
        if _SECRET_NAME.search(name) and len(value) >= _LEAST and not value.startswith("/"):
            yield value


def is_secret(name: str, value: str) -> bool:
    """Whether the value of a variable in a private file looks as if it were secret."""
    if _SECRET_NAME.search(name):
        return len(value) >= _LEAST_SECRET
    return len(value) >= _LEAST and _PLAIN.fullmatch(value) is None


def without(text: str, secrets: Iterable[str]) -> str:
    """Return ``text`` with `HIDDEN` in place of each of these values; the longest ones first."""
    for value in sorted(set(secrets), key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    return text
