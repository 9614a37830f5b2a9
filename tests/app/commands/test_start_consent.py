"""A start tells what it is about to do before it asks, and a no leaves nothing behind."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.app.commands.begin.start import StartRequest
from agentmux.app.commands.begin.start_consent import (
    StartCommand,
    preview_start,
    start_with_consent,
)
from agentmux.app.session.search.lookup import list_sessions, sessions_dir
from agentmux.core.names.phase import Phase
from agentmux.errors import DeclinedError
from tests.app.driver import SimTerminal, Studio, _starter, make_project
from tests.app.on_disk import OnDisk
from tests.fakes.conversation import Conversation


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    made = Studio(make_project(tmp_path / "project"), dict(os.environ))
    terminal: SimTerminal = made.again(()).terminal
    made.world = replace(made.world, terminal=lambda _: terminal)
    OnDisk(sessions_dir(made.project) / "20260101-101500-first", Phase.PLANNING)  # it is warned of
    return made


def command(studio: Studio, **options: object) -> StartCommand:
    request = StartRequest(feature="x", worktree=False)
    typed = StartCommand(request=request, here=studio.project, agent="demo")
    return replace(typed, **options)  # type: ignore[arg-type]


def test_a_warning_is_told_before_the_question_and_a_no_starts_nothing(studio: Studio) -> None:
    told = Conversation(agrees=False)
    with pytest.raises(DeclinedError):
        start_with_consent(studio.world, told.person(), _starter(), command(studio))
    assert [each.partition(":")[0] for each in told.lines[:1]] == ["warning"]
    assert told.lines[-1:] == ["Start anyway?"]
    assert len(list_sessions(studio.world)) == 1


@pytest.mark.parametrize(("is_there", "has_agreed"), [(False, False), (True, True)])
def test_who_agreed_beforehand_or_cannot_be_asked_is_told_alone(
    studio: Studio, is_there: bool, has_agreed: bool
) -> None:
    told = Conversation(agrees=False)
    person = told.person(is_there=is_there, has_agreed=has_agreed)
    begun = start_with_consent(studio.world, person, _starter(), command(studio))
    assert "Start anyway?" not in told.lines
    assert begun.told
    assert [f"warning: {each}" for each in begun.told] == told.lines[: len(begun.told)]
    assert not set(begun.told) & set(begun.news)


def test_a_preview_tells_the_same_and_asks_nothing(studio: Studio) -> None:
    told, asked = Conversation(agrees=True), Conversation(agrees=True)
    elsewhere = command(studio, here=Path("/elsewhere"), introduces=True)
    plan = preview_start(studio.world, told.person(), elsewhere)
    start_with_consent(studio.world, asked.person(), _starter(), elsewhere)
    assert [each for each in asked.lines if each != "Start anyway?"] == told.lines
    assert f"the session works in {studio.project}, not /elsewhere" in told.lines
    assert 'for a small change: agentmux start --quick "…"' in told.lines
    assert plan.request.agent == "demo"
