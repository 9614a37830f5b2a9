"""The page of a session begins with what it needs; its names and paths are at the end."""

from __future__ import annotations

import html
import re
from types import SimpleNamespace
from typing import Any

import pytest

from agentmux.app.views.session.last_screens import LastScreen
from agentmux.app.views.session_words import also_where, failed_commands, label, next_step
from agentmux.web.pages.overview import PendingDecision
from agentmux.web.pages.pages import templates
from agentmux.web.pages.reading import SessionRef
from tests.screens.sessions import PROJECT, RESULT, SINCE, Sample, samples

TEMPLATES = templates()
SCREEN = LastScreen(
    seat="coder-1", agent="claude", ansi="Do you want to make this edit?", cols=80, rows=24,
    captured_at=SINCE, exit_status=None,
)  # fmt: skip
DECISION = PendingDecision(
    asked=(),
    summary="Duplicate keys raise an error.",
    judged=(*RESULT.checks, *RESULT.verdicts),
    changes=RESULT.changes,
    begins=(("fixing", "a small change; runs fixing"), ("planning", "a large one; runs all")),
    has_conflict=False,
    does="commit 8 files",
    digest=RESULT.digest,
)
PARTS: dict[str, tuple[str, dict[str, Any]]] = {
    "running": ("Do you want to make this edit?", {"worked": SCREEN}),
    "waiting": ("coder-1 asks", {"questions": [("coder-1", SCREEN)]}),
    "to decide": ("Your decision", {"decision": DECISION}),
    "doubtful": ("1 failed", {"decision": DECISION}),
    "failed": ("coder-1: crashed", {"failures": [("coder-1", SCREEN)], "restarted": ["coder-1"]}),
    "interrupted": ("It goes on in implementing", {}),
}


def page_of(sample: Sample, **parts: Any) -> str:
    """Return the text of a session's page as a browser shows it."""
    view = sample.view
    seats = {each.seat: each for each in view.seats}
    for name in ("questions", "failures"):
        parts[name] = [(seats[seat], screen) for seat, screen in parts.get(name, ())]
    site: Any = SimpleNamespace(project=PROJECT)
    given: dict[str, Any] = {
        **dict.fromkeys(("phases", "told", "restarted", "skipped", "delivered"), ()),
        **dict.fromkeys(("decision", "summary", "changes", "worked", "said"), None),
        "plan": sample.outlook if sample.case == "interrupted" else None,
        "failed": failed_commands(view) if view.decision else {},
        "read_only": False, "signed_in": True, "token": "x", "tab": "overview",
        "place": SessionRef(site=site, path=sample.entry.path), "entry": sample.entry,
        "view": view, "where": also_where(view, ""), "label": label(view),
        "next_step": next_step(view),
        **parts,
    }  # fmt: skip
    made = TEMPLATES.get_template("overview.html").render(**given)
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", made)).split())


@pytest.mark.parametrize("case", PARTS)
def test_what_is_needed_comes_first_and_names_and_paths_last(case: str) -> None:
    wanted, parts = PARTS[case]
    for sample in samples(case):
        text = page_of(sample, **parts)
        last = text.index(" Where project ")
        places = (sample.name, str(PROJECT), str(sample.view.worktree))
        first = text.index(" journal ")  # the last of the tabs
        more = min(text.find(f" {each} ", first) % len(text) for each in ("Seats", "Where"))
        assert first < text.index(wanted) < more
        assert [each for each in places if each in text[:last]] == []
        assert all(each in text[last:] for each in places)


def test_the_smallest_beginning_is_chosen_and_says_what_it_runs() -> None:
    (sample, *_) = samples("to decide")
    text = page_of(sample, decision=DECISION)
    assert "fixing: a small change; runs fixing Or earlier… planning: a large one" in text
