"""Numbers in words."""

from agentmux.core.names.words.counts import format_count


def test_one_is_said_in_the_singular() -> None:
    assert [format_count(n, "file") for n in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert [format_count(n, "has", "have") for n in (1, 2)] == ["1 has", "2 have"]
