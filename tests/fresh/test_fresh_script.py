"""`./dev test-fresh` on simulated machines: what it refuses, reports and leaves behind."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TOOLS = (
    "basename", "cat", "chmod", "cp", "dirname", "env", "grep", "head", "ls", "mkdir", "mv", "rm",
    "sed", "sh", "sort", "tail", "tee", "tr", "true",
)  # fmt: skip


class Machine:
    """A PATH of fake programs, so that nothing is mounted and no system is installed."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.cache, self.calls = folder / "bin", folder / "ca che", folder / "calls"
        self.bin.mkdir()
        self.calls.write_text("")
        for tool in TOOLS:
            (self.bin / tool).symlink_to(str(shutil.which(tool)))
        self.has("id", "echo 0")
        self.has(
            "git",
            'case "$*" in *bundle*) for f; do case $f in *.bundle) : >"$f" ;; esac; done; esac',
        )
        self.has("debootstrap", 'mkdir -p "$4/etc/apt/apt.conf.d" "$4/root"')
        self.has(
            "unshare",
            f'while [ "${{1#--}}" != "$1" ]; do shift; done\n'
            f'case "$*" in *enter.sh*) echo "newcomer: tried"; . "{folder}/outcome" ;; esac\n"$@"',
        )
        self.outcome = folder / "outcome"
        self.outcome.write_text("exit 0\n")

    def has(self, name: str, body: str) -> None:
        program = self.bin / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.calls}"\n{body}\n')
        program.chmod(0o755)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", str(HERE / "run.sh"), *words],
            env={
                "PATH": str(self.bin),
                "HOME": os.environ["HOME"],
                "AGENTMUX_FRESH_CACHE": str(self.cache),
                "AGENTMUX_FRESH_MIRROR": "https://packages.example.org/debian",
            },
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_who_is_not_root_is_refused(machine: Machine) -> None:
    machine.has("id", "echo 1000")
    done = machine.run()
    assert done.returncode == 6
    assert "hint: sudo ./dev test-fresh" in done.stderr
    assert not machine.cache.exists()


@pytest.mark.parametrize("tool", ["debootstrap", "unshare", "git"])
def test_a_missing_tool_is_named(machine: Machine, tool: str) -> None:
    (machine.bin / tool).unlink()
    done = machine.run()
    assert done.returncode == 6
    assert f"error: this machine lacks: {tool}\n" in done.stderr
    assert "debootstrap" in done.stderr


def test_a_machine_that_may_not_mount_is_refused(machine: Machine) -> None:
    machine.has("unshare", "exit 1")
    done = machine.run()
    assert done.returncode == 6
    assert "namespaces are not to be had here" in done.stderr


@pytest.mark.parametrize("word", ["--frobnicate", "../etc", "-x", "a b"])
def test_what_makes_no_sense_is_a_usage_error(machine: Machine, word: str) -> None:
    done = machine.run(word)
    assert done.returncode == 2
    assert "usage: ./dev test-fresh" in done.stderr
    assert "debootstrap" not in machine.calls.read_text()


def test_all_three_are_tried_and_the_systems_are_kept(machine: Machine) -> None:
    done = machine.run()
    assert done.returncode == 0
    assert done.stderr.endswith(
        "bookworm: passed: tried;\ntrixie: passed: tried;\nsid: passed: tried;\n"
    )
    assert machine.calls.read_text().count("\ndebootstrap ") == 3
    assert "ca-certificates sid" in machine.calls.read_text()
    assert machine.run("sid").returncode == 0
    assert machine.calls.read_text().count("\ndebootstrap ") == 3
    assert machine.run("--again", "sid").returncode == 0
    assert machine.calls.read_text().count("\ndebootstrap ") == 4
    left = {path.name for path in machine.cache.iterdir() if path.is_dir()}
    assert left == {"bookworm", "trixie", "sid"}


def test_one_that_fails_fails_the_whole_and_the_others_are_tried(machine: Machine) -> None:
    machine.outcome.write_text('case "$*" in *trixie*) exit 1 ;; esac; exit 0\n')
    done = machine.run()
    assert done.returncode == 1
    assert "bookworm: passed" in done.stderr
    assert "trixie: FAILED: tried; log: " in done.stderr
    assert "sid: passed" in done.stderr
    assert not [path for path in machine.cache.iterdir() if path.name.startswith(".")]


def test_what_failed_can_be_kept(machine: Machine) -> None:
    machine.outcome.write_text("exit 7\n")
    done = machine.run("--keep", "sid")
    assert done.returncode == 1
    assert (machine.cache / "failed-sid").is_dir()
    assert f"enter.sh' '{machine.cache}/failed-sid' sh" in done.stderr


def test_a_system_that_cannot_be_made_is_said(machine: Machine) -> None:
    machine.has("debootstrap", "echo 'no such script'; exit 1")
    done = machine.run("sid")
    assert done.returncode == 1
    assert "no such script" in done.stderr
    assert "sid: no system could be made" in done.stderr
    assert not (machine.cache / "sid").exists()


@pytest.mark.parametrize("words", [("sid",), ("--again", "sid")])
def test_a_system_of_somebody_else_is_neither_used_nor_taken_away(
    machine: Machine, words: tuple[str, ...]
) -> None:
    theirs = machine.cache / "sid" / "etc" / "hostname"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs\n")
    done = machine.run(*words)
    assert done.returncode == 6
    assert "was not made by ./dev test-fresh" in done.stderr
    assert theirs.read_text() == "theirs\n"
    assert [each.name for each in machine.cache.iterdir()] == ["sid"]
