"""``agentmux submit``: arguments, answers, exit codes, and modules that it must not import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentmux.cli.fast.submit import research_help, submit_help
from agentmux.core.journal.events import ConversationLearned
from agentmux.core.names.phase import Phase
from tests.app.on_disk import OnDisk, implementing
from tests.core.builders import plan

HEAVY = ("typer", "click", "yaml", "libtmux", "asyncio", "logging", "pydantic", "watchfiles")
STANDARD = (
    "dataclasses",
    "datetime",
    "inspect",
    "hashlib",
    "_hashlib",
    "uuid",
    "platform",
    "tempfile",
    "subprocess",
)
LAZY = (
    "agentmux.ports",
    "agentmux.core.conversation.resume_choice",
    "agentmux.core.agents.spec",
    "agentmux.core.decisions.next_actions",
)


def run(
    argv: list[str], environ: dict[str, str] | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agentmux", *argv],
        env=dict(os.environ) if environ is None else environ,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def session(tmp_path: Path) -> OnDisk:
    return OnDisk(tmp_path / "s")


def test_an_answer_is_one_line(session: OnDisk) -> None:
    environ = session.launch("architect")
    session.leave("02_architecting/architecture.md", "how")
    first = run(["submit", "architecture"], environ)
    again = run(["submit", "architecture"], environ)
    assert (first.returncode, first.stdout, first.stderr) == (
        0,
        "accepted: applied at the next resume\n",
        "",
    )
    assert again.returncode == 0
    assert again.stdout.startswith("duplicate: ")
    assert len(again.stdout.splitlines()) == 1


def test_the_json_answer_has_the_fields_of_the_contract(session: OnDisk) -> None:
    environ = session.launch("architect")
    answer = run(["submit", "architecture", "--json"], environ)
    assert answer.returncode == 8
    fields = json.loads(answer.stdout)
    assert list(fields) == ["schema", "result", "event_id", "reason", "problems"]
    assert fields["schema"] == 1
    assert fields["result"] == "refused"
    assert fields["event_id"] is None
    assert fields["problems"] == ["02_architecting/architecture.md: missing"]


@pytest.mark.parametrize("environ", [{}, {"PYTHONUNBUFFERED": "1"}])
@pytest.mark.parametrize("to", [">/dev/full", ">&-", ">/dev/full 2>&1", ">/dev/full 2>&-"])
def test_a_signal_that_was_recorded_is_no_failure_whoever_hears_of_it(
    session: OnDisk, to: str, environ: dict[str, str]
) -> None:
    given = session.launch("architect")
    session.leave("02_architecting/architecture.md", "how")
    command = f"exec {sys.executable} -m agentmux submit architecture {to}"
    done = subprocess.run(
        ["sh", "-c", command], env={**given, **environ}, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert session.kinds[-1] == "submit_architecture"


def test_a_refusal_lists_every_problem_and_exits_8(tmp_path: Path) -> None:
    session = OnDisk(tmp_path / "s", Phase.PLANNING)
    wrong = plan(("serial", [1, 2]))
    del wrong["needs_design"], wrong["needs_docs"]
    session.leave("04_planning/plan.yaml", wrong)
    answer = run(["submit", "plan"], session.launch("planner"))
    assert answer.returncode == 8
    assert answer.stdout.splitlines()[1:] == ["- needs_design: missing", "- needs_docs: missing"]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["submit"], "missing argument WHAT"),
        (["submit", "architectur"], "did you mean `architecture`?"),
        (["submit", "research-doen", "--topic", "x"], "did you mean `research-done`?"),
        (["submit", "plan", "now"], "unexpected argument `now` after `submit plan`"),
        (["submit", "plan", "--role", "logic"], "`submit plan` takes no `--role`"),
        (["submit", "done", "--subplna", "1"], "did you mean `--subplan`?"),
        (["submit", "done", "--subplan"], "`--subplan` needs a value"),
        (["submit", "done", "--subplan", "0"], "must be a positive integer, not `0`"),
        (["submit", "done", "--subplan=²"], "must be a positive integer, not `²`"),
        (["submit", "review", "--role", "logics"], "did you mean `logic`?"),
        (["research"], "missing argument `code` or `web`"),
        (["research", "cod", "--topic", "x", "why"], "did you mean `code`?"),
        (["research", "web", "why"], "missing option `--topic`"),
        (["research", "web", "--topic", "x", "@/nowhere"], "cannot read `/nowhere`"),
    ],
)
def test_a_mistyped_command_is_exit_2_and_names_the_nearest(
    session: OnDisk, argv: list[str], says: str
) -> None:
    environ = session.launch("architect")
    before = session.files.journal.path.read_bytes()
    answer = run(argv, environ)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith("error: ")
    assert says in answer.stderr
    assert session.files.journal.path.read_bytes() == before


def test_outside_a_pane_nothing_can_be_handed_in(tmp_path: Path) -> None:
    answer = run(["submit", "plan", "--json"])
    assert answer.returncode == 2
    fields = json.loads(answer.stdout)
    assert (fields["result"], fields["event_id"], fields["problems"]) == ("error", None, [])
    assert "AGENTMUX_SESSION_DIR is not set" in fields["reason"]
    assert "Traceback" not in answer.stderr


def test_a_session_that_is_gone_is_exit_4(session: OnDisk, tmp_path: Path) -> None:
    environ = session.launch("architect")
    session.path.rename(tmp_path / "moved")
    assert run(["submit", "hello"], environ).returncode == 4


def test_what_the_system_refuses_is_exit_5_and_no_traceback(session: OnDisk) -> None:
    environ = {**session.launch("architect"), "AGENTMUX_SESSION_DIR": f"/{'n' * 300}"}
    done = run(["submit", "hello"], environ)
    assert (done.returncode, done.stderr) == (5, f"error: /{'n' * 300}: file name too long\n")


def test_a_journal_from_a_newer_version_is_exit_5_and_stays_untouched(session: OnDisk) -> None:
    environ = session.launch("architect")
    with session.files.journal.path.open("ab") as file:
        file.write(b'{"v":2,"id":"x","at":"","event":"new"}\n')
    before = session.files.journal.path.read_bytes()
    answer = run(["submit", "hello"], environ)
    assert (answer.returncode, "update agentmux" in answer.stderr) == (5, True)
    assert session.files.journal.path.read_bytes() == before


def test_done_takes_the_sub_plan_of_the_seat_or_the_one_named(tmp_path: Path) -> None:
    session = implementing(tmp_path / "s", 3, single=True)
    environ = session.launch("coder")
    run(["submit", "done", "--subplan", "2"], environ)
    run(["submit", "done", "--subplan=3"], environ)
    run(["submit", "done"], environ | {"AGENTMUX_SUBPLAN": "1"})
    assert session.state.completed_subplans == (1, 2, 3)


@pytest.mark.parametrize("how", ["words", "file", "stdin"])
def test_a_question_comes_as_words_from_a_file_or_from_stdin(
    session: OnDisk, tmp_path: Path, how: str
) -> None:
    text = 'which "one" of $(these), `é`?'
    (tmp_path / "question.md").write_text(text)
    words = {"words": text.split(" "), "file": [f"@{tmp_path}/question.md"], "stdin": ["-"]}[how]
    answer = run(
        ["research", "web", "--topic", "auth", "--", *words], session.launch("architect"), text
    )
    assert answer.returncode == 0, answer.stderr
    assert session.state.research["web-auth"].question == text


@pytest.mark.parametrize("argv", [["submit", "--help"], ["submit", "plan", "-h"]])
def test_help_needs_no_session(argv: list[str]) -> None:
    answer = run(argv)
    assert (answer.returncode, answer.stdout) == (0, submit_help())
    assert run(["research", "--help"]).stdout == research_help()


# -- hooks ---------------------------------------------------------------------------------------


def test_a_hook_tells_the_conversation_and_that_the_prompt_arrived(session: OnDisk) -> None:
    environ = session.launch("architect", record={"session_ref": "old"})
    for event, conversation in (("SessionStart", "a-1"), ("UserPromptSubmit", "b-2")):
        told = json.dumps({"hook_event_name": event, "session_id": conversation, "prompt": "x"})
        answer = run(["hook"], environ, told)
        assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    assert session.kinds[-3:] == ["conversation_learned", "conversation_learned", "prompt_reached"]
    assert session.state.agents["architect"]["session_ref"] == "b-2"
    assert session.state.seats["architect"].reached
    fact = session.events[-2].fact
    assert fact == ConversationLearned(conversation="b-2", source="hook")


@pytest.mark.parametrize(
    "told", ["", "{", "[]", "[" * 10_000, '{"session_id": "--x"}', '{"session_id": 7}', "{}"]
)
def test_a_hook_that_has_nothing_to_tell_is_no_trouble(session: OnDisk, told: str) -> None:
    environ = session.launch("architect", record={"session_ref": "old"})
    before = session.files.journal.path.read_bytes()
    for around in (environ, {}, environ | {"AGENTMUX_SESSION_DIR": "/nowhere"}):
        answer = run(["hook"], around, told)
        assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    assert session.files.journal.path.read_bytes() == before


# -- what it costs -------------------------------------------------------------------------------


def test_a_signals_process_ends_at_once_with_its_answer_and_its_code(tmp_path: Path) -> None:
    session = implementing(tmp_path / "s", 1)
    code = (
        "import atexit, sys; from agentmux.__main__ import main;"
        "atexit.register(print, 'the interpreter was taken down');"
        "sys.argv = ['agentmux', 'submit', *sys.argv[1:]]; sys.exit(main())"
    )
    env = session.launch("coder-1", subplan=1)
    for word, status, said in (("done", 0, "accepted"), ("nosuch", 2, "error: ")):
        answer = subprocess.run(
            [sys.executable, "-c", code, word], env=env, capture_output=True, text=True, check=False
        )
        assert answer.returncode == status, answer
        assert (answer.stdout + answer.stderr).startswith(said), answer
        assert "taken down" not in answer.stdout


def test_a_signal_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    session = implementing(tmp_path / "s", 1)
    code = (
        "import sys; from agentmux.__main__ import dispatch; import os;"
        "status = dispatch(['submit', 'done'], os.environ);"
        f"print(status, *[name for name in {(*HEAVY, *STANDARD, *LAZY)!r} if name in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env=session.launch("coder-1", subplan=1),
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.splitlines()[-1] == "0"
    assert session.state.phase == Phase.REVIEWING
