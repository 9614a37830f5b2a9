"""The README is short, and every page can be reached from it."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.cost import DATA, PIPELINES, SIZES, measure

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)#\s]+)")


def test_it_is_read_in_a_minute() -> None:
    assert len(README.splitlines()) <= 120
    assert len(LINK.findall(README)) <= 25


def test_the_first_block_is_how_to_get_it() -> None:
    first = README.split("```")[1].splitlines()[1:]
    assert [line.startswith("uv tool install ") for line in first] == [True]


def test_all_pages_are_in_the_list_to_which_it_leads() -> None:
    contents = ROOT / "docs/reference/contents.md"
    assert "docs/reference/contents.md" in LINK.findall(README)
    listed = {(contents.parent / link).resolve() for link in LINK.findall(contents.read_text())}
    pages = {page for page in (ROOT / "docs").glob("*/*.md") if page.parent.name != "decisions"}
    assert pages - listed == {contents}


def test_every_built_in_pipeline_is_measured() -> None:
    built_in = {path.stem for path in (ROOT / "agentmux/pipelines").glob("*.yaml")}
    measured = json.loads(DATA.read_text("utf-8"))
    assert built_in == set(PIPELINES) == measured.keys()
    assert all(tuple(sizes) == SIZES for sizes in measured.values())


@pytest.mark.long
def test_what_was_measured_can_be_measured_again() -> None:
    measured = json.loads(DATA.read_text("utf-8"))["quick"]["middle"]
    again = measure("quick", "middle", rounds=1)
    assert again["agents"] == measured["agents"]
    assert again["prompt_bytes"] == pytest.approx(measured["prompt_bytes"], rel=0.03)
    assert again["waiting_s"] > 0
