"""Commands of every kind as a user types them, with real files and real tmux."""

import contextlib
import fcntl
import itertools
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time

from agentmux.adapters.config.layers import load_settings
from agentmux.adapters.disk.lock import SessionLock
from agentmux.adapters.wake.pipe import WakeFifo
from agentmux.app.session.search.lookup import sessions_dir
from agentmux.cli import render
from agentmux.cli.commands.look.attachment import attach_argv
from agentmux.cli.invocation import Invocation
from agentmux.cli.main import main
from agentmux.core.config.settings import Settings
from agentmux.core.journal.events import AgentParked, LimitsLifted
from agentmux.core.names import layout
from agentmux.core.names.layout import slug_of
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import age
from agentmux.core.names.version import VERSION
from agentmux.core.names.words.located_commands import FINAL
from agentmux.core.terminal.text.text_width import width
from agentmux.errors import ExitCode, UsageError
from agentmux.ports.tmux.terminal import Server, Target
from agentmux.wiring import build, machine
from tests.app.on_disk import SESSION_ID, OnDisk
from tests.fakes.bench import Bench as TmuxTerminal
from tests.fakes.pseudo_terminal import read_to_end

NAME = "20260101-101500-add-auth"
Run = Callable[..., int]
Make = Callable[..., OnDisk]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))  # its default server may be started
    folder = tmp_path / "a project"
    (folder / ".agentmux").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(project: Path) -> Run:
    return lambda *argv: main(argv, os.environ)


@pytest.fixture
def make(project: Path, tmux: TmuxTerminal) -> Make:
    def make(name: str = NAME, phase: Phase = Phase.ARCHITECTING, **values: Any) -> OnDisk:
        given = {"session_name": layout.tmux_name(name), "tmux_socket": tmux.socket}
        return OnDisk(sessions_dir(project) / name, phase, **{**given, **values})

    return make


def begin(tmux: TmuxTerminal, path: Path) -> None:
    name = layout.tmux_name(path.name)
    argv = ["sleep", "600"]
    tmux.create_session(name=name, uuid=SESSION_ID, cwd=path, size=(80, 24), argv=argv)


def answer(capsys: Capture) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


# -- who may decide -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("approve", "--yes"),
        ("request-changes", "more"),
        ("remove", "--yes", NAME),
        ("tell", "--role", "coder-1", "hello"),
        ("answer", "--role", "coder-1", "Enter", "--screen", "5c"),
        ("unpark", NAME),
    ],
)
def test_a_decision_of_a_person_is_refused_to_an_agent_whatever_the_phase(
    make: Make, capsys: Capture, words: tuple[str, ...]
) -> None:
    session = make(phase=Phase.COMPLETING)
    before = session.files.load()
    environ = {**os.environ, "AGENTMUX_LAUNCH_ID": "abc", "AGENTMUX_SEAT": "reviewer_logic"}
    assert main(words, environ) == ExitCode.BLOCKED
    said = capsys.readouterr().err
    assert f"`agentmux {words[0]}` is for a person" in said
    assert "seat reviewer_logic (launch abc" in said
    assert session.files.load() == before


def test_a_home_that_takes_nothing_refuses_before_anything_is_made(
    project: Path, make: Make, run: Run, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make()
    session.commit()
    programs = project / "programs"
    programs.mkdir()
    (programs / "claude").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    (project / "state").write_text("in the way")
    monkeypatch.setenv("XDG_STATE_HOME", str(project / "state"))
    for words in (["start", "--agent", "demo", "--detach", "x"], ["resume", "--detach", NAME]):
        assert run(*words) == ExitCode.DATA
        assert f"cannot write `{project.resolve() / 'state'}" in capsys.readouterr().err
    assert [each.name for each in sessions_dir(project).iterdir() if each.name != NAME] == []
    assert session.kinds == ["journal_created", "session_started"]


# -- mistyped names -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (("start", "--agent", "clude", "x"), 6, "did you mean `claude`?"),
        (("start", "--role", "reviewer=demo", "x"), 2, "`reviewer_quality` or `reviewer_expert`?"),
        (("start", "--role", "codr=demo", "x"), 2, "did you mean `coder`?"),
        (("agents", "probe", "gemni"), 6, "did you mean `gemini`?"),
        (("status", "atuh"), 4, "did you mean: agentmux status add-auth"),
        (("resume", "add-auht"), 4, "did you mean: agentmux resume add-auth"),
        (("resume", NAME, "--fresh-role", "coder-3"), 4, "did you mean `coder-1`?"),
        (("resume", NAME, "--phase", "planing"), 2, "did you mean `planning`?"),
        (("show", NAME, "--role", "architct"), 4, "did you mean `architect`?"),
    ],
)
def test_a_mistyped_name_gets_the_nearest(
    make: Make, run: Run, capsys: Capture, words: tuple[str, ...], code: int, hint: str
) -> None:
    session = make(phase=Phase.IMPLEMENTING, agents={"architect": {}, "coder-1": {}})
    session.commit()
    assert run(*words) == code
    assert hint in capsys.readouterr().err


# -- the world ----------------------------------------------------------------------------------


def test_the_world_has_what_an_operation_needs(project: Path) -> None:
    world = build.world(project, environ=machine.environment())
    assert world.settings == Settings()
    assert world.now().tzinfo is UTC
    assert world.new_id() != world.new_id()
    assert world.agents.spec("demo").name == "demo"
    assert world.agents.spec("demo") is world.agents.spec("demo")
    assert world.agents.programs.probe(world.agents.spec("demo")).installed
    assert world.agents.programs.path.split(os.pathsep)[0] == str(Path(sys.executable).parent)
    assert Path(world.agents.own.wrapper[2]).is_file()
    assert world.agents.programs.identity("/nowhere") == ""
    assert world.agents.programs.identity(sys.executable) == world.agents.programs.identity(
        sys.executable
    )
    assert "{" in world.texts.templates.template("architect")
    assert world.texts.templates.extension("architect") is None


def test_our_programs_are_found_where_python_is_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "lib" / "python3.11" / "site-packages" / "agentmux"
    python = tmp_path / "python" / "python3"  # as with `pip install --user`
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(sys, "argv", [str(package / "__main__.py")])
    assert machine.scripts(package) == python.parent
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "agentmux").touch()
    assert machine.scripts(package) == tmp_path / "bin"


def test_files_of_a_project_are_not_taken_for_ours(project: Path) -> None:
    for name in ("json.py", "typing.py", "agentmux.py"):
        (project / name).write_text("raise SystemExit('mine')\n")
    argv = [*machine.program(), "--version"]
    done = subprocess.run(argv, cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{VERSION}\n")


# -- list and status -----------------------------------------------------------------------------


def test_list_for_people(run: Run, make: Make, capsys: Capture) -> None:
    request = "Add auth \x1b[2J\tto " + "everything " * 20
    make("20260101-101500-add-auth", feature=f"\n{request}\nThe second line")
    make("20260101-101501-old", Phase.DONE)
    assert run("list") == ExitCode.OK
    said, told = capsys.readouterr()
    head, *rows = said.splitlines()
    assert head.split() == ["SESSION", "PHASE", "STATUS", "UPDATED", "FEATURE"]
    shown = next(row for row in rows if "add-auth" in row)
    assert shown.endswith("  Add auth [2J to " + " ".join(["everything"] * 20))
    assert min(row.split()[:3] for row in rows) == ["add-auth", "architecting", "interrupted"]
    assert sorted(row.split()[:2] for row in rows)[1] == ["old", "done"]
    assert next(row for row in rows if row.startswith("old")).count("done") == 1
    assert told == ""
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("later", "said"),
    [
        (timedelta(seconds=42), "42s"),
        (timedelta(hours=2, minutes=59), "2h"),
        (timedelta(days=9), "9d"),
        (timedelta(hours=-1), "0s"),  # the clock was set back
    ],
)
def test_list_says_how_long_ago_a_session_was_written(
    run: Run, make: Make, capsys: Capture, later: timedelta, said: str
) -> None:
    make()
    with freeze_time(datetime(2026, 1, 1, 10, 15, tzinfo=UTC) + later):
        assert run("list") == ExitCode.OK
        row = capsys.readouterr().out.splitlines()[1]
        assert row.split()[3] == said
        assert run("list", "--json") == ExitCode.OK
        (session,) = answer(capsys)["sessions"]
        assert session["age_s"] == max(0.0, later.total_seconds())


def test_list_cuts_the_feature_alone_to_the_terminal(make: Make, short_dir: Path) -> None:
    names = [f"20260101-101500-{'long-' * 9}{end}" for end in ("one", "two")]
    for name in names:
        make(name, feature="漢字 and more " * 20)
    slugs = [slug_of(name) for name in names]
    for cols, shown in ((180, slugs), (120, slugs), (110, slugs)):
        lines = on_screen("list", cols=cols).splitlines()
        assert lines[0].rstrip().endswith("FEATURE")
        assert sorted(line.split()[0] for line in lines[1:]) == shown
        assert all(cols - 8 < width(line) <= cols for line in lines[1:])
        assert all(line.endswith("…") for line in lines[1:])


LISTED = {
    "20260101-101500-raise-on-duplicate-keys-when-loading": "Raise on duplicate keys when loading",
    "20260101-101502-add-rate-limits-to-the-public-interface": "Add rate limits to the public API",
    "20260101-101504-quote-names-with-colons-and-other-signs": "Quote names with colons and signs",
}


@pytest.mark.parametrize("cols", [80, 120, 200])
def test_list_gives_the_feature_the_room(make: Make, cols: int) -> None:
    for name, feature in LISTED.items():
        make(name, feature=f"{feature}, and say so in the documentation of the library")
    head, *rows = on_screen("list", cols=cols).splitlines()
    starts = [head.index(word) for word in ("SESSION", "PHASE", "STATUS", "UPDATED", "FEATURE")]
    widths = [after - before for before, after in itertools.pairwise((*starts, cols))]
    assert all(width(row) <= cols for row in rows)
    if cols >= 120:
        assert widths[-1] == max(widths)
    assert len({row.split()[0] for row in rows}) == len(LISTED)


def test_a_name_in_a_list_is_one_that_commands_take(run: Run, make: Make, capsys: Capture) -> None:
    for name, feature in LISTED.items():
        make(name, feature=feature * 3)
    for row in on_screen("list", cols=80).splitlines()[1:]:
        assert run("status", row.split()[0]) == ExitCode.OK
        assert capsys.readouterr().out.splitlines()[0] in LISTED


def test_what_cannot_be_taken_back_takes_no_beginning_of_a_name(
    run: Run, make: Make, capsys: Capture
) -> None:
    make()
    for command, options, kept in (
        ("remove", ["--yes", "--force"], ""),
        ("stop", [], ""),
        ("approve", ["--merge", "-y"], " --merge"),
        ("rewind", ["--to", "1", "--dry-run"], " --to 1 --dry-run"),
    ):
        assert run(command, "add", *options) == ExitCode.NOT_FOUND
        told = capsys.readouterr().err
        assert "no session is called `add`, which is only the beginning of a name" in told
        assert f"did you mean: agentmux {command} {NAME}{kept}\n" in told
    for name in ("add-auth", NAME):
        assert run("stop", name) == ExitCode.NOT_FOUND
        assert "is not live" in capsys.readouterr().err
    assert run("status", "add") == ExitCode.OK


def test_a_hint_that_names_a_session_does_what_was_asked_for(
    run: Run, make: Make, capsys: Capture
) -> None:
    make()
    make("20260101-000000-add-more", feature="add more")
    assert run("approve", "--merge", "--yes") == ExitCode.NOT_FOUND
    assert f"agentmux approve {NAME} --merge  #" in capsys.readouterr().err
    assert run("diff", "add", "--", "a file") == ExitCode.NOT_FOUND
    assert "agentmux diff add-more -- 'a file'  #" in capsys.readouterr().err
    assert run("approve", "add", "--digest", "add") == ExitCode.NOT_FOUND
    assert f"agentmux approve {NAME}  #" in capsys.readouterr().err


@pytest.mark.parametrize("placeholder", ["…", "..."])
@pytest.mark.parametrize(
    "command", [("request-changes",), ("start", "--yes"), ("tell", "--role", "coder-1")]
)
def test_the_placeholder_of_a_hint_is_no_text(
    run: Run, make: Make, capsys: Capture, command: tuple[str, ...], placeholder: str
) -> None:
    make()
    assert run(*command, placeholder) == ExitCode.USAGE
    assert f"`{placeholder}` stands for" in capsys.readouterr().err


def test_a_person_is_asked_whether_a_beginning_is_meant(make: Make) -> None:
    path = make(feature="Add auth").path
    asked = on_screen("remove", "add", "--yes", cols=200, typed="n\n")
    assert "`add` is the beginning of session add-auth (Add auth)\r\n" in asked
    assert "Is it meant? [y/N]" in asked
    assert "nothing was done" in asked
    assert path.is_dir()
    on_screen("remove", "add", "--yes", cols=200, typed="y\n")
    assert not path.exists()


def test_done_sessions_count_for_a_short_name(run: Run, make: Make, capsys: Capture) -> None:
    make()
    make("20260102-101500-add-auth", Phase.DONE)
    assert run("status", NAME) == ExitCode.OK
    assert f"next: agentmux resume {NAME}\n" in capsys.readouterr().out


def test_list_is_the_same_through_typer(run: Run, make: Make, capsys: Capture) -> None:
    make()
    assert run("list", "--json") == ExitCode.OK
    quick = answer(capsys)
    assert run("list", "--json", "--no-such") == ExitCode.USAGE
    capsys.readouterr()
    assert run("list", "--json", "--") == ExitCode.OK
    slow = answer(capsys)
    for each in (*quick["sessions"], *slow["sessions"]):
        assert each.pop("age_s") >= 0
    assert quick == slow


def test_list_shows_the_newest_fifty(run: Run, make: Make, capsys: Capture) -> None:
    for number in range(53):
        make(f"20260101-1015{number:02}-x")
    assert run("list") == ExitCode.OK
    said, told = capsys.readouterr()
    assert len(said.splitlines()) == 51
    assert "3 older" in told
    assert run("list", "--all") == ExitCode.OK
    assert len(capsys.readouterr().out.splitlines()) == 54
    assert run("list", "--json") == ExitCode.OK
    assert len(answer(capsys)["sessions"]) == 53


def test_the_answer_for_programs(run: Run, make: Make, capsys: Capture) -> None:
    make()
    for command in ("list", "status"):
        assert run(command, "--json") == ExitCode.OK
        found = answer(capsys)
        assert list(found) == ["schema", "sessions", "problems"]
        assert (found["schema"], found["problems"]) == (1, [])
        (session,) = found["sessions"]
        promised = {
            "session", "path", "phase", "status", "cycle", "review_iteration", "live",
            "orchestrator", "seats", "interruption", "updated_at",
        }  # fmt: skip
        assert promised <= set(session)
        assert session["path"] == f".agentmux/.sessions/{NAME}"
        assert session["live"] is False


def test_an_unreadable_session_is_a_problem_and_hides_nobody(
    run: Run, make: Make, capsys: Capture
) -> None:
    make("20260101-101500-good")
    bad = make("20260101-101501-bad").path
    (bad / layout.STATE).write_text('{"phase": "planning", "schema_version": 99}')
    assert run("list", "--json") == ExitCode.DATA
    found = answer(capsys)
    assert {each["session"]: each["phase"] for each in found["sessions"]} == {
        "20260101-101500-good": "architecting",
        "20260101-101501-bad": None,
    }
    (problem,) = found["problems"]
    assert (problem["session"], problem["code"]) == (bad.name, 5)
    assert "newer" in problem["message"]
    assert run("list") == ExitCode.DATA
    assert "newer" in capsys.readouterr().err


def test_status_says_what_to_type_next(
    run: Run, make: Make, tmux: TmuxTerminal, capsys: Capture
) -> None:
    path = make(feature="add\nauth \x1b[2J").path
    assert run("status", "add-auth") == ExitCode.OK
    said = capsys.readouterr().out
    assert "next: agentmux resume add-auth\n" in said
    assert said.splitlines()[0] == NAME
    assert "\x1b" not in said
    begin(tmux, path)
    assert run("status") == ExitCode.OK
    assert "next: agentmux resume add-auth --reattach" in capsys.readouterr().out


def test_status_of_a_session_at_work(
    run: Run, make: Make, tmux: TmuxTerminal, capsys: Capture
) -> None:
    made = make()
    made.launch("architect", record={"agent": "demo"}, prompt_bytes=212, fresh_prompt_bytes=2120)
    made.launch("coder", prompt_bytes=2120, fresh_prompt_bytes=2120)
    made.launch("setup")
    made.commit()
    begin(tmux, made.path)
    seen = {"status": "waiting_for_user", "source": "screen", "since": "2026-01-01T10:00:00Z"}
    (made.path / layout.RUNTIME).write_text(json.dumps({"statuses": {"architect": seen}}))
    lock = SessionLock(made.path)
    lock.acquire(0, {"pid": 4711})
    try:
        assert run("status") == ExitCode.OK
        said = capsys.readouterr().out
        assert run("list") == ExitCode.OK
        listed = capsys.readouterr().out
        assert run("status", "--json") == ExitCode.OK
        (found,) = answer(capsys)["sessions"]
    finally:
        lock.release()
    assert (found["status"], found["orchestrator"]) == ("waiting_for_user", 4711)
    assert found["seats"][0]["agent"] == "demo"
    assert "process 4711" in said
    assert "  next: agentmux answer add-auth --role architect\n        look: agentmux" in said
    assert "  waiting for you  " in listed
    lines = [re.split("  +", line.strip()) for line in said.splitlines()]
    rows = {line[0]: line for line in lines}
    assert rows["status"][1].startswith("waiting for you, updated ")
    assert rows["tmux"][1] == f"{layout.tmux_name(NAME)} at {tmux.socket}"
    assert rows["architect"][:3] == ["architect", "demo", "waiting for you"]
    assert rows["architect"][-1] == "new"
    assert rows["setup"][-1] == "-", "it has no agent"


def test_status_at_a_decision_says_what_to_read(run: Run, make: Make, capsys: Capture) -> None:
    make(phase=Phase.COMPLETING, summary_submitted=True)
    assert run("status") == ExitCode.OK
    path = f".agentmux/.sessions/{NAME}/08_completion/summary.md"
    assert f"\n  summary       {path}\n" in capsys.readouterr().out


def test_status_without_a_name(run: Run, make: Make, capsys: Capture) -> None:
    assert run("status") == ExitCode.NOT_FOUND
    make("20260101-101500-done", Phase.DONE)
    capsys.readouterr()
    assert run("status", "--json") == ExitCode.OK  # no unfinished session: the newest one
    assert [each["session"] for each in answer(capsys)["sessions"]] == ["20260101-101500-done"]
    for number in (1, 2):
        make(f"20260101-10150{number}-going")
    assert run("status", "--json") == ExitCode.OK
    assert len(answer(capsys)["sessions"]) == 2


def test_status_of_many_is_a_table(
    run: Run, make: Make, tmux: TmuxTerminal, capsys: Capture
) -> None:
    names = [f"20260101-1015{number}-going" for number in range(10, 41)]
    paths = [make(name, feature="Add it").path for name in names]
    assert run("status") == ExitCode.OK
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 32
    assert said.out.splitlines()[0].split() == ["SESSION", "PHASE", "STATUS", "UPDATED", "FEATURE"]
    assert "agentmux status SESSION" in said.err
    name = layout.tmux_name(names[3])
    tmux.create_session(name=name, uuid="other", cwd=paths[3], size=(80, 24), argv=["cat"])
    assert run("status") == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == names[3]  # the live one comes first, with all its details
    assert lines[-31].split()[0] == "SESSION"
    assert len(lines) < 60


def test_inside_a_session_it_is_that_one(
    run: Run, make: Make, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = make("20260101-101500-one"), make("20260101-101501-two")
    two.leave("03_research/x", "")
    monkeypatch.setenv("AGENTMUX_SESSION_DIR", str(one.path))
    assert run("status", "--json") == ExitCode.OK
    assert [each["session"] for each in answer(capsys)["sessions"]] == [one.path.name]
    monkeypatch.chdir(two.path / "03_research")
    assert run("status", "--json") == ExitCode.OK
    assert [each["session"] for each in answer(capsys)["sessions"]] == [two.path.name]


def test_colours_are_obeyed_and_never_carry_the_meaning_alone() -> None:
    environ = {"TERM": "xterm-256color"}
    assert Invocation(environ=environ, on_screen=True).colours
    assert not Invocation(environ={**environ, "NO_COLOR": "1"}, on_screen=True).colours
    assert not Invocation(environ={"TERM": "dumb"}, on_screen=True).colours
    assert not Invocation(environ=environ).colours
    assert render.paint("failed", colours=True) == "\x1b[31mfailed\x1b[0m"
    assert render.printable(render.paint("failed", colours=True)).endswith("failed\x1b[0m")


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\x1b[2Jb", "a�[2Jb"), ("\x07x\r", "�x�"), ("é 🚀\n\t", "é 🚀\n\t"), ("\x9b1m", "�1m")],
)
def test_what_others_wrote_does_not_move_the_cursor(text: str, shown: str) -> None:
    assert render.printable(text) == shown


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(None, "-"), (0.4, "0s"), (59, "59s"), (61, "1m"), (7200, "2h"), (9e4, "1d")],
)
def test_ages(seconds: float | None, said: str) -> None:
    assert age(seconds) == said


# -- logs ----------------------------------------------------------------------------------------


def log(path: Path, *messages: str) -> None:
    with (path / layout.LOG).open("a") as file:
        for message in messages:
            fields = {"at": "2026-01-01T10:15:02.123+00:00", "level": "info", "phase": "planning"}
            file.write(json.dumps({**fields, "message": message}) + "\n")


def test_logs_for_people(run: Run, make: Make, capsys: Capture) -> None:
    path = make().path
    assert run("logs") == ExitCode.OK
    assert capsys.readouterr().out == ""
    log(path, *(f"message {number}" for number in range(100)))
    with (path / layout.LOG).open("a") as file:
        file.write('not json\n{"at": 1')
    assert run("logs", "-n", "2") == ExitCode.OK
    assert capsys.readouterr().out.splitlines() == [
        "10:15:02 info    message 99  phase=planning",
        "not json",
    ]
    assert run("logs", "-n", "0") == ExitCode.OK
    assert capsys.readouterr().out == ""
    assert run("logs", "-n", "1000") == ExitCode.OK
    assert len(capsys.readouterr().out.splitlines()) == 101


def test_logs_go_on(make: Make, project: Path, wait_until: Any) -> None:
    path = make().path
    log(path, "first")
    output = project / "output"
    with output.open("w") as stdout:
        argv = [sys.executable, "-m", "agentmux", "logs", "-f"]
        process = subprocess.Popen(argv, stdout=stdout)
        wait_until(lambda: "first" in output.read_text(), what="the first line")
        log(path, "second")
        wait_until(lambda: "second" in output.read_text(), what="the second line")
        process.terminate()
        process.wait(60)
    assert output.read_text().count("first") == 1


# -- attach --------------------------------------------------------------------------------------


def test_where_attaching_leads() -> None:
    client = ("tmux", "-u", "-S", "/run/s")
    server = Server(socket="/run/s", pid=os.getpid(), started=1)
    target = Target(server=server, session="$3", uuid="u")
    guard = (
        "if",
        "-F",
        "-t",
        "$3",
        f"#{{==:#{{pid}} #{{session_id}} #{{@agentmux_id}},{os.getpid()} $3 u}}",
    )
    *argv, shown, nobody = attach_argv(target, {}, on_terminal=True)
    assert argv == [*client, *guard]
    assert " attach -t $3 ;" in shown
    assert "elsewhere" in nobody
    same = {"TMUX": f"/run/s,{os.getpid()},0"}
    *argv, shown, _ = attach_argv(target, same, on_terminal=True)
    assert argv == [*client, *guard]
    assert " switchc -t $3 ;" in shown
    for stale in ("/run/s,0,0", "/run/other,99999999,1", "/run/other", ",,"):
        *argv, shown, _ = attach_argv(target, {"TMUX": stale}, on_terminal=True)
        assert argv == [*client, *guard]
        assert " attach -t $3 ;" in shown
    # That of our socket is a server which has lost it.
    for environ, on_terminal in (({"TMUX": "/run/other,1,0"}, True), ({}, False),
                                 ({"TMUX": "/run/s,1,0"}, True)):  # fmt: skip
        with pytest.raises(UsageError) as raised:
            attach_argv(target, environ, on_terminal=on_terminal)
        command = shlex.join((*client, "attach-session", "-t", "$3"))
        assert command in raised.value.hints[0]
    usual = {"TMUX": f"/tmp/tmux-{os.getuid()}/mine,1,0"}
    with pytest.raises(UsageError, match="another tmux server") as raised:
        attach_argv(target, usual, on_terminal=True)
    assert "`tmux: {socket_name: mine}`" in raised.value.hints[-1]


def test_attaching_without_a_terminal_says_what_to_type(
    run: Run, make: Make, tmux: TmuxTerminal, capsys: Capture
) -> None:
    path = make().path
    assert run("attach") == ExitCode.NOT_FOUND
    assert "agentmux resume add-auth" in capsys.readouterr().err
    begin(tmux, path)
    assert run("attach") == ExitCode.USAGE
    assert f"tmux -u -S {tmux.socket} attach-session -t" in capsys.readouterr().err


def test_attaching_takes_the_one_that_is_live(
    run: Run, make: Make, tmux: TmuxTerminal, capsys: Capture
) -> None:
    state = make("20260101-101500-one").path / layout.STATE
    state.write_text(json.dumps({**json.loads(state.read_text()), "session_id": "another"}))
    begin(tmux, make("20260101-101501-two").path)
    assert run("attach") == ExitCode.USAGE
    assert "attach-session" in capsys.readouterr().err


def test_attaching_in_a_terminal(make: Make, tmux: TmuxTerminal, wait_until: Any) -> None:
    begin(tmux, make().path)
    master, slave = pty.openpty()
    argv = [sys.executable, "-m", "agentmux", "attach", "add-auth"]
    environ = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env=environ)
    os.close(slave)

    def clients() -> str:
        found: str = tmux.run("list-clients", "-F", "#{session_name}").stdout
        return found

    wait_until(lambda: clients() == f"{layout.tmux_name(NAME)}\n", what=clients)
    tmux.run("detach-client", "-s", layout.tmux_name(NAME))
    assert process.wait(60) == 0
    said = read_to_end(master).rpartition("[detached")[2]
    assert "session add-auth is interrupted, in phase architecting" in said
    assert "next: agentmux resume add-auth --reattach" in said


# -- wait and remove -----------------------------------------------------------------------------


def test_wait_tells_how_it_ended(run: Run, make: Make, capsys: Capture) -> None:
    make()
    assert run("wait", "add-auth", "--for", "architecting") == ExitCode.OK
    assert capsys.readouterr().out == "add-auth: architecting\n"
    assert run("wait", "add-auth", "--for", "planning", "--timeout", "0.1") == ExitCode.TIMED_OUT
    assert run("wait", "add-auth", "--for", "lunch") == ExitCode.USAGE
    for never in ("inf", "nan"):
        assert run("wait", "add-auth", "--timeout", never) == ExitCode.USAGE
        assert f"not `{never}`" in capsys.readouterr().err
    make("20260101-101501-lost", Phase.FAILED)
    assert run("wait", "lost") == ExitCode.FAILED
    assert run("wait", "lost", "--for", "failed") == ExitCode.OK
    assert run("wait", "nobody") == ExitCode.NOT_FOUND


def test_remove_asks_and_without_a_terminal_does_nothing(
    run: Run, make: Make, capsys: Capture
) -> None:
    path = make().path
    assert run("remove", "add-auth") == ExitCode.USAGE
    assert "--yes" in capsys.readouterr().err
    assert path.is_dir()
    assert run("remove", "add-auth", "--yes") == ExitCode.OK
    assert not path.exists()
    assert run("remove", "add-auth", "--yes") == ExitCode.NOT_FOUND


def in_terminal(*words: str, typed: str) -> tuple[int, str, str]:
    """Run a command whose stdin and stderr are a terminal; return code, stdout, terminal output."""
    master, slave = pty.openpty()
    argv = [sys.executable, "-m", "agentmux", *words]
    process = subprocess.Popen(argv, stdin=slave, stdout=subprocess.PIPE, stderr=slave, text=True)
    os.close(slave)
    os.write(master, typed.encode())
    said, _ = process.communicate(timeout=60)
    return process.returncode, said, read_to_end(master)


def on_screen(*words: str, cols: int, typed: str = "") -> str:
    """Return what a command prints on a terminal that is ``cols`` wide; ``typed`` answers it."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, cols, 0, 0))
    argv = [sys.executable, "-m", "agentmux", *words]
    environ = {**os.environ, "NO_COLOR": "1"}
    process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env=environ)
    os.close(slave)
    os.write(master, typed.encode())
    shown = read_to_end(master)
    assert process.wait(60) == (ExitCode.INTERRUPTED if typed == "n\n" else 0)
    return shown


def test_remove_in_a_terminal(make: Make) -> None:
    path = make().path
    for word in ("\n", "n\n"):
        code, _, told = in_terminal("remove", typed=word)
        assert (code, path.is_dir()) == (ExitCode.INTERRUPTED, True)
        assert "nothing was done" in told
        assert "interrupted" not in told
    assert in_terminal("remove", typed="y\n")[0] == ExitCode.OK
    assert not path.exists()


def test_a_question_is_folded_between_words(make: Make) -> None:
    make()
    shown = on_screen("remove", cols=50, typed="n\n").partition("Remove session")[2]
    *_, last = question = shown.partition("nothing was done")[0].splitlines()
    assert last.endswith("? [y/N]: ")
    assert all(len(line) <= 50 for line in question)
    told = " ".join(line.strip() for line in question)
    assert told.endswith("its history and conversations? [y/N]:")


def test_an_approval_in_a_terminal(make: Make) -> None:
    made = make(phase=Phase.COMPLETING, summary_submitted=True)
    for words in ((), ("--json",)):
        code, said, told = in_terminal("approve", *words, typed="n\n")
        assert code == ExitCode.INTERRUPTED
        assert "nothing will be committed" in (told if words else said)
        assert "nothing was done" in told
        assert "interrupted" not in told
    assert "approve" not in made.kinds
    code, said, _ = in_terminal("approve", "--json", typed="y\n")
    assert (code, json.loads(said)["result"]) == (ExitCode.OK, "accepted")


def test_no_to_going_back_leaves_a_session_as_it_is(make: Make) -> None:
    made = make(phase=Phase.PLANNING)
    made.leave("02_architecting/architecture.md", "x")
    code, _, told = in_terminal("resume", "--phase", "architecting", typed="n\n")
    assert code == ExitCode.INTERRUPTED
    assert "--phase goes back from planning to architecting" in told
    assert "nothing was done" in told
    assert "interrupted" not in told
    assert "resumed" not in made.kinds


def test_remove_is_refused_while_it_is_live(
    run: Run, make: Make, tmux: TmuxTerminal, capsys: Capture
) -> None:
    path = make().path
    begin(tmux, path)
    assert run("remove", "add-auth", "--yes") == ExitCode.BLOCKED
    assert f"agentmux stop {NAME}" in capsys.readouterr().err
    assert path.is_dir()


def test_a_session_in_the_checkout_is_not_rewound(run: Run, make: Make, capsys: Capture) -> None:
    make(phase=Phase.PLANNING)
    assert run("rewind", NAME, "--to", "architecting") == ExitCode.BLOCKED
    assert "works in your checkout" in capsys.readouterr().err
    assert run("rewind", NAME) == ExitCode.USAGE
    assert "`--to` is missing" in capsys.readouterr().err


def test_without_git_there_is_nothing_to_compare(run: Run, make: Make, capsys: Capture) -> None:
    make()
    assert run("diff", NAME) == ExitCode.USAGE
    assert "no commit to compare with" in capsys.readouterr().err


def test_a_seat_is_restarted_only_by_an_orchestrator(run: Run, make: Make, capsys: Capture) -> None:
    made = make()
    made.launch("architect")
    made.commit()
    for seat in ("architect", "coder-9"):
        assert run("restart", "add-auth", "--role", seat) == ExitCode.NOT_FOUND
        told = capsys.readouterr().err
        assert "no orchestrator runs for session add-auth" in told
        assert "hint: agentmux resume add-auth\n" in told
    with contextlib.closing(WakeFifo(made.path)):
        assert run("restart", "add-auth", "--role", "architect") == ExitCode.BLOCKED
        assert "is running" in capsys.readouterr().err
        assert run("restart", "add-auth", "--role", "coder-9") == ExitCode.NOT_FOUND
        assert "has no seat `coder-9`" in capsys.readouterr().err


def test_who_is_parked_is_told_to_go_on(run: Run, make: Make, capsys: Capture) -> None:
    made = make()
    launch = made.launch("architect")["AGENTMUX_LAUNCH_ID"]
    made.commit()
    assert run("unpark", "add-auth") == ExitCode.NOT_FOUND
    told = capsys.readouterr().err
    assert "no agent of session add-auth waits for the end of a usage limit" in told
    assert "hint: agentmux status add-auth\n" in told

    made.tell(AgentParked(agent="demo", until="2099-01-01T12:10:00.000Z"), "architect", launch)
    assert run("unpark", "add-auth") == ExitCode.OK
    assert "to resume it: agentmux resume add-auth" in capsys.readouterr().out
    with contextlib.closing(WakeFifo(made.path)):
        assert run("unpark", "add-auth") == ExitCode.OK
    assert capsys.readouterr().out == "session add-auth: architect may go on\n"
    lifted = made.events[-2:]
    assert [each.fact for each in lifted] == [LimitsLifted()] * 2
    assert {each.seat for each in lifted} == {"user"}


def test_a_seat_that_is_not_there_is_not_found(run: Run, make: Make, capsys: Capture) -> None:
    make()
    for how, told in (
        ("--dry-run", "error: add-auth: no seat `x`\n"),
        ("--detach", "error: no seat `x`\n"),
    ):
        assert run("resume", "add-auth", how, "--fresh-role", "x") == ExitCode.NOT_FOUND
        assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("remove", "2026"), "agentmux remove {}"),
        (("status", "2026"), "agentmux status {}"),
        (("show",), "agentmux show {}"),
        (("wait", "2026", "--for", "done"), "agentmux wait {} --for done"),
        (("stop",), "agentmux stop {}"),
        (("resume", "--detach"), "agentmux resume {} --detach"),
        (("resume", "--yes", "--fresh"), "agentmux resume {} --fresh"),
        (("resume", "--dry-run", "2026"), "agentmux resume {} --dry-run"),
        (("resume", "--explain"), "agentmux resume {} --explain"),
        (("resume", "--reattach", "2026"), "agentmux resume {} --reattach"),
        (
            ("resume", "--dry-run", "--phase", "planning", "--fresh-role", "a b"),
            "agentmux resume {} --dry-run --phase planning --fresh-role 'a b'",
        ),
        (
            ("restart", "--role", "coder-1", "--fresh"),
            "agentmux restart {} --role coder-1 --fresh",
        ),
        (("restart", "--role", "coder-1"), "agentmux restart {} --role coder-1"),
        (("restart", "2026", "--role", "o'coder"), """agentmux restart {} --role 'o'"'"'coder'"""),
        (("approve", "2026"), "agentmux approve {}"),
        (("request-changes", "more"), "agentmux request-changes more --session {}"),
    ],
)
def test_where_several_are_meant_the_hints_are_the_command_itself(
    run: Run, make: Make, capsys: Capture, words: tuple[str, ...], hint: str
) -> None:
    names = ["20260101-101501-two", "20260101-101500-one"]
    for name in names:
        make(name, feature=f"Add {slug_of(name)}\nin two lines")
    assert run(*words) == ExitCode.NOT_FOUND
    told = capsys.readouterr().err.splitlines()
    called = [(name if words[0] in FINAL else slug_of(name), slug_of(name)) for name in names]
    assert told[1:] == [
        f"hint: {hint.format(name)}  # architecting: Add {slug}" for name, slug in called
    ]


def test_a_half_removed_session_is_gone_with_the_next_list(
    run: Run, make: Make, project: Path
) -> None:
    path = make().path
    path.rename(path.with_name(f".removing-{path.name}"))
    assert run("list") == ExitCode.OK
    assert list(project.iterdir()) == []  # it was the last one


# -- init ----------------------------------------------------------------------------------------


def test_init_writes_the_built_in_values_once(run: Run, project: Path, capsys: Capture) -> None:
    assert run("init", "--defaults") == ExitCode.OK
    path = project / ".agentmux" / "config.yaml"
    told = capsys.readouterr().err
    assert "--dangerously-skip-permissions" in told  # printed, but not written to the file
    assert "dangerously" not in path.read_text()
    loaded = load_settings(None, project, None)
    assert loaded.settings == Settings()
    path.write_text("version: 1\n")
    assert run("init", "--defaults") == ExitCode.USAGE
    assert path.read_text() == "version: 1\n"


def test_every_commented_value_of_init_is_the_built_in_one(run: Run, project: Path) -> None:
    assert run("init", "--defaults") == ExitCode.OK
    path = project / ".agentmux" / "config.yaml"
    kept = ("version", "defaults", "roles", "resume", "snapshots", "tmux", "stall", "completion")
    keys = ("agent", "model", "max_", "coder:", "native", "policy", "reject", "commands")
    lines = []
    for line in path.read_text().splitlines():
        bare = line.replace("# ", "", 1)
        if bare.strip().startswith((*kept, *keys)) and ":" in bare and not bare.startswith("  cl"):
            lines.append(bare)
    path.write_text("\n".join(line for line in lines if not line.startswith("agents")) + "\n")
    settings = load_settings(None, project, None).settings
    assert settings.role("coder") == Settings().role("coder")
    assert settings.resume == Settings().resume
    assert settings.tmux == Settings().tmux
    assert settings.stall == Settings().stall


def test_init_needs_somebody_to_ask(run: Run, project: Path) -> None:
    assert run("init") == ExitCode.USAGE
    assert not (project / ".agentmux" / "config.yaml").exists()


# -- the rest ------------------------------------------------------------------------------------


def test_the_version_is_one(run: Run, capsys: Capture) -> None:
    assert run("--version") == ExitCode.OK
    first = capsys.readouterr().out
    assert run("version") == ExitCode.OK
    assert capsys.readouterr().out == first == f"{VERSION}\n"


def test_a_wrong_configuration_is_named_where_it_matters(
    run: Run, project: Path, make: Make, capsys: Capture
) -> None:
    make()
    other = project / "other.yaml"
    other.write_text("tmux: {socket_nam: x}\n")
    assert run("init", "--defaults", "--config", str(other)) == ExitCode.CONFIG
    assert "other.yaml:1" in capsys.readouterr().err
    assert run("list", "--config", str(other)) == ExitCode.OK  # the socket is in every state


def test_the_help_names_things_as_the_errors_do(run: Run, capsys: Capture) -> None:
    shown = ""
    for command in ("status", "wait", "remove", "resume"):
        assert run(command, "--help") == ExitCode.OK
        shown += capsys.readouterr().out
    assert "default: ()" not in shown
    assert "{session}" not in shown
    assert "<str>" not in shown


def test_no_help_ends_its_first_line_with_a_full_stop(run: Run, capsys: Capture) -> None:
    for command in ("list", "status", "logs", "attach", "wait", "remove", "init", "version"):
        assert run(command, "--help") == ExitCode.OK
        lines = capsys.readouterr().out.strip().splitlines()
        assert not lines[2].endswith(".")


def test_an_answer_without_a_screen_sends_nobody_to_a_session_that_is_not_there(
    run: Run, make: Make, capsys: Capture
) -> None:
    name = make().path.name
    assert run("answer", "architect", "1") == ExitCode.NOT_FOUND
    assert "no session matches `architect`" in capsys.readouterr().err
    assert run("answer", name, "--role", "architect", "1") == ExitCode.USAGE
    assert "agentmux show add-auth --role architect\n" in capsys.readouterr().err
