"""``agentmux show`` prints the last screens from disk in colour, as text and as JSON."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.cli.main import main
from tests.app.on_disk import OnDisk
from tests.fakes.pseudo_terminal import read_to_end

NAME = "20260101-101500-add-auth"
Run = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".agentmux").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(project: Path) -> Run:
    return lambda *argv: main(argv, os.environ)


@pytest.fixture
def session(project: Path) -> OnDisk:
    """A session with some seats, two of which have a snapshot."""
    made = OnDisk(sessions_dir(project) / NAME)
    for seat in ("planner", "coder-10", "coder-2", "architect"):
        made.launch(seat)
    made.commit()
    keep(
        made, "architect", "\x1b[1;31mred\x1b[0m plain\n\x1b]0;title\x07next\n\n\n", agent="claude"
    )
    keep(made, "planner", "世界 \x0eqq\x0f", exit_status=3)
    return made


def keep(session: OnDisk, seat: str, ansi: str, **values: Any) -> None:
    fields = {
        "ansi": ansi, "cols": 80, "rows": 24, "cursor_row": 0, "cursor_col": 0, "seat": seat,
        "agent": "demo", "captured_at": "2026-01-01T10:15:00.000Z", "exit_status": None, **values,
    }  # fmt: skip
    session.leave(f"snapshots/{seat}.json", fields)


@freeze_time("2026-01-03T12:00:00")
def test_the_screens_are_shown_in_order_of_the_seats(
    run: Run, session: OnDisk, capsys: Capture
) -> None:
    assert run("show", NAME, "--plain") == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == "== architect · claude · 2d ago =="
    assert lines[1:4] == ["red plain", "next", ""]
    assert lines[4] == "== planner · demo · 2d ago · exit 3 =="
    assert lines[5:] == ["世界 ──", ""]


def test_one_seat_alone(run: Run, session: OnDisk, capsys: Capture) -> None:
    assert run("show", "add-auth", "--role", "planner") == 0
    out = capsys.readouterr().out
    assert "architect" not in out
    assert "世界 ──" in out


def test_a_terminal_shows_colours_and_nothing_wider_than_itself(session: OnDisk) -> None:
    keep(session, "planner", "\x1b[32m" + "x" * 80)
    ours, theirs = pty.openpty()
    program = [sys.executable, "-m", "agentmux", "show", NAME]
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "40", "LINES": "24"}
    done = subprocess.run(program, stdout=theirs, stderr=subprocess.PIPE, env=env, check=False)
    os.close(theirs)
    shown = read_to_end(ours)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "\x1b[0;31mred\x1b[0m plain\x1b[0m\r\n" in shown
    assert "\x1b[0;32m" + "x" * 40 + "\x1b[0m\r\n" in shown


def test_json_holds_text_and_colours(run: Run, session: OnDisk, capsys: Capture) -> None:
    assert run("show", NAME, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["problems"]) == (1, [])
    (found,) = answer["sessions"]
    assert (found["session"], found["path"]) == (NAME, f".agentmux/.sessions/{NAME}")
    first, second = found["screens"]
    assert (first["seat"], first["agent"], first["exit_status"]) == ("architect", "claude", None)
    assert first["text"] == "red plain\nnext"
    assert first["ansi"] == "\x1b[0;31mred\x1b[0m plain\x1b[0m\n\x1b[0mnext\x1b[0m"
    assert (second["seat"], second["cols"], second["rows"]) == ("planner", 80, 24)
    assert second["captured_at"] == "2026-01-01T10:15:00.000Z"


CORRUPT = [
    "", "{", "[]", "null", '{"ansi": 1}', b"\xff", "[" * 100_000,
    {"ansi": "x", "cols": 10**12, "rows": 10**12}, {"ansi": "x", "cols": True, "rows": -1},
]  # fmt: skip


@pytest.mark.parametrize("content", CORRUPT, ids=range(len(CORRUPT)))
def test_a_corrupt_screen_counts_as_none_and_is_said(
    run: Run, session: OnDisk, capsys: Capture, content: Any
) -> None:
    session.leave("snapshots/architect.json", content)
    path = session.path / "snapshots" / "architect.json"
    warning = f"the last screen of `architect` cannot be read: {path}"
    assert run("show", NAME, "--plain") == 0
    said = capsys.readouterr()
    assert said.err == f"warning: {warning}\n"
    assert "architect" not in said.out
    assert "世界" in said.out
    assert run("show", NAME, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    (found,) = answer["sessions"]
    assert [each["seat"] for each in found["screens"]] == ["planner"]
    assert (found["warnings"], answer["problems"]) == ([warning], [])
    (session.path / "snapshots" / "planner.json").unlink()
    assert run("show", NAME) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"warning: {warning}\n")


@pytest.mark.parametrize(
    "values",
    [
        {"ansi": "\ud800\x1b[999999999999m"}, {"agent": ["x"]}, {"captured_at": 10**400},
        {"captured_at": "0001-01-01T00:00:00+23:59"}, {"exit_status": "\x1b[2J"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_odd_in_a_screen_harms_no_other(
    run: Run, session: OnDisk, capsys: Capture, values: dict[str, Any]
) -> None:
    keep(session, "architect", **{"ansi": "red", **values})
    assert run("show", NAME) == 0
    assert "世界" in capsys.readouterr().out
    assert run("show", NAME, "--json") == 0


def test_a_seat_without_a_screen_is_not_found(run: Run, session: OnDisk, capsys: Capture) -> None:
    session.launch("designer")
    session.commit()
    assert run("show", NAME, "--role", "designer") == 4
    assert "`designer` of session" in capsys.readouterr().err
    assert run("show", NAME) == 0


@pytest.mark.parametrize("seat", ["coder-9", "../state", "/etc/passwd", ""])
def test_an_unknown_seat_is_not_found(
    run: Run, session: OnDisk, capsys: Capture, seat: str
) -> None:
    assert run("show", NAME, "--role", seat) == 4
    assert "seats: architect, planner, coder-2, coder-10" in capsys.readouterr().err


def test_a_session_without_screens_is_told(run: Run, project: Path, capsys: Capture) -> None:
    OnDisk(sessions_dir(project) / NAME)
    assert run("show", NAME) == 4
    assert "has no last screen" in capsys.readouterr().err


def test_it_changes_nothing(run: Run, session: OnDisk) -> None:
    before = {path: path.read_bytes() for path in session.path.rglob("*") if path.is_file()}
    assert run("show", NAME) == 0
    after = {path: path.read_bytes() for path in session.path.rglob("*") if path.is_file()}
    assert after == before
