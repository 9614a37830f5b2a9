"""The list of the desk: groups, search, selection, marks and how a line looks."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.app.views.rows import SessionRow
from agentmux.core.names.status_labels import (
    Safety,
    SessionStatus,
    StatusGroup,
    status_group,
    status_label,
    status_mark,
)
from agentmux.core.terminal.text.text_width import width
from agentmux.desk.list.list_lines import heading_line, row_line, titles_of
from agentmux.desk.list.listing import (
    DeskRow,
    Heading,
    SessionListing,
    kept_safety,
    mark,
    move,
    next_in_need,
    search,
    select,
    unmark,
    with_examined,
    with_rows,
)
from agentmux.desk.styled import Line, plain

AT = datetime(2026, 1, 1, 10, tzinfo=UTC)
NOW = AT + timedelta(minutes=5)


def drawn(listing: SessionListing, shown: DeskRow, cols: int) -> Line:
    titles = titles_of(with_rows(listing, [shown]), cols)
    return row_line(listing, shown, titles[shown.path], cols, NOW)


def row(
    name: str,
    status: str = SessionStatus.RUNNING,
    *,
    project: str = "/p/calc",
    safety: Safety | None = None,
) -> DeskRow:
    said = SessionRow(
        session=f"20260101-1000{len(name):02}-{name}",
        group=status_group(status),
        phase="implementing",
        status=SessionStatus(status),
        label=status_label(status),
        ago="5m ago",
        branch="",
        is_apart=False,
        title=name,
    )
    home = Path(project)
    rests = status in {SessionStatus.INTERRUPTED, SessionStatus.STOPPED}
    return DeskRow(
        path=home / ".agentmux/.sessions" / said.session,
        project=home,
        row=said,
        updated=AT,
        words=f"{name} {home.name} implementing",
        live=not rests,
        safety=safety,
    )


ROWS = (
    row("done-one", SessionStatus.DONE),
    row("asks", SessionStatus.WAITING),
    row("works"),
    row("lost", SessionStatus.INTERRUPTED, safety=Safety.BLOCKED),
    row("rests", SessionStatus.STOPPED, safety=Safety.SAFE),
    row("parks", SessionStatus.PARKED),
)


def names(listing: SessionListing) -> list[str]:
    return [each.row.title for each in listing.shown_rows]


def test_sessions_stand_below_what_they_need_and_safe_ones_before_others() -> None:
    listing = with_rows(SessionListing(), ROWS)
    assert names(listing) == ["asks", "works", "rests", "lost", "parks", "done-one"]
    headings = [each.group for each in listing.lines if isinstance(each, Heading)]
    assert headings == list(StatusGroup)
    assert listing.selected_row is not None
    assert listing.selected_row.row.title == "asks"


def test_a_search_looks_in_words_status_and_safety() -> None:
    listing = with_rows(SessionListing(), ROWS)
    assert names(search(listing, "calc cannot")) == ["lost"]
    assert names(search(listing, "waiting")) == ["asks"]
    assert names(search(listing, "wks")) == ["works"]
    nothing = search(listing, "20260101")
    assert (nothing.lines, nothing.selected_path, nothing.selected_row) == ((), None, None)
    assert names(search(nothing, "")) == names(listing)


def test_the_selection_stays_with_its_session_and_moves_on_when_that_goes() -> None:
    listing = move(with_rows(SessionListing(), ROWS), 1)
    works = listing.selected_row
    assert works is not None
    now = replace(works, row=replace(works.row, group=StatusGroup.DONE))
    listing = with_rows(listing, [now])
    assert listing.selected_path == works.path
    listing = with_rows(listing, (), [works.path])
    assert listing.selected_row is not None
    assert listing.selected_row.row.title == "done-one"
    assert with_rows(listing, (), listing.rows).selected_path is None


def test_moving_ends_at_both_ends_and_needy_ones_come_round() -> None:
    listing = with_rows(SessionListing(), [*ROWS, row("fails", SessionStatus.FAILED)])
    assert move(listing, -9).selected_path == listing.selected_path
    assert move(move(listing, 99), 99).selected_row == ROWS[0]
    first = next_in_need(listing)
    assert first.selected_path != listing.selected_path
    assert next_in_need(first).selected_path == listing.selected_path
    assert select(listing, ROWS[2].path).selected_row == ROWS[2]
    assert select(listing, Path("/elsewhere")) == listing


def test_marks_are_taken_back_and_go_with_their_sessions() -> None:
    listing = mark(with_rows(SessionListing(), ROWS))
    assert [each.row.title for each in listing.chosen] == ["asks"]
    assert mark(listing).marked == frozenset()
    assert unmark(listing).marked == frozenset()
    assert with_rows(listing, (), [ROWS[1].path]).marked == frozenset()
    assert unmark(listing).chosen == (ROWS[1],)


def test_what_a_resume_would_do_counts_only_while_nothing_has_changed() -> None:
    fresh = row("rests", SessionStatus.STOPPED)
    listing = with_rows(SessionListing(), [fresh])
    known = replace(fresh, safety=Safety.CHOICE, warned="coder-1 begins anew")
    listing = with_examined(listing, [known, row("unknown", SessionStatus.STOPPED)])
    assert listing.rows[fresh.path].safety is Safety.CHOICE
    (kept,) = kept_safety(listing, [fresh])
    assert kept.warned == "coder-1 begins anew"
    changed = with_rows(listing, [replace(fresh, updated=NOW)])
    assert with_examined(changed, [known]).rows[fresh.path].safety is None
    runs = row("rests")
    assert list(kept_safety(listing, [runs])) == [runs]


@pytest.mark.parametrize("cols", [34, 50, 80])
def test_a_line_says_name_state_and_age(cols: int) -> None:
    listing = mark(with_rows(SessionListing(), [*ROWS, row("far", project="/p/other")]))
    said = plain(drawn(listing, ROWS[1], cols))
    assert said.startswith(">*asks")
    assert said.endswith("5m")
    assert ("waiting for you" if cols >= 44 else "waits") in said
    assert ("implementing" in said) is (cols >= 64)
    safe = plain(drawn(listing, ROWS[4], cols))
    assert ("safe to resume" if cols >= 44 else "safe") in safe
    assert plain(heading_line(Heading(StatusGroup.NEEDS_YOU, 2), cols)) == "needs you 2"


@given(st.text(max_size=60), st.integers(min_value=1, max_value=90), st.sampled_from(ROWS))
def test_a_line_fits_at_every_width(name: str, cols: int, each: DeskRow) -> None:
    strange = replace(each, path=each.path.with_name("x" + name.replace("/", "").replace("\0", "")))
    listing = with_rows(SessionListing(), [*ROWS, row("far", project=f"/p/{name.strip('/')}x")])
    assert width(plain(drawn(listing, strange, cols))) <= cols
    assert width(plain(heading_line(Heading(StatusGroup.DONE, 10**6), cols))) <= cols


@pytest.mark.parametrize("cols", [32, 48, 80])
@pytest.mark.parametrize("status", list(SessionStatus))
def test_every_line_says_the_state_in_a_whole_word(cols: int, status: SessionStatus) -> None:
    one = row("one", status)
    shown = plain(drawn(with_rows(SessionListing(), [one]), one, cols))
    words = {status_label(status), status_mark(status) or status_label(status)}
    assert any(word in shown for word in words), shown


@pytest.mark.parametrize(("cols", "word"), [(32, "\u2717 check"), (48, "decide: check failed")])
def test_a_decision_on_what_failed_a_check_says_so_and_is_found(cols: int, word: str) -> None:
    decided = row("one", SessionStatus.DECISION)
    shown = replace(decided.row, label="decide: check failed", doubt="check")
    failed = replace(decided, row=shown)
    listing = with_rows(SessionListing(), [failed, row("other", SessionStatus.DECISION)])
    assert word in plain(drawn(listing, failed, cols))
    assert search(listing, "failed").shown_rows == (failed,)


@pytest.mark.parametrize(("cols", "word"), [(32, "reattach"), (48, "to reattach")])
def test_a_session_whose_orchestrator_is_gone_says_what_to_do(cols: int, word: str) -> None:
    lost = replace(row("one", SessionStatus.INTERRUPTED), live=True)
    assert lost.is_lost
    assert word in plain(drawn(with_rows(SessionListing(), [lost]), lost, cols))
    assert not replace(lost, orchestrator=1).is_lost
    assert not replace(lost, live=False).is_lost
    assert not replace(lost, live=None).is_lost


def test_what_is_done_is_not_said_twice() -> None:
    done = row("one", SessionStatus.DONE)
    done = replace(done, row=replace(done.row, phase="done, cycle 2"))
    shown = plain(drawn(with_rows(SessionListing(), [done]), done, 80))
    assert shown.count("done") == 1
    assert "cycle 2" in shown


def test_an_age_needs_no_redrawing_each_second() -> None:
    one = replace(row("one"), updated=NOW - timedelta(seconds=44))
    assert plain(drawn(SessionListing(), one, 48)).endswith(" <1m")


def test_a_search_finds_no_time() -> None:
    parked = row("one", SessionStatus.PARKED)
    until = replace(parked.row, label="limit until Jan 2, 13:10")
    listing = with_rows(SessionListing(), [replace(parked, row=until)])
    assert search(listing, "limit").shown_rows
    for sought in ("2026", "13:10", "jan", "until"):
        assert not search(listing, sought).shown_rows
