"""The command line of the user's editor."""

from pathlib import Path

import pytest

from agentmux.desk.session.editor import EditedPlace, editor_argv
from agentmux.errors import MissingError, UsageError

FILE = EditedPlace(path=Path("/work/a b; rm.py"), line=12)


def found(name: str) -> Path | None:
    return None if "missing" in name else Path("/usr/bin", name)


@pytest.mark.parametrize(
    ("environ", "argv"),
    [
        ({"EDITOR": "nano", "VISUAL": "vim -R"}, ("vim", "-R", "+12", "/work/a b; rm.py")),
        ({"EDITOR": "nano", "VISUAL": " "}, ("nano", "+12", "/work/a b; rm.py")),
        ({"EDITOR": "/opt/nvim"}, ("/opt/nvim", "+12", "/work/a b; rm.py")),
        ({"EDITOR": "code --wait"}, ("code", "--wait", "/work/a b; rm.py")),
        ({"EDITOR": "ed; touch $HOME"}, ("ed;", "touch", "$HOME", "/work/a b; rm.py")),
        ({}, ("vi", "+12", "/work/a b; rm.py")),
    ],
)
def test_the_editor_gets_words_and_no_shell_reads_them(
    environ: dict[str, str], argv: tuple[str, ...]
) -> None:
    assert editor_argv(FILE, environ, found) == argv


def test_without_a_line_only_the_file_is_named() -> None:
    place = EditedPlace(path=Path("/work"))
    assert editor_argv(place, {"EDITOR": "vim"}, found) == ("vim", "/work")


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"VISUAL": "missing -x"}, "the editor `missing` of $VISUAL is not on PATH"),
        ({"EDITOR": "missing"}, "the editor `missing` of $EDITOR is not on PATH"),
    ],
)
def test_an_editor_that_is_missing_is_named(environ: dict[str, str], says: str) -> None:
    with pytest.raises(MissingError) as error:
        editor_argv(FILE, environ, found)
    assert error.value.message == says
    assert error.value.hints == ("export EDITOR=nano",)


def test_without_any_editor_both_variables_are_named() -> None:
    with pytest.raises(MissingError, match=r"neither .* nor .* is set, and the editor `vi`"):
        editor_argv(FILE, {}, lambda _: None)


def test_a_variable_that_is_no_command_line_is_refused() -> None:
    with pytest.raises(UsageError, match="EDITOR is no command line: No closing quotation"):
        editor_argv(FILE, {"EDITOR": "vim 'x"}, found)
