"""What `start` takes from its command line: the text, and who plays the roles."""

import json
import os
from pathlib import Path

import pytest

from agentmux.cli.commands.run.start import read_text
from agentmux.cli.main import main
from agentmux.core.codec.shape import replace_unencodable
from agentmux.errors import UsageError


@pytest.fixture
def project(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    folder = tmp_path / "p"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    "text",
    [
        "@alice wants a button",
        "@alice\nwants a button",
        "@ home",
        "@",
        " @alice",
        "add a page",
        "@dev: see `a\0b`",
        "@" + "word " * 20_000,
    ],
)
def test_a_text_may_begin_with_an_at_sign(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_text(text, what="what to build") == replace_unencodable(text)


@pytest.mark.parametrize("name", ["request.md", "my request.md", "no ending at all"])
def test_a_file_is_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("build it")
    assert read_text(f"@{name}", what="what to build") == "build it"
    assert read_text(f"@{tmp_path / name}", what="what to build") == "build it"


@pytest.mark.parametrize(
    "words", ["@alice", "@feature.md", "@my request.md", "@../plans for/a b.txt"]
)
def test_what_looks_like_a_file_is_no_text_and_the_error_says_how(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=f"cannot read `{words[1:]}`") as raised:
        read_text(words, what="what to build")
    assert raised.value.hints == ("if it is a text, type a space before the `@`",)
    assert read_text(f" {words}", what="what to build").strip() == words


@pytest.mark.parametrize(
    ("agent", "model"),
    [
        ("demo:openai/gpt-5", "openai/gpt-5"),
        ("demo:m:1", "m:1"),
        ("demo:", None),
        ("demo", None),
        ("env A=b:c demo", None),
    ],
)
@pytest.mark.usefixtures("project")
def test_the_agent_of_all_roles_may_have_a_model(
    agent: str, model: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--role", "coder=demo", "--role", "planner=demo:small", "--dry-run", "--json", "x")
    assert main(("start", "--agent", agent, *words), os.environ) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert (models.get("architect"), models.get("coder")) == (model, None)
    assert models["planner"] == "small"


@pytest.mark.usefixtures("project")
def test_a_missing_agent_with_a_model_is_named_without_it(
    system_path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", system_path)
    assert main(("start", "--agent", "codex:openai/gpt-5", "--dry-run", "x"), os.environ) == 6
    said = capsys.readouterr().err
    assert "`codex` is not on PATH" in said
    assert "gpt-5" not in said
