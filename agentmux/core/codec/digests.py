"""SHA-256 and uuids, made without the modules ``hashlib`` and ``uuid``, which are slow to import.

``hashlib`` loads OpenSSL and ``uuid`` loads ``platform``: together a tenth of the time to submit a
signal (docs/decisions/0006-fast-submit.md). The interpreter has the algorithms built in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hashlib import sha1, sha256
else:
    try:
        from _sha1 import sha1
    except ImportError:  # this Python was built without it
        from hashlib import sha1
    try:
        from _sha2 import sha256  # from Python 3.12 on
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256

__all__ = ["named_uuid", "random_uuid", "screen_digest", "sha256"]

_NAMESPACE_OID: Final = "6ba7b812-9dad-11d1-80b4-00c04fd430c8"
_BYTES: Final = 16


def random_uuid(noise: bytes) -> str:
    """Return a uuid (version 4) made from ``noise``, 16 random bytes."""
    return _as_text(noise, 4)


def named_uuid(namespace: str, name: str) -> str:
    """Return the uuid (version 5) for ``name`` in ``namespace``; equal arguments give equal uuids.

    Args:
        namespace: A uuid in any form that ``uuid.UUID`` accepts. Any other text is first converted
            to a uuid of its own.
        name: Any text.
    """
    space = _as_bytes(namespace) or _as_bytes(named_uuid(_NAMESPACE_OID, namespace))
    return _as_text(sha1(space + name.encode(), usedforsecurity=False).digest()[:_BYTES], 5)


def screen_digest(ansi: str) -> str:
    """Return a short digest of a captured screen, to notice changes: 16 hexadecimal digits.

    ``ansi`` is the screen with its escape sequences, so a change of colour changes the digest.
    """
    return sha256(ansi.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _as_bytes(text: str) -> bytes:
    """Return the 16 bytes of the uuid in ``text``; empty if ``text`` is not a uuid."""
    digits = text.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", "")
    try:
        return int(digits, 16).to_bytes(_BYTES, "big") if len(digits) == 2 * _BYTES else b""
    except ValueError:
        return b""


def _as_text(data: bytes, version: int) -> str:
    marked = bytearray(data)
    marked[6] = marked[6] & 0x0F | version << 4
    marked[8] = marked[8] & 0x3F | 0x80
    return "-".join(
        (
            marked[:4].hex(),
            marked[4:6].hex(),
            marked[6:8].hex(),
            marked[8:10].hex(),
            marked[10:].hex(),
        )
    )
