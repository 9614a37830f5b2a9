"""The changelog can be read: few bullets for each version, and one section for that of the code."""

import re
from pathlib import Path

from agentmux.core.names.version import VERSION

TEXT = (Path(__file__).parents[2] / "CHANGELOG.md").read_text("utf-8")
SECTIONS = re.findall(r"^## \[(.+?)\](.*)\n((?:(?!## ).*\n?)*)", TEXT, re.MULTILINE)


def test_a_version_has_at_most_60_bullets() -> None:
    counts = {name: len(re.findall(r"^- ", body, re.MULTILINE)) for name, _, body in SECTIONS}
    assert [name for name, count in counts.items() if count > 60] == []
    assert sum(counts.values()) == len(re.findall(r"^- ", TEXT, re.MULTILINE))


def test_the_version_of_the_code_has_a_section_unless_it_is_not_released() -> None:
    names = [name for name, _, _ in SECTIONS]
    assert names[0] == "Unreleased"
    assert (names[1] == VERSION) is (".dev" not in VERSION)
    dates = [when for _, when, _ in SECTIONS[1:]]
    assert all(re.fullmatch(r" - \d{4}-\d\d-\d\d", each) for each in dates)
    assert dates == sorted(dates, reverse=True)
