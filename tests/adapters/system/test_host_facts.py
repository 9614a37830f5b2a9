"""What the system allows, read from its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentmux.adapters.system.host_facts import disk_facts, host_facts, terminal_facts


@pytest.mark.parametrize(
    ("files", "kills"),
    [
        ({}, False),
        ({"etc/systemd/logind.conf": "[Login]\n#KillUserProcesses=yes\n"}, False),
        ({"etc/systemd/logind.conf": "[Login]\nKillUserProcesses=yes\n"}, True),
        ({"usr/lib/systemd/logind.conf": "KillUserProcesses=yes",
          "etc/systemd/logind.conf.d/50.conf": "[Login]\nKillUserProcesses = no\n"}, False),
    ],
)  # fmt: skip
def test_what_logind_does_at_logout(tmp_path: Path, files: dict[str, str], kills: bool) -> None:
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert host_facts(tmp_path).kills_at_logout is kills


def test_a_system_without_systemd_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "etc/systemd").mkdir(parents=True)
    (tmp_path / "etc/systemd/logind.conf").write_text("KillUserProcesses=yes")
    facts = host_facts(tmp_path)
    assert (facts.kills_at_logout, facts.lingers) == (False, False)


def test_lingering_is_a_file_with_the_name_of_the_user(tmp_path: Path) -> None:
    user = host_facts(tmp_path).user
    (tmp_path / "var/lib/systemd/linger").mkdir(parents=True)
    (tmp_path / "var/lib/systemd/linger" / user).touch()
    assert host_facts(tmp_path).lingers


def test_the_disk_of_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    facts = disk_facts(tmp_path / "a" / "b")
    assert (facts.path, facts.is_writable) == (str(tmp_path), True)
    assert facts.free_bytes > 0


def test_without_a_terminal_there_is_no_size() -> None:
    facts = terminal_facts({"TERM": "xterm"})
    assert facts.term == "xterm"
