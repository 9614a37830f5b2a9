"""The first screen of the desk, in a small terminal: what a session needs, and the keys for it."""

from __future__ import annotations

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project
from tests.e2e.desk_pane import ASKS, SLOW, Desk, opened

pytestmark = pytest.mark.rare("tests/desk says which screens and lines are shown for what")

SMALL = (80, 24)
CHECKS = """\
verify:
  - {name: tests, run: [sh, -c, 'echo "1150 != 1250"; exit 0']}
"""


def right(desk: Desk) -> str:
    """What is shown at the right."""
    return "\n".join(row.partition("│")[2].rstrip() for row in desk.screen.splitlines())


def test_a_question_is_seen_first_with_its_screen_and_its_keys(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario(ASKS)
    project.start("add a greeting")
    with opened(project, wait_until, size=SMALL) as desk:
        desk.shows("Do you want to proceed?", "1. Yes", "2. No", "live: architect", within_s=60)
        desk.shows("waiting for you, architecting", "x: answer, Enter: attach")
        desk.press("x")
        desk.shows("architect of", "the keys to press there")


def test_a_decision_is_seen_whole_without_scrolling(
    project: Project, wait_until: WaitUntil
) -> None:
    project.config(CHECKS)
    project.start("add a greeting").wait()
    with opened(project, wait_until, size=SMALL) as desk:
        desk.shows("commit 2 files on main:", within_s=60)
        shown = right(desk)
        for words in (
            "yours to decide", "a: approve, c: ask for changes", "Every part is there",
            "tests: passed", "review logic: pass", "2 files changed", "demo_part_1.py",
        ):  # fmt: skip
            assert words in shown, words
        desk.press("s")
        desk.shows("08_completion/summary.md")
        desk.press("d")
        desk.shows("diff --git a/demo_part_1.py")


def test_a_check_that_cannot_run_is_seen_with_its_last_words(
    project: Project, wait_until: WaitUntil
) -> None:
    project.config("verify:\n  - {name: gone, run: [agentmux-no-such-program]}\n")
    project.start("add a greeting")
    with opened(project, wait_until, size=SMALL) as desk:
        desk.shows("gone: could not run", "r: restart", within_s=60)
        desk.shows("live: check-gone", "cannot start")


def test_the_agent_that_works_is_seen_live(project: Project, wait_until: WaitUntil) -> None:
    project.scenario(SLOW)
    session = project.start("add a greeting").until_seat("coder-1")
    with opened(project, wait_until, size=SMALL) as desk:
        desk.shows("live: coder-1", "Demo agent", within_s=60)
        assert "running, implementing, in calc" in right(desk)
        project.ok("stop", session.path.name)
        desk.shows("coder-1: ↻ its conversation comes back", "R: resume", within_s=60)


def test_a_finished_session_says_where_its_result_is(
    project: Project, wait_until: WaitUntil
) -> None:
    project.start("add a greeting", "--worktree").wait().approve().wait("done")
    with opened(project, wait_until, size=SMALL) as desk:
        desk.shows(
            "agentmux/add-a-greeting", "get it with: git", "Every part is there", within_s=60
        )
