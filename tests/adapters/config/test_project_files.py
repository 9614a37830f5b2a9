"""The files of a project, of which some parts need trust."""

from pathlib import Path

import pytest

from agentmux.adapters.config.layers import Layer
from agentmux.adapters.config.project_files import ProjectFiles
from agentmux.core.config.trust import COPIED
from agentmux.core.names import layout

NAMED = "git.copy"


@pytest.mark.parametrize(
    ("keys", "found"),
    [(set(), None), ({COPIED}, None), ({NAMED}, None), ({COPIED, NAMED}, "*.env\n")],
)
def test_the_patterns_of_copied_files_need_trust_and_so_does_the_name_of_their_file(
    tmp_path: Path, keys: set[str], found: str | None
) -> None:
    (tmp_path / "include").write_text("*.env\n")
    layers = (
        Layer(path=tmp_path / "user.yaml", values={"git": {"copy": None}}, sources={}),
        Layer(
            path=tmp_path / layout.PROJECT_CONFIG, values={"git": {"copy": "include"}}, sources={}
        ),
    )
    project = ProjectFiles(tmp_path, layers, dict, lambda: tmp_path)
    assert {each.key for each in project.parts} == {NAMED, COPIED}
    assert project.copy_patterns(frozenset(keys)) == found
