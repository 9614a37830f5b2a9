"""What a Tab offers, read from the real table of commands and from folders of sessions."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmux.cli.fast import completion
from agentmux.cli.fast.commands import load
from agentmux.core.journal.state import decode
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.beginnings import beginning_choices
from agentmux.core.pipeline.registry import beginnings
from tests.app.on_disk import OnDisk

Tab = Callable[[str], list[str]]
LOGIN, TYPO = "20260101-101500-add-login", "20260102-101500-fix-typo"


def session(project: Path, name: str, state: object) -> None:
    folder = project / layout.SESSIONS_DIR / name
    folder.mkdir(parents=True)
    (folder / layout.STATE).write_text(state if isinstance(state, str) else json.dumps(state))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "a project"
    seats = {"seats": {"coder-1": {}, "reviewer_logic": {}}, "tree_checkpoints": [{"number": 7}]}
    session(folder, LOGIN, seats)
    session(
        folder, TYPO, {"seats": {"planner": {}}, "pipeline": {"phases": [{"phase": "writing"}]}}
    )
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def tab(project: Path) -> Tab:
    """Return the words (without what they mean) that a Tab at the end of a line offers."""
    program = load()

    def tab(line: str) -> list[str]:
        words = completion.split_line(f"agentmux {line}")[1:]
        found = completion.completion_lines(program, words, os.environ)
        return [each.partition("\t")[0] for each in found]

    return tab


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("st", ["start", "status", "stop"]),
        ("resume ", ["fix-typo", "add-login"]),
        ("resume add", ["add-login"]),
        ("resume 20260101", [LOGIN]),
        ("request-changes text -s ", ["fix-typo", "add-login"]),
        ("request-changes ", []),
        ("show --role ", ["planner", "coder-1", "reviewer_logic"]),
        ("show add-login --role ", ["coder-1", "reviewer_logic"]),
        (f"show {LOGIN} --role r", ["reviewer_logic"]),
        ("show fix --role ", ["planner"]),
        ("show nothing --role ", []),
        ("resume fix --phase ", ["writing"]),
        ("resume --phase re", ["reviewing"]),
        ("rewind add-login --to 7", ["7"]),
        ("wait fix-typo --for d", ["decision", "done"]),
        ("start --agent cl", ["claude"]),
        ("start --role arch", ["architect="]),
        ("start --role coder=cl", ["coder=claude"]),
        ("start --role=coder=cl", ["--role=coder=claude"]),
        ("start --pipeline q", ["quick"]),
        ("start --branch --qu", ["--quick"]),
        ("start --no-", ["--no-worktree"]),
        ("resume --explain --exp", []),
        ("start --role coder=claude --rol", ["--role"]),
        ("pipelines show fi", ["fix"]),
        ("agents s", ["show"]),
        ("agents show cod", ["codex"]),
        ("help agents ", ["probe", "show"]),
        ("completion ", ["bash", "zsh", "fish"]),
        ("--config ", [":file"]),
        ("--project=", [":dir"]),
        ("--project /nowhere resume ", []),
        ("resume -- ", ["fix-typo", "add-login"]),
        ("start 'a text", []),
        ("nonsense ", []),
    ],
)
def test_what_a_tab_offers(tab: Tab, line: str, offered: list[str]) -> None:
    assert tab(line) == offered


def test_request_changes_offers_the_phases_that_it_takes(tab: Tab, project: Path) -> None:
    path = project / layout.SESSIONS_DIR / "20250101-101500-waiting"
    OnDisk(path, Phase.COMPLETING, summary_submitted=True)
    state = decode(json.loads((path / layout.STATE).read_text()), where="state")
    assert Phase.REVIEWING not in beginnings(state)
    for session in ("", "-s waiting "):
        offered = tab(f"request-changes text {session}--from ")
        assert offered == [name for name, _ in beginning_choices(state)]
        assert offered[0] == Phase.FIXING
    assert tab("request-changes text -s add-login --from ") == []


@pytest.mark.parametrize("command", ["answer", "tell", "stop", "attach", "resume", "approve"])
def test_what_is_done_is_offered_only_where_it_is_taken(
    tab: Tab, project: Path, command: str
) -> None:
    path = project / layout.SESSIONS_DIR / "20260601-101500-finished"
    OnDisk(path, Phase.DONE)
    assert tab(f"{command} ") == ["fix-typo", "add-login"]
    assert tab("show ") == ["finished", "fix-typo", "add-login"]


def test_a_command_without_arguments_offers_its_options(tab: Tab) -> None:
    assert tab("list ")[:2] == ["--all", "--json"]


def test_agents_roles_and_pipelines_of_the_configuration_are_offered(
    tab: Tab, project: Path
) -> None:
    own = project / layout.PROJECT_CONFIG
    own.write_text(
        "version: 1\nagents:\n  robot: # ours\n    command: r\n  droid:\n    command: d\n"
        "roles:\n  tester: {agent: robot}\n"
    )
    folder = own.parent / "pipelines"
    folder.mkdir()
    (folder / "release.yaml").touch()
    assert {"robot", "droid"} < set(tab("start --agent "))
    assert tab("start --role test") == ["tester="]
    assert tab("start --pipeline rel") == ["release"]


@pytest.mark.parametrize("state", ["", "[]", '{"seats": [1], "pipeline": {"phases": 3}}', "\0"])
def test_a_damaged_session_offers_nothing_and_is_no_error(
    tab: Tab, project: Path, state: str
) -> None:
    session(project, "20260103-101500-odd", state)
    assert tab("show odd --role ") == []
    assert tab("show o") == ["odd"]


def test_two_sessions_with_one_slug_are_offered_by_their_whole_names(
    tab: Tab, project: Path
) -> None:
    session(project, "20260105-101500-add-login", {})
    assert tab("status ") == ["20260105-101500-add-login", "fix-typo", LOGIN]


def test_only_words_that_need_no_quotes_are_offered(tab: Tab, project: Path) -> None:
    session(project, "$(touch oops)", {})
    assert tab("status ") == ["fix-typo", "add-login"]
