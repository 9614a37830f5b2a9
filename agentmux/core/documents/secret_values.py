"""Find and hide values that must not be published, such as those in ``.env`` files; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

HIDDEN: Final = "[hidden]"
"""The text that replaces a secret value."""
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
    """Yield the values in a file of variables that seem to be secret according to `is_secret`.

    ``text`` is the content of the file, with lines such as ``NAME=value``, ``export NAME="value"``
    or ``name: value``. Quotation marks around a value are left out; other lines are ignored.
    """
    for match in _LINE.finditer(text):
        value = match["value"]
        if value[0] in "'\"" and value[-1] == value[0] and len(value) > 1:
            value = value[1:-1]
        if is_secret(match["name"], value):
            yield value


def secrets_of(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of the environment variables whose names indicate a secret.

    Values of fewer than 8 characters, and paths (values that begin with ``/``) are left out.
    """
    for name, value in environ.items():
        if _SECRET_NAME.search(name) and len(value) >= _LEAST and not value.startswith("/"):
            yield value


def is_secret(name: str, value: str) -> bool:
    """Whether the value of a variable in a private file seems to be secret.

    If the variable's name indicates a secret, such as ``API_TOKEN``, a value of 4 or more
    characters does. With another name, the value must have 8 or more characters, and be more than a
    single word or number.
    """
    if _SECRET_NAME.search(name):
        return len(value) >= _LEAST_SECRET
    return len(value) >= _LEAST and _PLAIN.fullmatch(value) is None


def hide_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return ``text`` with ``[hidden]`` in place of each value in ``secrets``.

    Longer values are replaced first, so that no part of a value that contains another one remains.
    None of the values may be empty.
    """
    for value in sorted(set(secrets), key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    return text
