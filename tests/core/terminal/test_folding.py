"""Long lines of messages are folded between words; their commands can still be pasted."""

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.terminal.text.folding import fold

NAME = "20260101-101500-raise-an-error-on-duplicate-keys-of-a-file"


def test_a_line_that_fits_stays_as_it_is() -> None:
    assert list(fold("  two  columns", 20)) == ["  two  columns"]


def test_lines_are_broken_between_words_and_keep_their_column() -> None:
    line = "  problem       the prompt of coder-1 has not arrived: its screen shows a question"
    assert list(fold(line, 40)) == [
        "  problem       the prompt of coder-1",
        "                has not arrived: its",
        "                screen shows a question",
    ]


def test_a_command_that_fits_into_a_line_is_not_broken() -> None:
    line = "session add-login is waiting for you; see it: agentmux attach add-login, or go on"
    assert list(fold(line, 60)) == [
        "session add-login is waiting for you; see it:",
        "  agentmux attach add-login, or go on",
    ]


def test_a_command_that_is_too_long_is_one_command_for_a_shell() -> None:
    command = f'agentmux request-changes "use another name" --session {NAME}'
    first, *rest = fold(f"  next: {command}", 80)
    assert first == "  next:"
    assert all(each.endswith(" \\") for each in rest[:-1])
    assert all(len(each) <= 80 for each in rest)
    assert shlex.split("\n".join(rest).replace("\\\n", "")) == shlex.split(command)


def test_a_shell_runs_a_folded_command() -> None:
    words = ["git", "log", "--format=%H", f"--author={NAME}", f"--grep={NAME}", "a text"]
    folded = "\n".join(fold(shlex.join(words), 50))
    assert "\n" in folded
    script = f"git() {{ printf '%s\\n' git \"$@\"; }}\n{folded}"
    done = subprocess.run(("sh", "-c", script), check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == words


def test_a_command_behind_a_colour_is_one() -> None:
    first, *rest = fold(f"\x1b[33mhint:\x1b[0m agentmux resume {NAME}", 76)
    assert first == "\x1b[33mhint:\x1b[0m"
    assert rest == [f"  agentmux resume {NAME}"]


def test_prose_that_begins_with_the_name_of_a_program_is_folded() -> None:
    line = "`lib` is a git repository of its own: the commit leaves it out"
    assert list(fold(line, 50)) == [
        "`lib` is a git repository of its own: the commit",
        "  leaves it out",
    ]


def test_colours_take_no_room() -> None:
    line = "  status        \x1b[33mwaiting for you\x1b[0m, updated 5m ago"
    assert list(fold(line, 48)) == [line]


def test_a_word_that_fits_into_a_line_of_its_own_is_not_broken() -> None:
    path = f"/home/ada/{'x' * 28}"
    assert list(fold(f"  worktree      {path}", 40)) == ["  worktree", f"  {path}"]
    assert list(fold(f"  worktree      {path}yy", 40)) == ["  worktree", f"{path}yy"]


@given(st.text(alphabet="ab ,", max_size=60), st.integers(1, 30))
def test_no_word_is_lost_or_broken(line: str, cols: int) -> None:
    folded = [word for each in fold(line, cols) for word in each.split()]
    assert folded == line.split()


@pytest.mark.parametrize("cols", [1, 10, 79])
def test_a_word_that_is_too_long_stays_whole(cols: int) -> None:
    assert [each.strip() for each in fold(f"see {'x' * 80}", cols)] == ["see", "x" * 80]
