"""Wrong input leads to the documented behaviour, or to a clear error without a traceback."""

import itertools
import json
import os
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import WaitUntil
from tests.e2e.conftest import QUICK, Client, Project, Session, everything, make_root

RARE = pytest.mark.rare("tests/app/session has each odd file")

LONG = "Ünïcode words, "
ARGUMENT_MAX = 131_071
"""Bytes of one argument on Linux (MAX_ARG_STRLEN, without its zero byte)."""

TEXTS = {
    "shell": 'it\'s a "word" \\ $(touch canary) ${HOME} $HOME `touch canary`; touch canary; \\;',
    "tmux formats": "#(touch canary) #{session_name} #[fg=red] %% ; kill-server",
    "lines": "first line\n\n  second line\r\nthird\tline",
    "letters and paths": "../../../../canary/../x 👩‍💻 añade un saludo 你好",
    "dash": "-rf --help --yes",
    "control": "\x1b]0;x\x07\x1b[2J bell",
    "not text": "a\udcff\udcfeb",
    "only signs": "…!?",
    "long": (LONG * 9000)[: ARGUMENT_MAX // 2],
}


def _longest() -> str:
    """Return a text that is as long as an argument can be."""
    return ("x" * 99 + " ") * (ARGUMENT_MAX // 100)


TEXTS["longest"] = _longest()


@pytest.mark.rare("tests/web/test_beginning.py starts sessions with such texts")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_any_text_is_a_feature(project: Project, text: str) -> None:
    session = project.start(text).wait("planning")

    kept = text.strip().encode("utf-8", "replace").decode()
    assert (session.path / "requirements.md").read_bytes() == f"{kept}\n".encode()
    assert session.state["feature"] == kept
    stamp, _, slug = session.name[len("20260101-") :].partition("-")
    assert len(stamp) == 6
    assert 0 < len(slug) <= 48
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    shown = project.run("status", session.name).stdout + project.run("list").stdout
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert canaries(project) == []


def canaries(project: Project) -> list[Path]:
    """Return the files that exist only if a text was run as a command."""
    ours = (path for path in everything(project.root) if path.name.startswith("canary"))
    return [*ours, *Path("/tmp").glob("canary*")]


@pytest.mark.long
@pytest.mark.parametrize("words", ["words ", "слова ", "\x01\x02 x"])
def test_a_megabyte_comes_from_a_file(project: Project, words: str) -> None:
    text = words * (999_999 // len(words.encode())) + "\n"
    (project.path / "feature.md").write_text(text)
    answer = project.json("start", "--agent", "demo", "@feature.md")
    session = Session(project, project.path / answer["path"])
    assert session.read("requirements.md").strip() == text.strip()
    assert session.state["feature"] == text.strip()
    session.wait("planning")


def test_text_from_stdin(project: Project) -> None:
    project.ok("start", "--agent", "demo", "--dry-run", "-", input="from stdin\n")
    assert "empty" in project.fails(2, "start", "--agent", "demo", "-", input="\n \n")


STRICT = {"PYTHONIOENCODING": "utf-8:strict"}
"""Errors are strict, as in most locales; in the locale of these tests, Python replaces them."""


@pytest.mark.long
def test_stdin_that_is_not_text(project: Project) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    answer = project.json("start", "--agent", "demo", "-", input="caf\udce9\n", env=STRICT)
    session = Session(project, project.path / answer["path"]).until_seat("architect")
    assert session.state["feature"] == "caf\ufffd"
    env = {**session.seat_env("architect"), **STRICT}
    words = ("research", "code", "--topic", "x", "-")
    project.ok(*words, input="o\udcf9?", env=env)
    (asked,) = [each for each in session.events if each["event"] == "research_dispatch_code"]
    assert "o\ufffd?" in json.dumps(asked, ensure_ascii=False)
    project.ok("research", "code", "--topic", "y", "wh\udcff", env=env)
    project.fails(3, "request-changes", "-", input="caf\udce9", env=STRICT)


def test_stdin_that_is_closed(project: Project) -> None:
    said = project.fails(2, "start", "--agent", "demo", "-", preexec_fn=lambda: os.close(0))
    assert "empty" in said


def _too_long(project: Project) -> list[str]:
    (project.path / "feature.md").write_text("x" * 1_000_001)
    return ["@feature.md"]


REFUSED: dict[str, Callable[[Project], list[str]]] = {
    "too long": _too_long,
    "empty": lambda _: [""],
    "blank": lambda _: [" \n\t "],
    "none": lambda _: [],
    "no such file": lambda _: ["@nosuch.md"],
    "a folder": lambda _: ["@."],
    "dash without --": lambda _: ["-rf x"],
    "two words": lambda _: ["add", "words"],
    "name": lambda _: ["--name", "../x", "text"],
    "name with a newline": lambda _: ["--name", "x\n", "text"],
    "role": lambda _: ["--role", "cooder=demo", "text"],
    "role without agent": lambda _: ["--role", "coder", "text"],
    "branch": lambda _: ["--branch", "a..b", "text"],
    "branch like an option": lambda _: ["--branch=--force", "text"],
    "branch that exists": lambda _: ["--branch", "main", "text"],
    "no project": lambda _: ["--project", "nosuch", "text"],
}


@pytest.mark.parametrize("words", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_request_is_refused_and_leaves_nothing(
    project: Project, words: Callable[[Project], list[str]]
) -> None:
    given = words(project)
    before = project.tree()
    project.fails(2, "start", "--agent", "demo", *given)
    assert project.tree() == before
    assert not project.processes()


# -- paths ---------------------------------------------------------------------------------------


@pytest.fixture
def odd() -> Iterator[Project]:
    made = Project(
        make_root(), name="a b #(touch canary) $(touch canary) `touch canary` 'x' \"y\" ü;"
    )
    yield made
    made.close()


@RARE
@pytest.mark.long
def test_a_path_is_never_run(odd: Project, wait_until: WaitUntil) -> None:
    session = odd.start("add #(touch canary)")
    # tmux runs the commands of a format when it draws it, which needs an attached client.
    with Client(odd, sys.executable, "-m", "agentmux", "attach") as client:
        wait_until(lambda: odd.tmux("list-clients"), 10, lambda: client.said)
        session.wait()
        drawn = "#{T:status-left}#{T:window-status-format}#{T:pane-border-format}"
        draw = ("display-message", "-p", drawn, ";", "refresh-client", "-S", ";")
        odd.tmux(*(draw * 25)[:-1])
        assert canaries(odd) == []

        # Check the test itself: an unescaped path does run.
        def ran() -> bool:
            odd.tmux("display-message", "-p", f"#(touch {odd.home}/canary)")
            return canaries(odd) != []

        wait_until(ran)
    (odd.home / "canary").unlink()
    odd.ok("stop", session.name)
    odd.ok("resume", session.name, "--detach")
    session.approve()

    assert odd.git("log", "-1", "--format=%s") == "add #(touch canary)\n"
    assert canaries(odd) == []


def test_a_place_where_nothing_can_be_made(project: Project) -> None:
    # Not even root can create files there.
    said = project.fails(5, "start", "--agent", "demo", "--project", "/sys/kernel", "x")
    assert "/sys/kernel" in said
    (project.path / ".agentmux").write_text("no folder\n")
    before = project.tree()
    assert ".agentmux" in project.fails(5, "start", "--agent", "demo", "x")
    assert project.tree() == before
    assert not project.processes()


# -- missing programs ----------------------------------------------------------------------------


def tools(project: Project, *names: str) -> dict[str, str]:
    """Return an environment in which only these programs are on PATH."""
    folder = project.root / "tools"
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(str(shutil.which(name)))
    return {"PATH": str(folder)}


def test_a_machine_without_tmux(project: Project) -> None:
    env = tools(project, "git", "sh")
    before = project.tree()
    assert "tmux" in project.fails(6, "start", "--agent", "demo", "x", env=env)
    answer = project.json("start", "--agent", "demo", "x", env=env, code=6)
    assert [each["code"] for each in answer["problems"]] == [6]
    assert project.tree() == before
    assert project.json("list", env=env)["sessions"] == []


def test_a_machine_without_git(project: Project) -> None:
    env = tools(project, "tmux", "sh")
    before = project.tree()
    assert "git" in project.fails(6, "start", "--agent", "demo", "x", env=env)
    assert project.tree() == before


@pytest.mark.parametrize(
    "words",
    [["--agent", "claude"], ["--agent", "demo", "--role", "coder=nosuch"], []],
    ids=["agent", "role", "default"],
)
def test_an_agent_that_is_not_installed(project: Project, words: list[str]) -> None:
    env = tools(project, "tmux", "git", "sh")
    before = project.tree()
    said = project.fails(6, "start", *words, "x", env=env)
    assert "is not on PATH" in said
    assert "agentmux agents" in said
    assert project.tree() == before
    assert not project.processes()


# -- a full disk ---------------------------------------------------------------------------------


def full() -> None:
    """Make this process unable to write to any file, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_a_full_disk_at_the_start(project: Project) -> None:
    before = project.git("branch", "--list")
    for words in ([], ["--branch", "auto"]):
        said = project.fails(5, "start", "--agent", "demo", *words, "x", preexec_fn=full)
        assert str(project.path) in said
    assert project.sessions() == []
    assert project.git("branch", "--list") == before
    assert not project.processes()


@pytest.mark.long
def test_a_full_disk_while_an_agent_and_the_user_signal(held: Session) -> None:
    project, before = held.project, held.read("tool_events.jsonl")
    write_plan(held, yaml.safe_dump(GOOD))
    env = held.seat_env("planner")
    assert str(held.path) in project.fails(5, "submit", "plan", env=env, preexec_fn=full)
    project.fails(3, "approve", held.name, "--yes")
    lines = held.read("tool_events.jsonl")
    project.fails(5, "approve", held.name, "--yes", preexec_fn=full)
    assert held.read("tool_events.jsonl") == lines
    assert lines.startswith(before)


@pytest.mark.long
def test_a_full_disk_under_the_orchestrator(project: Project, wait_until: WaitUntil) -> None:
    project.scenario({"roles": {**QUICK["roles"], "architect": {"silent": "until-told"}}})
    session = project.start().until_seat("architect")
    (pid,) = [each["orchestrator"] for each in project.json("status")["sessions"]]
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    write_over(session.path / "02_architecting" / "architecture.md", b"Small.\n")
    assert session.submit("architect", "architecture")["result"] == "accepted"

    def told() -> bool:
        pane = f"={session.state['session_name']}:0.0"
        shown = project.program("tmux", "capture-pane", "-p", "-t", pane).stdout
        return "problem: " in shown

    wait_until(told, 20)
    assert session.state["phase"] == "architecting"
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
    session.wait()
    assert session.launched()[:2] == ["architect", "planner"]


# -- artifacts -----------------------------------------------------------------------------------

PLAN = "04_planning/plan.yaml"
GOOD: dict[str, Any] = {
    "version": 2,
    "plan_overview": "One part.",
    "needs_design": False,
    "needs_docs": False,
    "doc_files": [],
    "groups": [{"group_id": "g", "mode": "parallel", "plans": [{"index": 1, "name": "one"}]}],
    "subplans": [
        {
            "index": 1,
            "title": "One",
            "scope": "All.",
            "owned_files": ["one.py"],
            "dependencies": "none",
            "implementation_approach": "Write it.",
            "acceptance_criteria": "It runs.",
            "tasks": ["Write it"],
        }
    ],
}
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
    for before, name in itertools.pairwise("abcdefghij")
)


@pytest.fixture(scope="module")
def held() -> Iterator[Session]:
    """A session whose planner does nothing, so that the tests can hand in for it."""
    project = Project(make_root())
    project.scenario({"roles": {"planner": {"silent": True}}})
    yield project.start().until_seat("planner").settled("planner")
    project.close()


def write_plan(session: Session, text: str) -> None:
    write_over(session.path / PLAN, text.encode())


def write_over(place: Path, data: bytes) -> None:
    """Write a plain file, and remove anything else at its path first."""
    place.parent.mkdir(exist_ok=True)
    clear(place)
    place.write_bytes(data)


def clear(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        place.rmdir()
    place.unlink(missing_ok=True)


def _sparse(place: Path) -> None:
    place.touch()
    os.truncate(place, 1 << 30)


def _link(place: Path) -> None:
    other = place.with_name("elsewhere.yaml")
    other.write_text(yaml.safe_dump(GOOD))
    place.symlink_to(other)


ODD_FILES: dict[str, Callable[[Path], object]] = {
    "missing": lambda _: None,
    "empty": Path.touch,
    "blank": lambda place: place.write_text(" \n\n"),
    "folder": Path.mkdir,
    "fifo": os.mkfifo,
    "link": _link,
    "dangling link": lambda place: place.symlink_to("nowhere"),
    "link to a device": lambda place: place.symlink_to("/dev/zero"),
    "sparse": _sparse,
    "bomb": lambda place: place.write_text(BOMB),
    "deep": lambda place: place.write_text("[" * 100_000),
    "deep map": lambda place: place.write_text("{a: " * 50_000),
    "tag": lambda place: place.write_text('!!python/object/apply:os.system ["touch canary"]\n'),
    "local tag": lambda place: place.write_text("version: !secret 2\n"),
    "not utf-8": lambda place: place.write_bytes(b"version: \xff\n"),
    "zero bytes": lambda place: place.write_bytes(b"version: 2\0\n"),
    "two documents": lambda place: place.write_text("version: 2\n---\nversion: 2\n"),
    "key twice": lambda place: place.write_text(yaml.safe_dump(GOOD) + "version: 2\n"),
    "no yaml": lambda place: place.write_text("version: [2\n"),
    "list": lambda place: place.write_text("- version: 2\n"),
    "huge number": lambda place: place.write_text("version: " + "9" * 200_000),
    "too large": lambda place: place.write_text(yaml.safe_dump(GOOD) + "#" * (1 << 18)),
}


@pytest.mark.long
@pytest.mark.parametrize("make", ODD_FILES.values(), ids=ODD_FILES.keys())
def test_an_artifact_that_is_no_plan_is_refused(
    held: Session, make: Callable[[Path], object]
) -> None:
    (held.path / PLAN).parent.mkdir(exist_ok=True)
    clear(held.path / PLAN)
    make(held.path / PLAN)
    before = held.read("tool_events.jsonl")

    refused = held.submit("planner", "plan", code=8)

    assert refused["result"] == "refused"
    assert refused["event_id"] is None
    assert all(problem for problem in refused["problems"])
    assert len(refused["problems"]) >= 1
    assert sum(map(len, refused["problems"])) < 4000
    assert held.read("tool_events.jsonl") == before
    assert canaries(held.project) == []


def test_every_mistake_of_a_plan_is_named_at_once(held: Session) -> None:
    part = GOOD["subplans"][0]
    write_plan(
        held,
        json.dumps(
            {
                "version": 3,
                "plan_overview": "",
                "needs_design": "perhaps",
                "doc_files": "README",
                "surprise": 1,
                "groups": [
                    {"group_id": "g", "mode": "sideways", "plans": [{"index": 1, "name": "one"}]},
                    {
                        "group_id": "g",
                        "mode": "parallel",
                        "plans": [{"index": 1, "name": "x"}, {"index": 9, "name": "y"}],
                    },
                ],
                "subplans": [
                    part,
                    {**part, "title": ["no"], "tasks": []},
                    {**part, "index": 4, "owned_files": ["../out.py", "/etc/passwd"]},
                    "no sub-plan",
                ],
            }
        ),
    )
    problems = held.submit("planner", "plan", code=8)["problems"]

    said = "\n".join(problems)
    for part_of_it in (
        "version", "plan_overview", "needs_design", "needs_docs", "doc_files", "mode",
        "title", "tasks", "index", "owned_files", "subplans[3]",
    ):  # fmt: skip
        assert part_of_it in said, f"{part_of_it} is not in:\n{said}"
    assert len(problems) >= 11


@pytest.mark.long
def test_after_all_that_a_good_plan_is_taken(held: Session, wait_until: WaitUntil) -> None:
    write_plan(held, yaml.safe_dump(GOOD))
    assert held.submit("planner", "plan")["result"] == "accepted"
    held.wait("implementing")
    assert held.kinds("submit_plan") == ["submit_plan"]
    assert held.state["subplan_count"] == 1


@pytest.mark.long
def test_agents_mend_what_was_refused(project: Project) -> None:
    life = {"write": "wrong-first"}
    project.scenario({"default": life, "roles": {"planner": {"plan": {"parts": 1}}}})
    session = project.start().wait()
    assert session.launched() == [
        "architect", "planner", "coder-1", "reviewer_logic", "reviewer_logic",
    ]  # fmt: skip
    assert session.kinds("submit_plan", "submit_review") == ["submit_plan", "submit_review"]


@pytest.fixture(scope="module")
def stopped() -> Iterator[Session]:
    """A session that was stopped while it waited for the user's decision."""
    project = Project(make_root())
    session = project.start().wait()
    project.ok("stop", session.name)
    yield session
    project.close()


@RARE
@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "make", "phase"),
    [
        ("02_architecting/architecture.md", os.mkfifo, "architecting"),
        ("02_architecting/architecture.md", _sparse, "architecting"),
        ("04_planning/execution_plan.yaml", lambda place: place.write_text(BOMB), "planning"),
        ("04_planning/execution_plan.yaml", _sparse, "planning"),
        ("06_implementation/done_1", lambda place: place.symlink_to("/dev/null"), "implementing"),
        ("06_implementation/done_1", Path.mkdir, "implementing"),
        ("08_completion/summary.md", os.mkfifo, "completing"),
    ],
)
def test_an_odd_file_in_a_stopped_session_counts_as_missing(
    stopped: Session, path: str, make: Callable[[Path], object], phase: str
) -> None:
    place = stopped.path / path
    kept = place.read_bytes()
    clear(place)
    make(place)
    try:
        (plan,) = stopped.project.json("resume", "--dry-run")["sessions"]
    finally:
        write_over(place, kept)
    assert plan["phase"] == phase


@pytest.mark.long
@pytest.mark.parametrize(
    "make",
    [os.mkfifo, _sparse, Path.mkdir, lambda place: place.symlink_to("/dev/zero")],
    ids=["fifo", "sparse", "folder", "link"],
)
@pytest.mark.parametrize("name", ["state.json", "tool_events.jsonl"])
def test_odd_files_in_place_of_the_sessions_own(
    stopped: Session, name: str, make: Callable[[Path], object]
) -> None:
    place, project = stopped.path / name, stopped.project
    kept = place.read_bytes()
    clear(place)
    make(place)
    try:
        for words in (["list"], ["resume", "--dry-run"]):
            done = project.run(words[0], "--json", *words[1:])
            assert done.returncode in {0, 5}, done.stdout + done.stderr
            assert json.loads(done.stdout)["schema"] == 1
    finally:
        write_over(place, kept)


@pytest.mark.long
def test_after_all_that_the_stopped_session_goes_on(stopped: Session) -> None:
    stopped.project.ok("resume", stopped.name, "--detach")
    stopped.approve()


@pytest.mark.long
def test_what_was_handed_in_before_the_state_was_lost_is_not_asked_for_again(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario({"roles": {"planner": {"silent": True}, "coder": {"silent": True}}})
    session = project.start().until_seat("planner").settled("planner")
    project.tmux("kill-server")
    wait_until(lambda: not project.processes(), 15, project._left)
    write_over(session.path / PLAN, json.dumps(GOOD).encode())
    assert session.submit("planner", "plan")["result"] == "accepted"
    (session.path / "state.json").unlink()
    (session.path / "state.json.bak").unlink()

    before = project.tree()
    (plan,) = project.json("resume", "--dry-run", session.name)["sessions"]
    assert project.tree() == before
    assert (plan["phase"], plan["state_source"]) == ("implementing", "journal")
    assert [pane["seat"] for pane in plan["panes"]] == ["coder-1"]
    project.ok("resume", session.name, "--detach", "--yes")
    session.until_seat("coder-1")
    assert session.launched() == ["architect", "planner", "coder-1"]
    assert session.read("04_planning/tasks_1.md")


@pytest.mark.long
def test_a_line_of_nonsense_in_a_live_session_is_reported(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    session = project.start().until_seat("architect").settled("architect")
    with (session.path / "tool_events.jsonl").open("ab") as file:
        file.write(b"{nonsense}\n")
    assert session.submit("architect", "hello")["result"] == "accepted"
    wait_until(lambda: "a line was skipped" in project.ok("logs", session.name), 20)

    def shown() -> bool:
        pane = f"={session.state['session_name']}:0.0"
        said = project.tmux("capture-pane", "-p", "-J", "-t", pane)
        return "a line was skipped" in " ".join(said.split())

    wait_until(shown, 10, lambda: project.ok("logs", session.name))
    assert project.ok("logs", session.name).count("a line was skipped") == 1
