"""The table of commands as data: it is current, grouped, and its examples are real."""

import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer

from agentmux.cli.command_table import GROUPS, app
from agentmux.cli.examples import EXAMPLES
from agentmux.cli.fast import help as shown
from agentmux.cli.fast.commands import PLACE, Command, load
from agentmux.cli.invocation import invocation_of
from docs import generate

PROGRAM = load()
TYPER: Any = typer.main.get_command(app)


def every(path: tuple[Command, ...]) -> list[tuple[Command, ...]]:
    return [path, *(found for each in path[-1].commands for found in every((*path, each)))]


ALL = every((PROGRAM,))
NAMES = [" ".join(each.name for each in path[1:]) for path in ALL]
LINES = [line for examples in EXAMPLES.values() for line, _ in examples]


@pytest.mark.parametrize("name", sorted(generate.FILES))
def test_a_generated_file_is_current(name: str) -> None:
    made = generate.FILES[name]()
    assert Path(PLACE, name).read_text(encoding="utf-8") == made, "python docs/generate.py"


def test_every_command_has_an_example_and_every_example_a_command() -> None:
    assert sorted(EXAMPLES) == sorted(NAMES)


@pytest.mark.parametrize("line", LINES)
def test_an_example_is_a_valid_command_line(line: str) -> None:
    parse(line)


def parse(line: str) -> None:
    """Parse a command line of agentmux, without running it; raise an exception if it is wrong."""
    program, *words = shlex.split(line.partition(" > ")[0])
    assert program == "agentmux"
    _, rest = invocation_of(words, {})
    command = TYPER
    context = command.make_context("agentmux", list(rest))
    while rest and hasattr(command, "resolve_command"):
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, list(rest), parent=context)


@pytest.mark.parametrize("cols", [40, 80, 120, 200])
@pytest.mark.parametrize("path", ALL, ids=NAMES)
def test_the_help_fits_the_terminal(path: tuple[Command, ...], cols: int) -> None:
    lines = list(shown.lines(path, cols))
    kept = [line for example in path[-1].examples for line in example]  # they are to be pasted
    wide = [each for each in lines if len(each) > cols]
    assert [each for each in wide if each.removeprefix("  ").removeprefix("# ") not in kept] == []


def test_a_wide_terminal_is_used() -> None:
    text = "\n".join(shown.lines((PROGRAM,), 120))
    assert "Approve the result: it is committed and delivered, and the session is done\n" in text


def test_the_help_of_the_program_lists_every_command_under_its_group() -> None:
    text = "\n".join(shown.lines((PROGRAM,), 100))
    places = [text.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    assert all(f"\n  {name} " in text for group in GROUPS.values() for name in group)


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_man_page_is_rendered_without_warnings() -> None:
    argv = ["groff", "-man", "-Tutf8", "-wall", "-z", f"{PLACE}/agentmux.1"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
