"""Find out which type of file system a path is on, from the kernel's mount table (proc(5))."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

NETWORK: Final = frozenset(
    {"9p", "afs", "cifs", "davfs", "fuse.davfs2", "fuse.rclone", "fuse.sshfs", "nfs", "nfs4",
     "smb3", "smbfs"}
)  # fmt: skip
"""Types of file systems that another machine may serve. On them, locks may be local or missing,
and appends may interleave (flock(2), open(2): O_APPEND on NFS)."""

_MOUNTS: Final = Path("/proc/self/mountinfo")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def network_type(path: Path, mounts: Path = _MOUNTS) -> str:
    """Return the type of the network file system that contains ``path``, such as ``nfs4``.

    Args:
        path: Absolute, without links; it need not exist.
        mounts: A file in the format of ``/proc/self/mountinfo``.

    Returns:
        One of `NETWORK`; empty on a local disk, or if the system has no mount table.
    """
    try:
        lines = mounts.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return ""
    found = (parsed for line in lines if (parsed := _parse(line)) is not None)
    over = [(point, kind) for point, kind in found if path.is_relative_to(point)]
    # The later of two mounts on one point hides the other; max returns the first of equals.
    _, kind = max(reversed(over), key=lambda each: len(each[0].parts), default=(path, ""))
    return kind if kind in NETWORK else ""


def _parse(line: str) -> tuple[Path, str] | None:
    """Return the mount point and file system type in a line of ``mountinfo``; None if invalid."""
    mount, dash, device = line.partition(" - ")
    fields = mount.split(" ")
    if not dash or len(fields) < 5:
        return None
    point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])
    return Path(point), device.split(" ")[0]
