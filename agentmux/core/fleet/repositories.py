"""Names of repositories, and which of them the configuration allows a worker to use. Pure."""

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
    """Return whether git would take ``repository`` as a URL, not as a local path.

    A URL is ``scheme://…`` or ``host:path``; a path whose first part contains a colon must be
    written as ``./a:b``. The URL may still be invalid; see `require_repository`.
    """
    return _LOOKS_LIKE_URL.match(repository) is not None


def require_repository(text: str) -> str:
    """Check that ``text`` is a valid name of a repository, and return it unchanged.

    Valid names are absolute, normalised paths without ``..``, and URLs. A URL with a password is
    refused, because everybody with access to the fleet could read it.

    Raises:
        UsageError: ``text`` is not a valid name.
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
    """Return whether the setting ``fleet.repos`` allows a repository.

    Args:
        repository: The path or URL of the repository.
        allowed: The entries of the setting: paths or URLs. A ``*`` in an entry matches any
            characters except ``/``.
    """
    return any(_pattern(each).fullmatch(repository) for each in allowed)


def _pattern(entry: str) -> re.Pattern[str]:
    entry = entry.rstrip("/") if len(entry) > 1 else entry
    return re.compile("[^/]*".join(re.escape(part) for part in entry.split("*")))


def clone_name(url: str) -> str:
    """Return the name of the folder into which a host clones ``url``, unique for each URL."""
    digest = hashlib.sha256(url.encode()).hexdigest()[:12]
    last = url.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return f"{layout.slug(last)}-{digest}"
