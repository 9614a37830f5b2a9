"""Recognising network file systems."""

from pathlib import Path

import pytest

from agentmux.adapters.system.processes import proc, psutil_processes
from agentmux.adapters.system.processes.mounts import network_type

TABLE = """\
proc /proc proc rw 0 0
/dev/vda / ext4 rw,relatime 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
/dev/vdb /home/ada/local ext4 rw 0 0
//server/share /mnt/with\\040blank cifs rw 0 0
server:/one /over nfs rw 0 0
tmpfs /over tmpfs rw 0 0
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
    table = tmp_path / "mounts"
    table.write_text(TABLE)
    assert network_type(Path(path), proc.mounts(table)) == kind


def test_where_the_system_does_not_say_nothing_is_claimed(tmp_path: Path) -> None:
    assert network_type(Path("/srv"), ()) == ""


def test_this_machine_answers_the_same_with_psutil(tmp_path: Path) -> None:
    assert list(proc.mounts()) == list(psutil_processes.mounts())
    assert isinstance(network_type(tmp_path), str)
