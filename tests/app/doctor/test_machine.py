"""What is said of tmux, the terminal, the system and the disk."""

from __future__ import annotations

import dataclasses

import pytest

from agentmux.app.doctor.finding import DoctorFinding, Level
from agentmux.app.doctor.machine import (
    disk_findings,
    host_findings,
    terminal_findings,
    tmux_findings,
)
from agentmux.ports.health import DiskFacts, SystemFacts, TerminalFacts, TmuxFacts

TMUX = TmuxFacts(version="tmux 3.4", socket="/tmp/a b/s", pid=7)
TERMINAL = TerminalFacts(term="xterm-256color", colour_term="", is_utf8=True, size=(120, 36))
HOST = SystemFacts(user="ann", kills_at_logout=False, lingers=False, watches=(3, 128, 65536))
DISK = DiskFacts(path="/p", network="", is_writable=True, free_bytes=1 << 40, free_files=10**6)


def bad(findings: list[DoctorFinding]) -> list[tuple[Level, str]]:
    return [(each.level, each.mend) for each in findings if each.level is not Level.OK]


@pytest.mark.parametrize(
    ("options", "level", "mend"),
    [
        ({"exit-unattached": "on"}, Level.PROBLEM, "set-option -s exit-unattached off"),
        ({"prefix": "None"}, Level.WARNING, "set-option -g prefix C-b"),
        ({"escape-time": "501"}, Level.WARNING, "set-option -s escape-time 20"),
        ({"history-limit": "0"}, Level.WARNING, "set-option -g history-limit 5000"),
        ({"default-terminal": "vt100"}, Level.WARNING,
         "set-option -s default-terminal tmux-256color"),
    ],
)  # fmt: skip
def test_an_option_that_hurts(options: dict[str, str], level: Level, mend: str) -> None:
    found = bad([*tmux_findings(dataclasses.replace(TMUX, options=options))])
    assert found == [(level, f"tmux -S '/tmp/a b/s' {mend}")]


def test_settings_that_do_no_harm_are_not_named() -> None:
    options = {"base-index": "1", "escape-time": "500", "status": "off", "prefix": "C-a"}
    options |= {"history-limit": "2000", "default-terminal": "screen", "exit-unattached": "off"}
    hooks = (("pane-died[0]", "set -g @died 1"),)
    assert bad([*tmux_findings(dataclasses.replace(TMUX, options=options, hooks=hooks))]) == []


def test_hooks_and_keys_that_reach_into_panes() -> None:
    facts = dataclasses.replace(
        TMUX, hooks=(("client-attached[0]", "kill-pane -a"),), plain_keys=("y", ";")
    )
    assert [mend.partition("' ")[2] for _, mend in bad([*tmux_findings(facts)])] == [
        "set-hook -gu 'client-attached[0]'",
        "unbind-key -n y",
        "unbind-key -n ';'",
    ]


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({}, None),
        ({"size": None, "term": ""}, None),
        ({"term": ""}, Level.PROBLEM),
        ({"term": "dumb"}, Level.PROBLEM),
        ({"term": "vt220"}, Level.WARNING),
        ({"term": "foot", "colour_term": "truecolor"}, None),
        ({"is_utf8": False}, Level.WARNING),
        ({"size": (79, 24)}, Level.WARNING),
    ],
)
def test_the_terminal(changes: dict[str, object], level: Level | None) -> None:
    facts = dataclasses.replace(TERMINAL, **changes)  # type: ignore[arg-type]  # a table of fields
    assert [found for found, _ in bad([*terminal_findings(facts)])] == ([level] if level else [])


@pytest.mark.parametrize(
    ("changes", "mends"),
    [
        ({}, []),
        ({"kills_at_logout": True}, ["loginctl enable-linger ann"]),
        ({"kills_at_logout": True, "lingers": True}, []),
        ({"watches": None}, []),
        ({"watches": (125, 128, 65536)}, ["sudo sysctl fs.inotify.max_user_instances=1024"]),
        ({"watches": (3, 128, 100)}, ["sudo sysctl fs.inotify.max_user_watches=65536"]),
    ],
)
def test_the_system(changes: dict[str, object], mends: list[str]) -> None:
    facts = dataclasses.replace(HOST, **changes)  # type: ignore[arg-type]  # a table of fields
    assert [mend for _, mend in bad([*host_findings(facts)])] == mends


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({}, None),
        ({"is_writable": False}, Level.PROBLEM),
        ({"free_bytes": 1000}, Level.PROBLEM),
        ({"free_files": 5}, Level.PROBLEM),
        ({"free_bytes": 500 << 20}, Level.WARNING),
        ({"free_files": None}, None),
        ({"network": "nfs4"}, Level.WARNING),
    ],
)
def test_the_disk(changes: dict[str, object], level: Level | None) -> None:
    facts = dataclasses.replace(DISK, **changes)  # type: ignore[arg-type]  # a table of fields
    assert [found for found, _ in bad([*disk_findings(facts)])] == ([level] if level else [])
