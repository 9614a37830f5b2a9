"""What is shown of a result, by how many rows there are."""

from __future__ import annotations

import pytest

from agentmux.app.views.session.result_lines import result_lines
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


@pytest.mark.parametrize("writes", [False, True])
def test_no_key_is_named_while_a_key_is_a_part_of_the_text(writes: bool) -> None:
    long = ResultView(changes=(*(f"  {number}.py | 1 +" for number in range(9)), "9 files changed"))
    drawn = result_lines(long, 80, 5, writes=writes)
    assert drawn[-1].text == "… 6 more files" + ": press d" * (not writes)
