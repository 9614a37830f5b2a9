"""Finds out whether a path is on a network file system."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from agentmux.adapters.system.processes import kernel

NETWORK: Final = frozenset(
    {"9p", "afpfs", "afs", "cifs", "davfs", "fuse.davfs2", "fuse.rclone", "fuse.sshfs", "macfuse",
     "nfs", "nfs4", "osxfuse", "smb3", "smbfs", "webdav"}
)  # fmt: skip
"""The types of network file systems. On them, locks may be local or missing, and appends may
interleave (flock(2), open(2): O_APPEND on NFS)."""


def network_type(path: Path, mounts: Iterable[tuple[Path, str]] | None = None) -> str:
    """Return the type of the network file system that contains ``path``, such as ``nfs4``.

    Args:
        path: Absolute, without links; it need not exist.
        mounts: Mount point and type of each file system, in the order of mounting; None to use
            those of this machine.

    Returns:
        One of `NETWORK`; empty on a local disk, or if the system does not tell.
    """
    try:
        mounted = tuple(kernel.mounts() if mounts is None else mounts)
    except OSError:
        return ""
    over = [(place, kind) for place, kind in mounted if path.is_relative_to(place)]
    # The later of two mounts on one place hides the other; max returns the first of equals.
    _, kind = max(reversed(over), key=lambda each: len(each[0].parts), default=(path, ""))
    return kind if kind in NETWORK else ""
