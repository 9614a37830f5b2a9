"""The names of sessions in the list: no two alike, and the project is kept where they are cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.terminal.text.text_width import width
from agentmux.desk.list.listing import DeskRow
from agentmux.desk.list.titles import draw_titles
from tests.desk.builders import row

SHOP, NOTES, OTHER = Path("/work/shop"), Path("/work/notes"), Path("/old/shop")


def titles(*rows: DeskRow, room: int = 17, has_projects: bool = True) -> list[tuple[str, str]]:
    made = draw_titles([(each, room) for each in rows], has_projects=has_projects)
    return [made[each.path] for each in rows]


def test_a_name_that_is_cut_keeps_the_project() -> None:
    long = row("raise-on-duplicate-keys", project=SHOP)
    assert titles(long) == [("raise-on-du\u2026", "shop")]
    assert titles(long, has_projects=False) == [("raise-on-duplica\u2026", "")]
    service = row("raise-on-duplicate-keys", project=Path("/work/a-service-for-everything"))
    assert titles(service) == [("raise-o\u2026", "a-servi\u2026")]


def test_names_that_are_cut_alike_show_the_part_in_which_they_differ() -> None:
    rows = [row(f"raise-on-duplicate-{what}", project=SHOP) for what in ("keys", "values")]
    assert titles(*rows) == [("raise-o\u2026keys", "shop"), ("raise\u2026values", "shop")]


@pytest.mark.parametrize(
    ("stamps", "shown"),
    [
        (("20260101-080000", "20260101-101500"), ("08:00", "10:15")),
        (("20260101-080000", "20260203-080000"), ("01-01", "02-03")),
        (("20260101-080000", "20260101-080007"), ("08:00:00", "08:00:07")),
    ],
)
def test_equal_names_show_when_they_were_started(
    stamps: tuple[str, str], shown: tuple[str, str]
) -> None:
    rows = [row("add-login", project=SHOP, stamp=stamp) for stamp in stamps]
    names = [name for name, _ in titles(*rows, room=24)]
    assert names == [f"add-login {each}" for each in shown]


def test_only_the_names_that_are_alike_show_when_they_were_started() -> None:
    begun = (("import", "131529"), ("import", "131426"), ("export", "130626"))
    rows = [
        row(f"add-a-json-flag-to-the-{what}", project=SHOP, stamp=f"20260101-{time}")
        for what, time in begun
    ]
    names = [name for name, _ in titles(*rows, room=20, has_projects=False)]
    assert names[:2] == ["add-a-j\u2026import 13:15", "add-a-j\u2026import 13:14"]
    assert names[2] == "add-a-json-fl\u2026export"


def test_projects_of_one_name_show_their_folders() -> None:
    rows = [row("add-login", project=each) for each in (SHOP, OTHER, NOTES)]
    assert [project for _, project in titles(*rows, room=40)] == ["work/shop", "old/shop", "notes"]


SLUGS = st.from_regex(r"[a-z]{1,3}(-[ab]{1,12}){0,3}(-2)?", fullmatch=True)
STAMPS = st.sampled_from(["20260101-080000", "20260101-080001", "20260201-080000"])
SESSIONS = st.tuples(SLUGS, STAMPS, st.sampled_from([SHOP, NOTES, OTHER]))


@given(st.sets(SESSIONS, max_size=12), st.integers(min_value=12, max_value=60))
def test_no_two_titles_are_alike_and_all_fit(
    sessions: set[tuple[str, str, Path]], room: int
) -> None:
    rows = [row(slug, project=project, stamp=stamp) for slug, stamp, project in sessions]
    made = titles(*rows, room=room)
    assert len(set(made)) == len(made)
    assert all(width(name) + 1 + width(project) <= room for name, project in made)
