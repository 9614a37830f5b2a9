"""Recognising network file systems."""

from pathlib import Path

import pytest

from agentmux.adapters.system.mounts import network_type

TABLE = """\
22 1 0:20 / /proc rw - proc proc rw
25 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
31 25 0:40 / /home rw,relatime - nfs4 server:/home rw,vers=4.2
32 31 254:1 / /home/ada/local rw - ext4 /dev/vdb rw
33 25 0:41 / /mnt/with\\040blank rw - cifs //server/share rw
34 25 0:42 / /over rw - nfs server:/one rw
35 34 0:43 / /over rw - tmpfs tmpfs rw
not a line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/project", ""),
        ("/home/ada/project", "nfs4"),
        ("/home", "nfs4"),
        ("/homework", ""),
        ("/home/ada/local/project", ""),
        ("/mnt/with blank/project", "cifs"),
        ("/over/project", ""),
    ],
)
def test_the_innermost_mount_says_what_a_path_lies_on(tmp_path: Path, path: str, kind: str) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    assert network_type(Path(path), table) == kind


def test_where_the_system_does_not_say_nothing_is_claimed(tmp_path: Path) -> None:
    assert network_type(Path("/srv"), tmp_path / "missing") == ""


def test_this_machine_answers(tmp_path: Path) -> None:
    assert isinstance(network_type(tmp_path), str)
