"""Reading the last lines of a log, and adding lines to it."""

from pathlib import Path

import pytest

from agentmux.adapters.disk.session.log_file import LogFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "orchestrator.log"


def add(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


@pytest.mark.parametrize("count", [0, 1, 3, 5000, 10_001])
def test_the_last_lines(path: Path, count: int) -> None:
    lines = [f"line {number} " + "x" * (number % 100) for number in range(10_000)]
    add(path, "\n".join(lines) + "\n")
    assert LogFile(path).last(count) == (lines[-count:] if count else [])


def test_a_line_is_read_once_and_when_it_is_whole(path: Path) -> None:
    log = LogFile(path)
    assert (log.last(5), log.more()) == ([], [])
    add(path, "one\ntw")
    assert log.more() == ["one"]
    assert log.more() == []
    add(path, "o\nthree\n")
    assert log.more() == ["two", "three"]


def test_the_last_lines_are_not_told_again(path: Path) -> None:
    add(path, "one\ntwo\n")
    log = LogFile(path)
    assert log.last(1) == ["two"]
    add(path, "three\n")
    assert log.more() == ["three"]


def test_a_log_that_was_cut_is_read_from_its_beginning(path: Path) -> None:
    add(path, "one\ntwo\n")
    log = LogFile(path)
    log.last(9)
    path.write_text("new\n")
    assert log.more() == ["new"]


def test_what_is_no_file_is_as_no_log(path: Path, tmp_path: Path) -> None:
    path.mkdir()
    assert LogFile(path).last(9) == []
    assert LogFile(path).more() == []
