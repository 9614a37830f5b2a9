"""How errors become exit codes and messages, also those that typer raises."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from agentmux.cli.command_table import app
from agentmux.cli.invocation import Invocation, absolute, invocation_of
from agentmux.cli.main import main
from agentmux.errors import (
    AgentmuxError,
    BlockedError,
    ConfigError,
    DataError,
    ExitCode,
    MissingError,
    NotFoundError,
    NotInstalledError,
    RefusedError,
    TimedOutError,
    UsageError,
)
from agentmux.ports.forge import ForgeError
from agentmux.ports.tmux.terminal import TerminalError

Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return lambda *argv: main(argv, os.environ)


@pytest.fixture
def failing() -> Iterator[Callable[[BaseException], None]]:
    """Add a command ``fail``; return a function that sets the exception that it raises."""
    errors: list[BaseException] = []

    def fail(json: bool = False) -> None:
        raise errors[-1]

    app.command("fail")(fail)
    yield errors.append
    app.registered_commands.pop()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (AgentmuxError("x"), ExitCode.FAILED),
        (UsageError("x"), ExitCode.USAGE),
        (BlockedError("x", reason="locked"), ExitCode.BLOCKED),
        (NotFoundError("x"), ExitCode.NOT_FOUND),
        (DataError("x"), ExitCode.DATA),
        (MissingError("x"), ExitCode.MISSING),
        (ConfigError("x"), ExitCode.CONFIG),
        (RefusedError("x"), ExitCode.REFUSED),
        (TimedOutError("x"), ExitCode.TIMED_OUT),
        (OSError(errno.EMFILE, "Too many open files"), ExitCode.DATA),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
    ],
)
@pytest.mark.parametrize("argv", [("fail",), ("fail", "--json")])
def test_each_error_has_its_code(
    run: Run, failing: Any, error: BaseException, code: ExitCode, argv: tuple[str, ...]
) -> None:
    failing(error)
    assert run(*argv) == code


def test_an_error_is_told_on_stderr(
    run: Run, failing: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(DataError("`x` is odd", hints=("ls x", "rm x")))
    assert run("fail") == ExitCode.DATA
    assert capsys.readouterr() == ("", "error: `x` is odd\nhint: ls x\nhint: rm x\n")


def test_with_json_the_envelope_is_there_for_failures_too(
    run: Run, failing: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(DataError("`x` is odd", hints=("ls x",)))
    assert run("fail", "--json") == ExitCode.DATA
    said, told = capsys.readouterr()
    problem = {
        "session": "", "code": 5, "message": "`x` is odd", "hints": ["ls x"], "lasting": False
    }  # fmt: skip
    assert json.loads(said) == {"schema": 1, "sessions": [], "problems": [problem]}
    assert told.startswith("error: ")


@pytest.mark.parametrize(
    ("error", "lasts"),
    [
        (UsageError("x"), True),
        (NotFoundError("x"), True),
        (ConfigError("x"), True),
        (NotInstalledError("x"), True),
        (AgentmuxError("x"), False),
        (BlockedError("x", reason="locked"), False),
        (DataError("x"), False),
        (MissingError("x"), False),
        (ForgeError("x"), False),
        (TerminalError("x"), False),
    ],
)
def test_the_envelope_says_whether_a_new_try_would_fail_again(
    run: Run,
    failing: Any,
    capsys: pytest.CaptureFixture[str],
    error: AgentmuxError,
    lasts: bool,
) -> None:
    failing(error)
    run("fail", "--json")
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem["lasting"] is lasts


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("lst",), "no such command `lst`"),
        (("agents", "shw"), "no such command `shw`"),
        (("completion", "zhs"), "unknown value `zhs`"),
        (("list", "--jsn"), "no such option: --jsn"),
        (("status", "a", "b"), "unexpected extra argument"),
        (("wait",), "missing argument"),
        (("wait", "x", "--timeout", "soon"), "soon"),
        (("wait", "x", "--timeout", "-1"), "-1"),
        (("logs", "-n"), "requires an argument"),
        (("list", "--project"), "--project needs a value"),
        (("--project", "/nowhere", "list"), "/nowhere"),
        (("remove",), "there is no session"),
    ],
)
def test_what_makes_no_sense_is_refused_in_our_words(
    run: Run, capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], says: str
) -> None:
    code = run(*argv)
    said, told = capsys.readouterr()
    assert code in {ExitCode.USAGE, ExitCode.NOT_FOUND}
    assert said == ""
    first, *hints = told.splitlines()
    assert first.startswith("error: ")
    assert says in first.lower()
    assert all(line.startswith("hint: ") for line in hints)
    assert hints


@pytest.mark.parametrize(
    ("argv", "hinted"),
    [
        (("start", "Add", "a", "discount"), 'agentmux start "…"'),
        (("tell", "add-login", "coder-1", "Keep it short."), 'agentmux tell "…"'),
        (("fleet", "submit", "Add", "a", "discount"), 'agentmux fleet submit "…"'),
        (("fleet", "request-changes", "x", "use", "y"), 'agentmux fleet request-changes "…"'),
        (("status", "a", "b"), ""),
    ],
)
def test_a_text_of_several_words_needs_quotes(
    run: Run, capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], hinted: str
) -> None:
    assert run(*argv) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert ("in quotes" in told) is bool(hinted)
    assert hinted in told


@pytest.mark.parametrize(
    ("argv", "hinted"),
    [
        (("start", "-l is missing"), True),
        (("start", "--yes", "--loudly is missing"), True),
        (("request-changes", "-1 is not a number"), True),
        (("tell", "--role", "coder-1", "- keep it short"), True),
        (("start", "add it", "--detahc"), False),
        (("status", "-l"), False),
    ],
)
def test_a_text_that_looks_like_an_option_is_told_where_to_go(
    run: Run, capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], hinted: bool
) -> None:
    assert run(*argv) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert told.startswith("error: no such option: -")
    assert f"hint: agentmux {argv[0]} --help\n" in told
    assert (f'hint: agentmux {argv[0]} [OPTIONS] -- "-text"\n' in told) == hinted


def test_the_help_that_is_named_is_that_of_the_command_below_a_group(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fleet", "worker", "--slots", "0") == ExitCode.USAGE
    assert "hint: agentmux fleet worker --help\n" in capsys.readouterr().err
    assert run("agents", "show") == ExitCode.USAGE
    assert "hint: agentmux agents show --help\n" in capsys.readouterr().err


def test_the_desk_is_no_command_and_who_types_it_is_told_how_it_opens(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("desk") == ExitCode.USAGE
    assert "hint: `agentmux` alone opens the desk, in a terminal\n" in capsys.readouterr().err


def test_what_typer_raises_without_its_standalone_mode() -> None:
    """`main` relies on these exceptions, which may differ in other versions of typer."""

    def raised(*argv: str) -> BaseException:
        with pytest.raises(Exception) as caught:  # noqa: PT011 (which one it is, is the question)
            app(args=list(argv), standalone_mode=False, obj=Invocation(environ={}))
        return caught.value

    for argv in (("lst",), ("list", "--jsn"), ("wait",), ("wait", "x", "--timeout", "soon")):
        names = [each.__name__ for each in type(raised(*argv)).__mro__]
        assert "ClickException" in names
    assert "ClickException" in [each.__name__ for each in typer.BadParameter.__mro__]
    assert app(args=["--help"], standalone_mode=False) == 0
    assert app(args=["--version"], standalone_mode=False) == 0


def test_an_interrupt_inside_typer(run: Run, failing: Any) -> None:
    failing(KeyboardInterrupt())
    assert app(args=["fail"], standalone_mode=False, obj=Invocation(environ={})) == 130
    failing(EOFError())
    with pytest.raises(typer.Abort):
        app(args=["fail"], standalone_mode=False, obj=Invocation(environ={}))
    assert run("fail") == ExitCode.INTERRUPTED


def test_a_bug_leaves_a_report_and_no_traceback(
    run: Run, failing: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    failing(ZeroDivisionError("by zero"))
    assert run("fail") == ExitCode.FAILED
    told = capsys.readouterr().err
    assert "Traceback" not in told
    assert "ZeroDivisionError: by zero" in told
    (report,) = (tmp_path / "home" / "state" / "agentmux" / "crashes").iterdir()
    assert str(report) in told
    assert "Traceback" in report.read_text()
    assert report.stat().st_mode & 0o777 == 0o600
    assert run("fail", "-v") == ExitCode.FAILED
    assert "Traceback" in capsys.readouterr().err


def test_a_bug_that_cannot_be_reported_is_shown(
    run: Run, failing: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "home" / "state").write_text("in the way")
    failing(ZeroDivisionError("by zero"))
    assert run("fail") == ExitCode.FAILED
    assert "Traceback" in capsys.readouterr().err


def test_what_the_system_refuses_is_no_bug(
    run: Run, failing: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(PermissionError(errno.EACCES, "Permission denied", "/a/b"))
    assert run("fail") == ExitCode.DATA
    assert capsys.readouterr().err == "error: /a/b: permission denied\n"
    assert run("fail", "-v") == ExitCode.DATA
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["n" * 300, "missing", "file", "loop", "loop/below"])
def test_a_project_that_is_no_directory_is_a_mistake_of_the_user(
    run: Run, tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    assert run("list", "--project", name) == ExitCode.USAGE


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("list",), ExitCode.USAGE),
        (("--config", "x", "list"), ExitCode.USAGE),
        (("--config", "/nowhere/x", "--project", "/proc", "start", "x"), ExitCode.CONFIG),
        (("--project", "/proc", "start", "x", "--include", "x"), ExitCode.USAGE),
        (("--project", "/proc", "status"), ExitCode.NOT_FOUND),
    ],
)
def test_in_a_directory_that_is_gone(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], code: ExitCode
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert run(*argv) == code


def test_who_stops_reading_hears_no_complaint(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    argv = [sys.executable, "-m", "agentmux", "--help"]
    done = subprocess.run(argv, stdout=write, stderr=subprocess.PIPE, cwd=tmp_path, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("environ", [{}, {"PYTHONUNBUFFERED": "1"}])
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("list --json >/dev/full", 5, "error: cannot write the answer: no space left on device\n"),
        ("--help >/dev/full", 5, "error: cannot write the answer: no space left on device\n"),
        ("list --json >&-", 0, ""),
        ("status nosuch --json >/dev/full", 4, None),
        ("status nosuch --json >&-", 4, None),
        ("status nosuch 2>/dev/full", 4, ""),
        ("status nosuch 2>&-", 4, ""),
        ("list --json 2>/dev/full >&2", 5, ""),
        ("hook <&-", 0, ""),
        ("mcp <&- 2>&-", 2, ""),
        ("request-changes - <&-", 4, None),
    ],
)
def test_streams_that_take_nothing_change_no_code_but_that_of_a_lost_answer(
    tmp_path: Path, words: str, code: int, told: str | None, environ: dict[str, str]
) -> None:
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m agentmux {words}"],
        env={**os.environ, **environ},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert told is None or done.stderr == told
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr


def test_who_stops_reading_learns_the_code_all_the_same(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    argv = [sys.executable, "-m", "agentmux", "status", "nosuch", "--json"]
    done = subprocess.run(argv, stdout=write, stderr=subprocess.PIPE, cwd=tmp_path, check=False)
    os.close(write)
    assert done.returncode == ExitCode.NOT_FOUND
    assert done.stderr.startswith(b"error: ")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [("list --json", 0, '{"schema"'), ("version", 0, "0."), ("status nosuch", 4, "error: ")],
)
def test_a_process_ends_at_once_with_its_answer_and_its_code(
    tmp_path: Path, words: str, code: int, said: str
) -> None:
    """Nothing is left to do then; taking the interpreter down would cost up to a third more."""
    run = (
        "import atexit, sys; from agentmux.__main__ import main;"
        "atexit.register(print, 'the interpreter was taken down'); sys.exit(main())"
    )
    argv = [sys.executable, "-c", run, *words.split()]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert (done.stdout + done.stderr).startswith(said)
    assert "taken down" not in done.stdout


def test_ctrl_c_ends_with_130(tmp_path: Path, wait_until: Any) -> None:
    session = tmp_path / ".agentmux/.sessions/20260101-101500-x"
    session.mkdir(parents=True)
    (session / "state.json").write_text('{"phase": "planning"}')
    argv = [sys.executable, "-m", "agentmux", "wait", "x", "--for", "done"]
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, cwd=tmp_path)
    # Wait for the thread that watches files, so that the signal arrives during the wait.
    wait_until(lambda: len(list(Path(f"/proc/{process.pid}/task").iterdir())) > 1)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (130, b"interrupted\n")


@pytest.mark.parametrize(
    ("argv", "given", "config", "verbose", "rest"),
    [
        ((), None, None, False, []),
        (("list", "--project", "a"), "a", None, False, ["list"]),
        (("--project=a", "-v", "list"), "a", None, True, ["list"]),
        (("--config", "/c.yaml", "list"), None, "/c.yaml", False, ["list"]),
        (("start", "--", "--project", "-v"), None, None, False, ["start", "--", "--project", "-v"]),
    ],
)
def test_global_options_stand_anywhere(
    argv: tuple[str, ...], given: str | None, config: str | None, verbose: bool, rest: list[str]
) -> None:
    invocation, left = invocation_of(argv, {})
    found = (
        invocation.given,
        invocation.config and str(invocation.config),
        invocation.verbose,
        left,
    )
    assert found == (given, config, verbose, rest)


def test_list_loads_neither_typer_nor_yaml(tmp_path: Path) -> None:
    (tmp_path / ".agentmux/.sessions/20260101-101500-x").mkdir(parents=True)
    (tmp_path / ".agentmux/.sessions/20260101-101500-x/state.json").write_text(
        '{"phase": "planning"}'
    )
    code = (
        "import os, sys; from agentmux.cli.main import main; main(['list'], os.environ);"
        "print(sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    heavy = ("typer", "yaml", "libtmux", "asyncio", "watchfiles", "filelock", "logging")
    assert "planning" in done.stdout
    assert [name for name in heavy if f"'{name}'" in done.stdout] == []


def test_the_help_in_a_pipe_is_as_wide_as_columns_says(
    monkeypatch: pytest.MonkeyPatch, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    def width(columns: str) -> int:
        monkeypatch.setenv("COLUMNS", columns)
        assert run("help") == 0
        return max(len(line) for line in capsys.readouterr().out.splitlines())

    assert 50 < width("60") <= 60
    assert width("100") > 80
    assert 60 < width("many") == width("0") == width("") <= 80


def test_a_prune_without_anything_to_remove_says_so(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    for argv in (("prune", "--dry-run"), ("prune",)):
        assert run(*argv) == 0
        shown = capsys.readouterr()
        assert (shown.out, shown.err[:17]) == ("", "nothing to remove")


def test_a_file_above_the_current_directory_is_named_by_its_own_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a" / "b")
    monkeypatch.chdir(tmp_path / "link")
    for given, meant in (
        ("../x", tmp_path / "a" / "x"),
        ("../../link/../x", tmp_path / "link" / ".." / "x"),
        ("..", tmp_path / "a"),
        ("x", tmp_path / "a" / "b" / "x"),
        (str(tmp_path / ".." / "x"), tmp_path / ".." / "x"),
    ):
        assert absolute(Path(given)) == meant
