"""The Markdown pages of a plan."""

from __future__ import annotations

from agentmux.core.documents.plan_pages import plan_md, subplan_md, tasks_md
from tests.core.plans import parsed, plan


def test_the_rendered_files() -> None:
    found = parsed(plan())
    whole = plan_md(found)
    assert "1. `core` (parallel)" in whole
    assert "   - 2: part 2 ([plan_2.md](plan_2.md))" in whole
    assert "## Documentation to update\n\n- README.md" in whole
    one = subplan_md(found, 2)
    assert one.startswith("# Sub-plan 2: Part 2\n")
    assert "## Owned files\n\n`src/b.py`\n" in one
    assert "## Why it stands alone\n\nown module\n" in one
    assert "## Dependencies" not in one
    assert tasks_md(found, 2) == (
        "# Tasks of sub-plan 2: Part 2\n\n- [ ] write it\n- [ ] test it\n"
    )


def test_further_lines_stay_inside_their_entry() -> None:
    value = plan()
    value["subplans"][0]["tasks"] = ["write it\nand more", "test it"]
    assert "- [ ] write it\n  and more\n- [ ] test it" in tasks_md(parsed(value), 1)
