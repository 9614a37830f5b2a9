"""The reference agrees with the program: generated pages are current, tables are complete."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from agentmux.core.conversation.resume_choice import Guard, PaneStart
from agentmux.core.conversation.resume_record import ResumeRecord
from agentmux.core.definitions.definition import Kind, PhaseDefinition
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.pipeline.registry import PHASE_REGISTRY
from agentmux.core.prompts.variables import VARIABLES
from docs import generate

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"

PAGES = [
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
]


MADE = {**generate.PAGES, **generate.TABLES}


@pytest.mark.parametrize("name", sorted(MADE))
def test_a_generated_page_is_current(name: str) -> None:
    made = MADE[name]()
    assert (REFERENCE / name).read_text(encoding="utf-8") == made, "python docs/generate.py"


def test_every_field_of_the_state_is_documented() -> None:
    text = (REFERENCE / "session-files.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)`", text))
    assert {each.name for each in fields(SessionState)} - {"extra"} <= named


def test_every_key_kind_and_variable_of_a_definition_is_documented() -> None:
    text = (REFERENCE / "definitions.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([a-z_]+)`", text, re.MULTILINE))
    assert {each.name for each in fields(PhaseDefinition)} <= named
    assert set(Kind) <= named
    rows = dict(re.findall(r"^\| `\{\{([a-z_]+)\}\}` \| (.*) \|$", text, re.MULTILINE))
    assert rows == VARIABLES


def test_every_field_of_a_resume_record_is_documented() -> None:
    text = (REFERENCE / "session-files.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)`", text))
    internal = {"latest_argv", "argv_ref", "restart"}
    assert {each.name for each in fields(ResumeRecord)} - internal <= named


def test_every_file_of_a_session_is_documented() -> None:
    text = (REFERENCE / "session-files.md").read_text(encoding="utf-8")
    names = (
        layout.STATE, layout.STATE_BACKUP, layout.JOURNAL, layout.CURSOR, layout.RUNTIME,
        layout.LOCK, layout.LOCK_HOLDER, layout.WAKE, layout.LOG, layout.REQUIREMENTS,
        layout.CONTEXT, layout.HISTORY, layout.LAUNCHES, layout.SNAPSHOTS, layout.CHECKPOINTS,
    )  # fmt: skip
    assert [name for name in names if name not in text] == []


def test_the_explanation_names_every_guard_and_rung() -> None:
    text = (ROOT / "docs" / "explanation" / "resume.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z]+) \|", text, re.MULTILINE)
    assert [row for row in rows if row in set(Guard)] == [guard.value for guard in Guard]
    assert [row for row in rows if row in set(PaneStart)] == [rung.value for rung in PaneStart]


def test_every_phase_folder_is_documented() -> None:
    text = (REFERENCE / "artifacts.md").read_text(encoding="utf-8")
    assert [each.folder for each in PHASE_REGISTRY if each.folder not in text] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []
