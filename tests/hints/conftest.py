"""States in which messages are shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.conftest import Project, make_root
from tests.hints.following import Work


@pytest.fixture
def project() -> Iterator[Project]:
    """A repository whose user has a commit, an edit and a new file; its agent is the demo agent."""
    made = Project(make_root())
    made.config("defaults: {agent: demo}\n")
    made.git("add", "-A")
    made.git("commit", "-qm", "Configuration")
    yield made
    made.close()


@pytest.fixture
def work(project: Project) -> Work:
    """The user's work in the checkout."""
    return Work(project).plant(project.path, "the user")


@pytest.fixture
def outside() -> Iterator[Project]:
    """A project outside any git repository."""
    made = Project(make_root(), git=False)
    yield made
    made.close()
