"""Which repositories a worker may run: those that its user's configuration names. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from agentmux.core.names import layout
from agentmux.errors import UsageError

_LOOKS_LIKE_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/:\s]+:(?!:)")
_URL: Final = re.compile(
    r"file://(?:localhost)?/[A-Za-z0-9._~/+%-]+"
    r"|[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9\[][A-Za-z0-9@._~:\[\]-]*/[A-Za-z0-9._~/+%-]+"
    r"|(?:[A-Za-z0-9][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9._-]*:(?!//)[A-Za-z0-9._~/+-]+"
)
_LONGEST: Final = 1000


def is_url(repository: str) -> bool:
    """Return whether a repository is named as git names one elsewhere, not by a path.

    That is ``scheme://…`` or ``host:path``, as git reads them: a path with a colon in its first
    part is written ``./a:b``. `require_repository` says whether the URL is sound.
    """
    return _LOOKS_LIKE_URL.match(repository) is not None


def require_repository(text: str) -> str:
    """Return ``text`` if it names a repository: an absolute path without ``..``, or a URL.

    A URL with a password is refused: everybody who can read the fleet would read it.

    Raises:
        UsageError: It does not.
    """
    plain = len(text) <= _LONGEST and text.isprintable()
    if plain and text.startswith("/") and text == str(PurePosixPath(text)) and not _climbs(text):
        return text
    if plain and _URL.fullmatch(text) and not _climbs(text):
        place = text.partition("://")[2].partition("/")[0]
        if ":" not in place.rpartition("@")[0]:
            return text
        raise UsageError("the URL of a repository must not contain a password")
    raise UsageError(
        f"`{text[:200]}` is no repository: name an absolute path, `scheme://…` or `host:path`"
    )


def _climbs(text: str) -> bool:
    return ".." in text.split("/")


def is_allowed(repository: str, allowed: Iterable[str]) -> bool:
    """Return whether an entry of ``fleet.repos`` allows a repository.

    An entry is a path or a URL; each ``*`` in it stands for any characters but ``/``.
    """
    return any(_pattern(each).fullmatch(repository) for each in allowed)


def _pattern(entry: str) -> re.Pattern[str]:
    entry = entry.rstrip("/") if len(entry) > 1 else entry
    return re.compile("[^/]*".join(re.escape(part) for part in entry.split("*")))


def clone_name(url: str) -> str:
    """Return the name of the folder that a host clones ``url`` into; it follows from the URL."""
    digest = hashlib.sha256(url.encode()).hexdigest()[:12]
    last = url.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return f"{layout.slug(last)}-{digest}"
