"""Definitions of pipelines in files: which are found, and what a hostile file can do."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from agentmux.adapters.config.pipeline_files import (
    DEFINITION_MAX,
    PROMPT_MAX,
    names_in,
    pipeline_folders,
    read_source,
)
from agentmux.adapters.config.project_files import ProjectFiles
from agentmux.app.session.configuration.pipeline_choice import check_pipeline
from agentmux.core.config.settings import RoleSettings, Settings
from agentmux.core.definitions.definition import Kind
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.definitions.source import Origin, Source, resolve_pipeline

SETTINGS = Settings(roles={"security": RoleSettings()})
MINE = """\
# Looks for threats first.
version: 1
name: mine
phases:
  - phase: threats
    kind: document
    roles: [security]
    prompt: prompts/threats.md
    leaves: [{file: threats.yaml, schema: schemas/threats.json}]
  - phase: implementing
    kind: work
    folder: 06_implementation
    roles: [coder]
  - phase: completing
    kind: complete
    folder: 08_completion
    roles: [security]
    prompt: summary
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".agentmux/pipelines"
    for name in ("prompts", "schemas"):
        (made / name).mkdir(parents=True)
    (made / "mine.yaml").write_text(MINE)
    (made / "prompts/threats.md").write_text("Think about {{feature}}.\n")
    (made / "schemas/threats.json").write_text('{"type": "object"}')
    return made


def source_of(folder: Path, name: str = "mine") -> Source:
    places = pipeline_folders(folder.parent.parent, None)
    found = read_source(next(each for each in places if each.origin is Origin.PROJECT), name)
    assert found is not None
    return found


def problems_of(folder: Path, name: str = "mine") -> list[str]:
    """What is wrong, but for what this version cannot run yet."""
    found = check_pipeline(source_of(folder, name), SETTINGS).problems
    return [f"{each.line}: {each.what}" for each in found if "cannot be run" not in each.what]


def test_a_definition_comes_with_the_files_that_it_names(folder: Path) -> None:
    found = source_of(folder)
    assert problems_of(folder) == []
    assert found.prompts["prompts/threats.md"] == "Think about {{feature}}.\n"
    assert found.own == {"prompts/threats.md", "schemas/threats.json"}
    assert {"coder", "summary"} < set(found.prompts)  # built-in ones


def test_the_built_in_feature_is_that_of_the_program_where_nothing_is_verified() -> None:
    built_in = pipeline_folders(Path("/nowhere"), None)[0]
    found = read_source(built_in, "feature")
    assert found is not None
    pipeline = check_pipeline(found, Settings()).pipeline
    assert pipeline is not None
    assert resolve_pipeline(pipeline, ()) == FEATURE
    assert Kind.CHECK in [each.kind for each in resolve_pipeline(pipeline, ("tests",)).phases]


@pytest.mark.parametrize("name", names_in(pipeline_folders(Path("/nowhere"), None)[0]))
def test_each_built_in_definition_passes_the_check(name: str) -> None:
    found = read_source(pipeline_folders(Path("/nowhere"), None)[0], name)
    assert found is not None
    wrong = [each.what for each in check_pipeline(found, Settings()).problems]
    assert [each for each in wrong if "cannot be run" not in each] == []
    assert found.text.startswith("# ")


def test_all_mistakes_are_reported_with_their_lines(folder: Path) -> None:
    text = MINE.replace("name: mine", "name: other").replace("[security]", "[sekurity]", 1)
    (folder / "mine.yaml").write_text(text)
    (folder / "prompts/threats.md").write_text("{{featur}}\n{{write}}\n")
    (folder / "schemas/threats.json").write_text("{")
    found = problems_of(folder)
    assert [each.partition(":")[0] for each in found] == ["3", "7", "8", "8", "9"]
    assert "`other` must be `mine`" in found[0]
    assert "did you mean `security`?" in found[1]
    assert "line 1: no variable `{{featur}}`; did you mean `feature`?" in found[2]
    assert "line 2: no variable `{{write}}`" in found[3]
    assert "schema `schemas/threats.json`: it is not JSON" in found[4]


def test_no_file_outside_of_the_folder_is_read(folder: Path) -> None:
    (folder.parent / "secret.md").write_text("secret")
    prompt = folder / "prompts/threats.md"
    prompt.unlink()
    prompt.symlink_to(folder.parent / "secret.md")
    assert problems_of(folder) == [
        "8: prompt `prompts/threats.md`: it is a link that leads out of the folder of the pipelines"
    ]
    for path in ("../secret.md", "/etc/passwd", "prompts/../../secret.md", "a//b.md"):
        (folder / "mine.yaml").write_text(MINE.replace("prompts/threats.md", path))
        assert "it must be a name, or a path below the folder" in problems_of(folder)[0], path
    (folder / "mine.yaml").unlink()
    (folder / "mine.yaml").symlink_to("/etc/passwd")
    assert problems_of(folder) == ["1: it is a link that leads out of the folder of the pipelines"]


def test_a_pipe_and_a_large_file_are_not_read(folder: Path) -> None:
    prompt = folder / "prompts/threats.md"
    prompt.write_text("x" * (PROMPT_MAX + 1))
    assert problems_of(folder) == [
        f"8: prompt `prompts/threats.md`: larger than {PROMPT_MAX} bytes"
    ]
    prompt.unlink()
    os.mkfifo(prompt)
    assert "regular" in problems_of(folder)[0]
    (folder / "mine.yaml").write_text("#" * (DEFINITION_MAX + 1))
    assert problems_of(folder) == [f"1: larger than {DEFINITION_MAX} bytes"]


BOMB = "\n".join(
    [
        "a: &a [x, x, x, x, x, x, x, x, x]",
        *(f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}]" for a, b in ("ab", "bc", "cd", "de")),
    ]
)
HOSTILE = {
    "bomb": BOMB,
    "itself": "&a [*a]",
    "deep": "[" * 5000,
    "deep lists": "phases: " + "[" * 60 + "]" * 60,
    "thousand": "version: 1\nname: mine\nphases:\n"
    + "".join(f"  - {{phase: p{n}, kind: work, roles: [coder]}}\n" for n in range(1000)),
    "escapes": "version: 1\nname: \"\\e[31mmine\"\nphases: [{phase: \"\\e]0;x\\a\", kind: work}]\n",
    "tag": "!!python/object/apply:os.system [touch /tmp/x]",
    "documents": "a: 1\n---\nb: 2\n",
    "bytes": "name: \x00\n",
    "keys": "".join(f"k{n}: 1\n" for n in range(5000)),
    "empty": "",
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_definition_ends_in_a_clear_error(folder: Path, case: str) -> None:
    (folder / "mine.yaml").write_text(HOSTILE[case])
    began = time.process_time()
    found = problems_of(folder)
    assert found
    assert time.process_time() - began < 20
    assert len(found) <= 51
    assert all(each.isprintable() for each in found)


def test_a_name_with_escapes_is_reported_without_them(folder: Path) -> None:
    (folder / "\x1b[31mred.yaml").write_text("version: 1\n")
    found = source_of(folder, "\x1b[31mred")
    assert found.path == ".agentmux/pipelines/?[31mred.yaml"
    assert "the file's name: it must begin with a letter" in found.problems[0].what


def test_a_pipeline_of_the_project_needs_trust_with_its_files(tmp_path: Path, folder: Path) -> None:
    def files() -> ProjectFiles:
        return ProjectFiles(tmp_path, (), lambda: known, lambda: tmp_path, tmp_path / "user")

    known: dict[str, str] = {}
    assert files().pipeline("mine", None) is None
    assert files().pipeline("quick", None) is not None
    (part,) = files().parts
    assert part.key == "pipelines.mine"
    known = {part.key: part.digest}
    assert files().pipeline("mine", None) is not None
    (folder / "prompts/threats.md").write_text("Now do something else.\n")
    assert files().pipeline("mine", None) is None


def test_the_project_wins_over_the_user_and_no_one_over_the_built_in_ones(
    tmp_path: Path, folder: Path
) -> None:
    user = tmp_path / "user/pipelines"
    user.mkdir(parents=True)
    for path in (folder / "quick", *(user / name for name in ("mine", "quick", "ours"))):
        path.with_suffix(".yaml").write_text("version: 1\n")
    project = ProjectFiles(tmp_path, (), dict, lambda: tmp_path, tmp_path / "user")
    names = project.pipeline_names()
    assert names[-2:] == ("mine", "ours")
    assert names.count("quick") == 1
    assert project.shadowed_pipelines() == (
        ".agentmux/pipelines/quick.yaml", f"{user}/mine.yaml", f"{user}/quick.yaml",
    )  # fmt: skip
    every = frozenset({"pipelines.mine", "pipelines.quick"})
    assert [(name, found.origin) for name in ("quick", "mine", "ours")
            if (found := project.pipeline(name, every))] == [
        ("quick", Origin.BUILT_IN), ("mine", Origin.PROJECT), ("ours", Origin.USER),
    ]  # fmt: skip
