"""What a user reads of a result, on real git."""

import os
from pathlib import Path

import pytest

from agentmux.app.delivery.approval.result_view import digest_now, every_change, result_view
from agentmux.app.session.search.lookup import sessions_dir
from agentmux.core.checks.report import FINDS_TESTS
from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import Kind, PhaseDefinition
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.journal.results import CheckResult, PhaseResult
from agentmux.core.journal.state import Options, SessionState
from agentmux.core.names.phase import Phase
from agentmux.ports.session.session_files import SessionFiles
from agentmux.wiring import build
from tests.app.driver import git, make_project

Session = tuple[Path, SessionFiles, SessionState]


@pytest.fixture
def session(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session with a summary, and one new file."""
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    project = make_project(tmp_path / "project")
    (project / "one.txt").write_text("1\n")
    home = sessions_dir(project) / "20260101-101500-x"
    summary = home / "08_completion" / "summary.md"
    summary.parent.mkdir(parents=True)
    summary.write_text("# Done\n\n- **one** file\n")
    state = SessionState(
        phase=Phase.COMPLETING,
        feature="Add it",
        summary_submitted=True,
        results={"reviewing": PhaseResult(verdicts={"reviewer_logic": "pass"})},
        options=Options(commit=True, base=git(project, "rev-parse", "HEAD").strip()),
    )
    return project, build.world(project, environ=dict(os.environ)).files(home), state


def test_all_that_a_decision_is_about_is_there(session: Session) -> None:
    project, files, state = session
    world = build.world(project, environ=dict(os.environ))
    found = result_view(world, files, state)
    assert found.summary == ("Done:", "", "• one file")
    assert found.checks == (FINDS_TESTS,)
    assert found.verdicts == ("review logic: pass",)
    assert found.changes == ("one.txt | 1 +", "1 file changed, 1 insertion(+)")
    assert found.digest == digest_now(world, files, state) != ""
    (project / "one.txt").write_text("2\n")
    assert found.digest != digest_now(world, files, state)


def test_what_the_user_asked_for_is_shown_with_the_result_of_it(session: Session) -> None:
    project, files, state = session
    world = build.world(project, environ=dict(os.environ))
    assert result_view(world, files, state).asked == ()
    (files.path / "08_completion" / "change_request.md").write_text("Say **hello** first\n")
    asked = replace(state, cycle=2, change_request="08_completion/change_request.md")
    assert result_view(world, files, asked).asked == ("Say hello first",)


def test_what_failed_is_there_with_the_end_of_its_output(session: Session) -> None:
    project, files, state = session
    output = "\n".join(f"line {number}" for number in range(9))
    check = CheckResult(outcome="failed", status=1, output=output)
    phase = PhaseDefinition(
        phase="verifying", kind=Kind.CHECK, folder="verifying", on_fail="fixing"
    )
    state = replace(
        state,
        pipeline=replace(FEATURE, phases=(*FEATURE.phases[:-1], phase, FEATURE.phases[-1])),
        results={**state.results, "verifying": PhaseResult(outcome="capped", checks={"t": check})},
    )
    found = result_view(build.world(project, environ=dict(os.environ)), files, state)
    assert found.has_failed
    assert found.checks[1:] == ("  t: failed (exit 1)", "    line 6", "    line 7", "    line 8")


def test_every_change_is_read_as_git_says_it(session: Session) -> None:
    project, files, state = session
    world = build.world(project, environ=dict(os.environ))
    lines = every_change(world, files, state)
    assert lines[0] == "diff --git a/one.txt b/one.txt"
    assert lines[-1] == "+1"
    (project / "one.txt").write_text("x" * 3_000_000)
    assert len("".join(every_change(world, files, state))) < 2_500_000
    (project / "one.txt").unlink()
    assert every_change(world, files, state) == ("nothing has changed",)
    assert result_view(world, files, state).changes == ("nothing has changed",)


def test_what_git_cannot_say_is_said_in_its_place(session: Session) -> None:
    project, files, state = session
    (project / ".git" / "HEAD").write_text("nonsense\n")
    world = build.world(project, environ=dict(os.environ))
    assert every_change(world, files, state)[0].startswith("the changes cannot be shown: ")
    found = result_view(world, files, state)
    assert found.changes[0].startswith("how much the files changed is not known: ")
    assert (found.summary[0], found.digest) == ("Done:", "")
