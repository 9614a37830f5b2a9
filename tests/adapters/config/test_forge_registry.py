from pathlib import Path

import pytest

from agentmux.adapters.config.forge_registry import load_forges
from agentmux.errors import ConfigError


def forges(tmp_path: Path, text: str) -> object:
    (tmp_path / "forges.yaml").write_text(text)
    return load_forges(tmp_path)


def test_without_a_file_of_the_user_there_are_the_built_in_forges(tmp_path: Path) -> None:
    found = load_forges(tmp_path)
    assert list(found) == ["github", "gitlab"]
    for spec in found.values():
        assert {"issue", "comments", "writer", "find", "look", "open"} <= set(spec.commands)


def test_the_users_file_is_merged_over_the_built_in_one(tmp_path: Path) -> None:
    (tmp_path / "forges.yaml").write_text(
        "github: {program: /opt/gh}\nwork: {like: gitlab, hosts: [git.example.org]}\n"
    )
    found = load_forges(tmp_path)
    assert found["github"].program == "/opt/gh"
    assert found["github"].hosts == ("github.com",)
    assert found["work"].hosts == ("git.example.org",)
    assert found["work"].commands == found["gitlab"].commands


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("github:\n  program: gh\n  hots: [x]\n", "forges.yaml:3: unknown key `hots` in `github`"),
        (
            "github:\n  commands:\n    issue:\n      argv: [view, '{numbre}']\n",
            "forges.yaml:4: nothing is known by `{numbre}`",
        ),
        (
            "github:\n  commands: {issue: {fields: {title: 'a b'}}}\n",
            "forges.yaml:2: `github.commands.issue.fields.title` must be keys such as",
        ),
        ("github:\n  repository: '['\n", "forges.yaml:2: `github.repository` is not a regular"),
        ("work:\n  hosts: [x]\n", "forges.yaml:1: `work` has no `program`"),
        ("\nwork:\n  like: gitbub\n", "forges.yaml:2: `work.like`: `gitbub` is no other forge"),
        ("work:\n  like: work\n", "`work.like`: `work` is no other forge"),
        ("github: [x]\n", "forges.yaml:1: `github` must be a mapping"),
        ("github:\n  issue_url: https://{hst}/\n", "forges.yaml:2: nothing is known by `{hst}`"),
        ("a: {\n", "forges.yaml:"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        forges(tmp_path, text)
    assert said in error.value.message


def test_a_name_that_is_nearly_right_is_hinted_at(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        forges(tmp_path, "github: {hots: [x]}\n")
    assert error.value.hints == ("did you mean `hosts`?",)


def test_a_command_whose_answer_tells_too_little(tmp_path: Path) -> None:
    text = (
        "work:\n  program: w\n  hosts: [h]\n  repository: x\n  issue_url: u\n  request_url: u\n"
        "  commands: {issue: {argv: [x], fields: {title: t}}}\n"
    )
    with pytest.raises(ConfigError, match=r"`work.commands.issue.fields` has no `body`"):
        forges(tmp_path, text)
