"""Which kind of file system a path lies on, by what the kernel says of its mounts (proc(5))."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

NETWORK: Final = frozenset(
    {"9p", "afs", "cifs", "davfs", "fuse.davfs2", "fuse.rclone", "fuse.sshfs", "nfs", "nfs4",
     "smb3", "smbfs"}
)  # fmt: skip
"""Where another machine may hold the files: locks may be local or absent, appends may interleave
(flock(2), open(2): O_APPEND on NFS)."""

_MOUNTS: Final = Path("/proc/self/mountinfo")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def network_type(path: Path, mounts: Path = _MOUNTS) -> str:
    """Return the type of the network file system that ``path`` lies on.

    Args:
        path: Absolute and real; it need not be there.
        mounts: A table in the form of ``mountinfo``.

    Returns:
        Empty on a local disk, and where the system does not say.
    """
    try:
        lines = mounts.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return ""
    found = (parsed for line in lines if (parsed := _parse(line)) is not None)
    over = [(point, kind) for point, kind in found if path.is_relative_to(point)]
    # Of two mounts on one point the later one hides the other: max takes the first of equals.
    _, kind = max(reversed(over), key=lambda each: len(each[0].parts), default=(path, ""))
    return kind if kind in NETWORK else ""


def _parse(line: str) -> tuple[Path, str] | None:
    """Return the mount point and the type of the file system of one line."""
    mount, dash, device = line.partition(" - ")
    fields = mount.split(" ")
    if not dash or len(fields) < 5:
        return None
    point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])
    return Path(point), device.split(" ")[0]
