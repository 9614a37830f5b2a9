"""What is shown of a result, by how many rows there are."""

from __future__ import annotations

import pytest

from agentmux.app.views.session.result_lines import result_lines
from agentmux.core.codec.frozen import replace
from agentmux.ports.tmux.display import ResultView

RESULT = ResultView(
    summary=("Both functions are there.",),
    checks=("nothing was verified",),
    verdicts=("review logic: pass", "review quality: pass"),
    changes=("  calc.py | 2 ++", "1 file changed"),
)
HEADINGS = ("Summary", "Checks", "Reviews", "Changes")


@pytest.mark.parametrize(
    ("rows", "has_headings", "blank"), [(13, True, 3), (12, True, 0), (10, True, 0), (9, False, 0)]
)
def test_headings_stand_where_there_is_room_for_all(
    rows: int, has_headings: bool, blank: int
) -> None:
    lines = [each.text for each in result_lines(RESULT, 80, rows)]
    assert [each for each in lines if each in HEADINGS] == list(HEADINGS if has_headings else ())
    assert lines.count("") == blank
    assert len(lines) <= rows
    assert "review quality: pass" in lines


@pytest.mark.parametrize("has_failed", [False, True])
def test_a_request_for_changes_is_shown_before_the_summary(has_failed: bool) -> None:
    asked = replace(RESULT, asked=("say hello first",), has_failed=has_failed)
    lines = [each.text for each in result_lines(asked, 80, 40)]
    headings = [each for each in lines if each in {*HEADINGS, "You asked for"}]
    assert headings.index("Summary") == headings.index("You asked for") + 1
    assert lines[lines.index("You asked for") + 1] == "say hello first"
    assert headings.index("You asked for") == (2 if has_failed else 0)


def test_what_did_not_pass_comes_first_and_whole_and_no_key_approves_to_show_more() -> None:
    long = replace(
        RESULT,
        summary=tuple(f"step {number}" for number in range(20)),
        checks=("verifying: failed", "  tests: failed (exit 1)", "    a", "    b", "    c"),
        goes=("commit 8 files",),
        has_failed=True,
    )
    for rows in (13, 16, 30):
        lines = [each.text for each in result_lines(long, 80, rows)]
        assert [e for e in lines if e and e not in HEADINGS][:5] == list(long.checks)
        assert any(each.startswith("An approval does this") for each in lines)
    wordy = replace(long, verdicts=tuple(f"review {number}: pass" for number in range(9)))
    lines = [each.text for each in result_lines(wordy, 80, 13)]
    assert lines[5:9] == ["review 0: pass", "… 8 more", "step 0", "step 1"]
    every = [each.text for rows in range(1, 40) for each in result_lines(long, 80, rows)]
    assert [each for each in every if each.endswith("press a")] == []


@pytest.mark.parametrize("writes", [False, True])
def test_no_key_is_named_while_a_key_is_a_part_of_the_text(writes: bool) -> None:
    long = ResultView(changes=(*(f"  {number}.py | 1 +" for number in range(9)), "9 files changed"))
    drawn = result_lines(long, 80, 5, writes=writes)
    assert drawn[-1].text == "… 6 more files" + ": press d" * (not writes)
