"""Finding sessions, and deciding which are live, with real files and real tmux."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from weakref import ref

import pytest

from agentmux.adapters.disk.lock import SessionLock
from agentmux.adapters.disk.session import session_folders
from agentmux.adapters.disk.session.handover import ReadyPipe
from agentmux.adapters.system.processes.processes import start_time
from agentmux.app.commands.resume.resume import find_obstacle
from agentmux.app.session.search.lookup import (
    Liveness,
    entry_at,
    home_of,
    list_resumable_sessions,
    list_sessions,
    live,
    newest_sessions,
    resolve,
    select_session,
    sessions_dir,
    short_name,
)
from agentmux.app.world import Site
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.errors import ExitCode, MissingError, NotFoundError
from agentmux.overriding import override
from agentmux.ports.tmux.terminal import ServerListing, Terminal, TerminalUnreachableError
from agentmux.wiring import build
from tests.app.on_disk import SESSION_ID, OnDisk
from tests.fakes.bench import Bench as TmuxTerminal

NAME = "20260101-101500-add-auth"
SLEEP = ["sleep", "600"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".agentmux").mkdir(parents=True)
    return folder


@pytest.fixture
def site(project: Path) -> Site:
    return build.site(project, config=None, environ=dict(os.environ))


@pytest.fixture
def make(project: Path) -> Callable[..., Path]:
    def make(name: str = NAME, phase: Phase = Phase.ARCHITECTING, **values: Any) -> Path:
        path = sessions_dir(project) / name
        values.setdefault("session_name", layout.tmux_name(name))
        return OnDisk(path, phase, **values).path

    return make


def edit(path: Path, **values: Any) -> None:
    """Change fields of a state.json directly; None removes a field."""
    file = path / layout.STATE
    fields = {**json.loads(file.read_text()), **values}
    file.write_text(json.dumps({key: value for key, value in fields.items() if value is not None}))


def digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        found.update(f"{path} {path.lstat().st_mtime_ns}".encode() + content)
    return found.hexdigest()


# -- finding -----------------------------------------------------------------------------------


def test_no_sessions_without_a_folder(site: Site) -> None:
    assert list_sessions(site) == ()


def test_all_that_hold_a_state_or_a_journal_are_found(
    site: Site, make: Callable[..., Path]
) -> None:
    make("20260101-101500-one")
    only_journal = make("20260101-101501-two")
    (only_journal / layout.STATE).unlink()
    folder = sessions_dir(site.project)
    (folder / "empty").mkdir()
    (folder / ".making-1").mkdir()
    (folder / ".making-1" / layout.STATE).write_text("{}")
    (folder / "a-file").touch()
    found = {entry.name: entry for entry in list_sessions(site)}
    assert set(found) == {"20260101-101500-one", "20260101-101501-two"}
    assert found["20260101-101501-two"].source == "journal"
    assert found["20260101-101501-two"].phase == "architecting"


def test_newest_first_by_what_the_state_says(site: Site, make: Callable[..., Path]) -> None:
    edit(make("20260101-101500-old"), updated_at="2026-01-03T00:00:00.000Z")
    edit(make("20260102-101500-new"), updated_at="2026-01-02T00:00:00.000Z")
    edit(make("20260102-101501-odd"), updated_at="2026-01-04T00:00:00")
    names = [layout.slug_of(entry.name) for entry in list_sessions(site)]
    assert names == ["odd", "old", "new"]


def test_of_many_sessions_only_the_newest_are_held(site: Site, make: Callable[..., Path]) -> None:
    for number in range(12):
        moment = f"2026-01-01T00:00:{number // 2:02}.000Z"
        edit(make(f"20260101-1015{number:02}-one"), updated_at=moment)

    class State(dict[str, object]):
        """A state whose end is noticed."""

    states: list[ref[State]] = []

    def glance(path: Path) -> Mapping[str, Any] | None:
        assert sum(each() is not None for each in states) <= 4
        found = State(session_folders.read_unchecked(path) or {})
        states.append(ref(found))
        return found

    quick = SimpleNamespace(read_unchecked=glance, names=session_folders.names)
    newest, count = newest_sessions(replace(site, folders=quick), 3)
    assert count == 12
    assert [each.name for each in newest] == [each.name for each in list_sessions(site)[:3]]


def test_without_a_word_in_the_state_the_files_time_counts(
    site: Site, make: Callable[..., Path]
) -> None:
    path = make()
    edit(path, updated_at="yesterday")
    for name in (layout.STATE, layout.JOURNAL, ""):
        os.utime(path / name, (1_000_000, 1_000_000))
    assert entry_at(site, path).updated.timestamp() == 1_000_000


def test_a_time_of_files_that_has_no_date_hides_nobody(
    site: Site, make: Callable[..., Path]
) -> None:
    path = make()
    edit(path, updated_at="yesterday")
    late = 300_000_000_000  # seconds, in the year 11476
    os.utime(path / layout.STATE, (late, late))
    if (path / layout.STATE).stat().st_mtime != late:
        pytest.skip("the file system keeps no such time")
    stamp = layout.stamp_of(NAME)
    assert stamp is not None
    assert entry_at(site, path).updated == stamp.astimezone(UTC)


def test_what_is_done_is_listed_but_not_resumable(site: Site, make: Callable[..., Path]) -> None:
    make("20260101-101500-going", Phase.FAILED)
    make("20260101-101501-done", Phase.DONE)
    assert len(list_sessions(site)) == 2
    assert [entry.slug for entry in list_resumable_sessions(site)] == ["going"]


def replaced_journal(path: Path) -> None:
    (path / layout.JOURNAL).write_text("{}\n")


def newer(path: Path) -> None:
    edit(path, schema_version=99)


def unreadable_bytes(path: Path) -> None:
    (path / layout.STATE).unlink()
    (path / layout.JOURNAL).write_text(json.dumps({"v": 99, "event": "x"}) + "\n")


@pytest.mark.parametrize(
    ("harm", "says"),
    [(replaced_journal, "replaced"), (newer, "newer agentmux"), (unreadable_bytes, "")],
)
def test_an_unreadable_session_has_its_reason_and_hides_nobody(
    site: Site, make: Callable[..., Path], harm: Callable[[Path], None], says: str
) -> None:
    make("20260101-101500-good")
    harm(make("20260101-101501-bad"))
    found = {entry.slug: entry for entry in list_resumable_sessions(site)}
    assert found["good"].problem is None
    problem = found["bad"].problem
    assert problem is not None
    assert problem.code is ExitCode.DATA
    assert says in problem.message
    assert found["bad"].phase is None


def test_a_corrupt_state_is_read_from_its_backup(site: Site, make: Callable[..., Path]) -> None:
    path = make()
    (path / layout.STATE_BACKUP).write_bytes((path / layout.STATE).read_bytes())
    (path / layout.STATE).write_text("{")
    entry = entry_at(site, path)
    assert (entry.source, entry.phase) == ("backup", "architecting")
    assert entry.warnings


@pytest.mark.parametrize("odd", [["architecting"], {}, 7, "lunch"])
def test_a_state_with_an_odd_phase_hides_nobody(
    site: Site, make: Callable[..., Path], odd: object
) -> None:
    make("20260101-101500-good")
    edit(make("20260101-101501-odd"), phase=odd)
    phases = [(entry.slug, entry.phase) for entry in list_resumable_sessions(site)]
    assert phases == [("odd", None), ("good", "architecting")]


def test_without_state_and_journal_the_phase_is_open(site: Site, make: Callable[..., Path]) -> None:
    path = make()
    (path / layout.STATE).write_text("{")
    (path / layout.JOURNAL).unlink()
    entry = entry_at(site, path)
    assert (entry.source, entry.phase, entry.problem) == ("none", None, None)


def test_listing_changes_nothing(site: Site, make: Callable[..., Path]) -> None:
    make("20260101-101500-one")
    (make("20260101-101501-two") / layout.STATE).write_text("{")
    before = digest(site.project)
    live(site, list_sessions(site))
    assert digest(site.project) == before


# -- by name -----------------------------------------------------------------------------------


@pytest.fixture
def three(make: Callable[..., Path]) -> None:
    for name in ("20260101-101500-add-auth", "20260101-101501-add-auth-ui", "20260102-101500-fix"):
        make(name)


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("20260101-101501-add-auth-ui", "add-auth-ui"),
        ("20260102-101500-fix/", "fix"),
        (".agentmux/.sessions/20260102-101500-fix", "fix"),
        ("add-auth", "add-auth"),  # a whole slug is preferred to a prefix of another one
        ("add-auth-u", "add-auth-ui"),
        ("20260102", "fix"),
        ("f", "fix"),
    ],
)
def test_a_name_means_one_session(site: Site, name: str, slug: str) -> None:
    assert resolve(site, name).slug == slug


@pytest.mark.parametrize(
    ("name", "feature"),
    [
        ("添加登录页面", "添加登录页面"),  # not the one that begins with it
        ("添加登录页面 和", "添加登录页面 和 登出\nmore"),
        ("添加登", None),  # several
        ("fix the BUG", "Fix  the bug"),
        ("ﬁx", "Fix  the bug"),
        ("bug", None),
        (" ", None),
    ],
)
def test_a_session_is_found_by_its_text(
    site: Site, make: Callable[..., Path], name: str, feature: str | None
) -> None:
    texts = ("添加登录页面", "添加登录页面 和 登出\nmore", "Fix  the bug")
    for number, text in enumerate(texts):
        make(f"20260101-10150{number}-feature-{number}", feature=text)
    if feature is None:
        with pytest.raises(NotFoundError):
            resolve(site, name)
    else:
        assert resolve(site, name).fields["feature"] == feature


def test_a_link_to_itself_beside_the_sessions_is_no_obstacle(
    project: Path, site: Site, make: Callable[..., Path]
) -> None:
    path = make()
    for folder in (project, sessions_dir(project)):
        (folder / "loop").symlink_to("loop")
    assert [entry.path for entry in list_sessions(site)] == [path]
    for name in ("other", "loop"):
        with pytest.raises(NotFoundError):
            resolve(site, name)


@pytest.mark.usefixtures("three")
def test_an_absolute_path_means_what_is_there(site: Site, tmp_path: Path) -> None:
    elsewhere = OnDisk(tmp_path / "elsewhere" / NAME).path
    assert resolve(site, str(elsewhere)).path == elsewhere


def test_a_session_belongs_to_the_project_that_its_path_tells(site: Site, tmp_path: Path) -> None:
    theirs = OnDisk(sessions_dir(tmp_path / "elsewhere") / NAME).path
    loose = OnDisk(tmp_path / "loose" / NAME).path
    assert home_of(site, resolve(site, str(theirs))) == tmp_path / "elsewhere"
    assert home_of(site, resolve(site, str(loose))) == site.project


def test_sessions_behind_a_link_belong_to_the_project_that_has_the_link(
    site: Site, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    OnDisk(shared / ".agentmux" / ".sessions" / NAME)
    (site.project / ".agentmux").rmdir()
    (site.project / ".agentmux").symlink_to(shared / ".agentmux")
    for name in (NAME, str(sessions_dir(site.project) / NAME)):
        assert home_of(site, resolve(site, name)) == site.project


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("name", ["20260101", "add", "2"])
def test_several_are_listed(site: Site, name: str) -> None:
    with pytest.raises(NotFoundError) as raised:
        resolve(site, name)
    assert any("20260101-101500-add-auth" in hint for hint in raised.value.hints)
    assert any("20260101-101501-add-auth-ui" in hint for hint in raised.value.hints)


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("name", ["", "auth", "/", ".", "..", "a\0b", "/nowhere", "x" * 5000])
def test_no_answer_is_not_found(site: Site, name: str) -> None:
    with pytest.raises(NotFoundError):
        resolve(site, name)


@pytest.mark.usefixtures("three")
def test_only_the_only_one_is_taken_unasked(site: Site) -> None:
    entries = list_sessions(site)
    assert select_session(entries[:1]) is entries[0]
    with pytest.raises(NotFoundError, match="several") as raised:
        select_session(entries, command="attach SESSION")
    assert f"agentmux attach {entries[0].name}  # architecting" in raised.value.hints
    with pytest.raises(NotFoundError):
        select_session(())


# -- liveness ----------------------------------------------------------------------------------


def begin(tmux: TmuxTerminal, path: Path, *, name: str = "", uuid: str = SESSION_ID) -> int:
    """Start a session's tmux session and record its server; return the server's pid."""
    made = tmux.create_session(
        name=name or layout.tmux_name(path.name), uuid=uuid, cwd=path, size=(80, 24), argv=SLEEP
    )
    server = made.server
    noted = {"server_pid": server.pid, "server_started": server.started, "socket": tmux.socket}
    (path / layout.RUNTIME).write_text(json.dumps(noted))
    return server.pid


def liveness(site: Site, path: Path) -> Liveness:
    return live(site, [entry_at(site, path)])[path]


def patient(site: Site, seconds: float) -> Site:
    def terminal(socket: str | None) -> Terminal:
        return TmuxTerminal(socket, timeout_s=seconds)

    return replace(site, terminal=terminal)


def test_live_by_its_name(site: Site, make: Callable[..., Path], tmux: TmuxTerminal) -> None:
    path = make(tmux_socket=tmux.socket)
    assert liveness(site, path).live is False
    begin(tmux, path, uuid="another")
    found = liveness(site, path)
    assert found.live is True
    assert found.tmux is not None
    assert found.tmux.name == layout.tmux_name(NAME)


def test_live_by_its_uuid(site: Site, make: Callable[..., Path], tmux: TmuxTerminal) -> None:
    path = make(tmux_socket=tmux.socket)
    begin(tmux, path, name="renamed")
    assert liveness(site, path).live is True


@pytest.mark.parametrize("uuid", [SESSION_ID, "another"])
def test_whatever_is_live_blocks_with_the_same_words(
    site: Site, make: Callable[..., Path], tmux: TmuxTerminal, uuid: str
) -> None:
    path = make(tmux_socket=tmux.socket)
    begin(tmux, path, uuid=uuid)
    name = layout.tmux_name(path.name)
    block = find_obstacle(site, entry_at(site, path), liveness(site, path))
    assert block is not None
    assert block.message == (
        f"tmux session {name} is still active. Detach or kill it before resuming."
    )
    if uuid == SESSION_ID:
        taken = f"agentmux resume --reattach {path.name}  # its orchestrator is gone"
        assert block.hints[0] == taken
        assert block.hints[1:] == (f"agentmux attach {path.name}", f"agentmux stop {path.name}")
    else:
        whose, rename, kill = block.hints
        assert "is not of session" in whose
        assert kill.endswith(f"kill-session -t '={name}:'")
        command = rename.removeprefix("if it is yours, rename it: ")
        subprocess.run([shutil.which("zsh") or "sh", "-c", command], check=True)
        assert find_obstacle(site, entry_at(site, path), liveness(site, path)) is None


def test_while_a_command_waits_for_its_orchestrator_the_session_starts(
    site: Site, make: Callable[..., Path]
) -> None:
    path = make()
    pipe = ReadyPipe(path, {})
    assert liveness(site, path).starter == os.getpid()
    block = find_obstacle(site, entry_at(site, path), liveness(site, path))
    assert block is not None
    assert (block.reason, block.exit_code) == ("starting", ExitCode.BLOCKED)
    assert not any("reattach" in hint for hint in block.hints)
    pipe.close()
    assert liveness(site, path).starter is None


def test_a_command_that_was_killed_starts_nothing_any_more(
    site: Site, make: Callable[..., Path]
) -> None:
    path = make()
    child = os.fork()
    if child == 0:
        ReadyPipe(path, {})
        os._exit(0)
    os.waitpid(child, 0)
    assert [each.suffix for each in path.glob("ready-*")] == [".fifo"]
    assert liveness(site, path).starter is None


def test_who_drives_a_session_has_started_it(site: Site, make: Callable[..., Path]) -> None:
    path = make()
    lock, pipe = SessionLock(path), ReadyPipe(path, {})
    lock.acquire(0, {"pid": os.getpid()})
    assert liveness(site, path).starter is None
    lock.release()
    pipe.close()


def test_a_name_that_only_begins_alike_is_not_it(
    site: Site, make: Callable[..., Path], tmux: TmuxTerminal
) -> None:
    path = make(tmux_socket=tmux.socket)
    begin(tmux, path, name=layout.tmux_name(NAME) + "-2", uuid="another")
    assert liveness(site, path).live is False


def test_each_server_is_asked_once(
    site: Site, make: Callable[..., Path], tmux: TmuxTerminal
) -> None:
    begin(tmux, make("20260101-101500-one", tmux_socket=tmux.socket))
    for number in range(5):
        make(f"20260101-10160{number}-more", tmux_socket=tmux.socket)
    calls: list[str | None] = []

    class Counting(TmuxTerminal):
        @override
        def listing(self) -> ServerListing:
            calls.append(self.socket)
            return super().listing()

    counted = replace(site, terminal=lambda socket: Counting(socket or tmux.socket))
    found = live(counted, list_sessions(counted))
    assert len(found) == 6
    assert sum(each.live is True for each in found.values()) == 6  # all have the same uuid
    assert calls == [tmux.socket]


def test_a_silent_server_leaves_it_open(
    site: Site, make: Callable[..., Path], tmux: TmuxTerminal
) -> None:
    path = make(tmux_socket=tmux.socket)
    server = begin(tmux, path)
    os.kill(server, signal.SIGSTOP)
    try:
        found = liveness(patient(site, 0.3), path)
    finally:
        os.kill(server, signal.SIGCONT)
    assert found.live is None
    assert isinstance(found.error, TerminalUnreachableError)


def test_a_server_that_lost_its_socket_keeps_the_session_live(
    site: Site, make: Callable[..., Path], tmux: TmuxTerminal
) -> None:
    path = make(tmux_socket=tmux.socket)
    server = begin(tmux, path)
    Path(tmux.socket).unlink()
    found = liveness(site, path)
    assert (found.live, found.tmux) == (True, None)
    assert str(server) in found.because
    # A later server on the same socket is not the one that has the session.
    try:
        begin(tmux, make("20260101-101501-later"), uuid="later")
        found = liveness(site, path)
        assert (found.live, found.tmux) == (True, None)
    finally:
        os.kill(server, signal.SIGKILL)


def test_a_session_that_was_killed_on_a_living_server_is_not_live(
    site: Site, make: Callable[..., Path], tmux: TmuxTerminal
) -> None:
    path = make(tmux_socket=tmux.socket)
    begin(tmux, path)
    begin(tmux, make("20260101-101501-other"), uuid="other")
    found = liveness(site, path).tmux
    assert found is not None
    tmux.kill_session(found.id)
    assert liveness(site, path).live is False


def test_the_last_session_of_a_server_that_stays_is_not_live_once_it_is_killed(
    site: Site, make: Callable[..., Path], tmux: TmuxTerminal
) -> None:
    path = make(tmux_socket=tmux.socket)
    begin(tmux, path)
    tmux.run("set-option", "-s", "exit-empty", "off")
    found = liveness(site, path).tmux
    assert found is not None
    tmux.kill_session(found.id)
    assert tmux.server().pid
    assert liveness(site, path).live is False


def test_a_pid_that_is_somebody_else_now_is_nobody(
    site: Site, make: Callable[..., Path], tmux: TmuxTerminal
) -> None:
    path = make(tmux_socket=tmux.socket)
    noted = {"server_pid": os.getpid(), "server_started": start_time(os.getpid()) + 1}
    (path / layout.RUNTIME).write_text(json.dumps(noted))
    assert liveness(site, path).live is False


def test_without_a_tmux_program_nothing_is_live_and_that_is_said(
    site: Site, make: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = make()
    monkeypatch.setenv("PATH", str(tmp_path))
    found = liveness(site, path)
    assert found.live is False
    assert isinstance(found.error, MissingError)


def test_the_lock_tells_of_an_orchestrator(site: Site, make: Callable[..., Path]) -> None:
    path = make(tmux_socket=str(site.project / "s"))
    assert (liveness(site, path).locked, liveness(site, path).orchestrator) == (False, None)
    lock = SessionLock(path)
    lock.acquire(0, {"pid": 4711})
    try:
        assert (liveness(site, path).locked, liveness(site, path).orchestrator) == (True, 4711)
    finally:
        lock.release()
    assert liveness(site, path).locked is False


def test_an_older_state_has_the_configured_name(
    site: Site, make: Callable[..., Path], tmux: TmuxTerminal
) -> None:
    path = make(tmux_socket=tmux.socket, session_name="")
    begin(tmux, path, name="mine", uuid="another")
    assert liveness(site, path).live is False
    (site.project / ".agentmux" / "config.yaml").write_text("defaults: {session_name: mine}\n")
    again = build.site(site.project, config=None, environ=dict(os.environ))
    assert liveness(again, path).live is True


def test_the_shortest_name_of_a_session_is_one_that_commands_take(
    site: Site, make: Callable[..., Path]
) -> None:
    path = make()
    make("20260101-101500-add-auth-and-more")
    assert short_name(site, path) == "add-auth"
    assert resolve(site, "add-auth").path == path
    other = make("20260102-101500-add-auth")
    assert (short_name(site, path), short_name(site, other)) == (path.name, other.name)
