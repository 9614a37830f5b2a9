"""What comes from the database is checked before this host acts on it."""

import os
import threading
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.core.config.settings import FleetSettings
from agentmux.core.fleet.fleet_request import NORMAL, from_fields, session_slug
from agentmux.core.fleet.statuses import FleetStatus
from agentmux.core.names import layout
from agentmux.errors import DataError
from agentmux.fleet.engine import rows
from agentmux.fleet.engine import workflows as dbos
from agentmux.fleet.engine.database import engine_for
from agentmux.fleet.engine.fleet_home import FleetHome
from agentmux.fleet.host.commands import HostCommands
from agentmux.fleet.host.host import Host
from agentmux.fleet.host.leases import Leases
from agentmux.fleet.host.slots import Slots
from agentmux.fleet.host.untrusted_rows import require_decision, session_of
from agentmux.fleet.host.watching import HostWatch

STAMP = "20260101-101500-"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    (made / layout.SESSIONS_DIR).mkdir(parents=True)
    return made


@pytest.fixture
def host(project: Path, tmp_path: Path) -> Host:
    """A host that may run the project alone, and that never connects to its database."""
    place, engine = FleetHome(tmp_path / "state"), engine_for(f"sqlite:///{tmp_path / 'none'}")
    return Host(
        id=str(uuid.uuid4()),
        name="a",
        place=place,
        engine=engine,
        enqueuer=dbos.Enqueuer(engine),
        commands=HostCommands(environ=os.environ, locks=place.drives, config=None),
        settings=FleetSettings(repos=(str(project),)),
        slots=Slots(1),
        leases=Leases(60.0),
        watching=HostWatch(print),
        environ=os.environ,
        config=None,
        stop=threading.Event(),
        draining=threading.Event(),
        orders={},
    )


@pytest.fixture
def row(project: Path) -> rows.Feature:
    """A feature of the project."""
    return rows.Feature(
        id=str(uuid.uuid4()), key=None, wish={"repo": str(project), "feature": "add a greeting"},
        title="add a greeting", priority=NORMAL, status=FleetStatus.RUNNING, reason="", host="a",
        pinned=False, refused_by=(), session="", path="", phase="", pushed="", result=None,
        question=None, epoch=1, drive=1, idle_drives=0, progress=0, resumes=False,
        cancelled=False, submitted_at=0.0, updated_at=0.0,
    )  # fmt: skip


def name_of(row: rows.Feature, epoch: int = 1) -> str:
    return STAMP + session_slug(row.id, from_fields(row.wish), epoch)


def test_the_session_of_a_feature_is_where_it_belongs(
    host: Host, row: rows.Feature, project: Path
) -> None:
    path = project / layout.SESSIONS_DIR / name_of(row)
    assert session_of(host, replace(row, path=str(path))) == path
    assert session_of(host, row) is None, "it has not begun"
    assert session_of(host, replace(row, path=str(path), epoch=2)) is None
    newer = path.with_name(name_of(row, 2))
    assert session_of(host, replace(row, path=str(newer), epoch=2)) == newer


@pytest.mark.parametrize(
    "place",
    [
        "/tmp/{name}",
        "{project}/{name}",
        "{project}/.agentmux/{name}",
        "{sessions}/../{name}",
        "{sessions}/x/{name}",
        "{sessions}/{name}/x",
        "{sessions}/{name}x",
        "{sessions}/20260101-101500-another",
        "{sessions}",
        "{name}",
        "/",
    ],
)
def test_a_path_that_only_the_database_names_is_no_session(
    host: Host, row: rows.Feature, project: Path, place: str
) -> None:
    sessions = project / layout.SESSIONS_DIR
    path = place.format(name=name_of(row), project=project, sessions=sessions)
    assert session_of(host, replace(row, path=path)) is None


def test_a_repository_that_this_host_does_not_allow_has_no_session(
    host: Host, row: rows.Feature, project: Path
) -> None:
    path = str(project / layout.SESSIONS_DIR / name_of(row))
    refusing = replace(host, settings=FleetSettings(repos=("/elsewhere",)))
    assert session_of(refusing, replace(row, path=path)) is None


GOOD = rows.FeatureDecision(
    id=str(uuid.uuid4()), feature="f", kind=rows.APPROVE, cycle=1, digest="a1B2", then="merge",
    begins="fixing", text="well done", by="me", status=rows.OPEN, answer="",
)  # fmt: skip


def test_a_decision_as_we_write_it_is_one() -> None:
    assert require_decision(GOOD) == GOOD


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "../../x"},
        {"kind": "remove"},
        {"then": "--yes"},
        {"digest": "a b"},
        {"digest": "a1B2\n"},
        {"digest": "a" * 129},
        {"begins": "--all"},
        {"begins": "Fixing"},
        {"text": "x" * 1_000_001},
        {"text": 7},
    ],
)
def test_a_decision_that_cannot_be_words_of_a_command_is_none(changed: dict[str, object]) -> None:
    with pytest.raises(DataError):
        require_decision(replace(GOOD, **changed))  # type: ignore[arg-type]  # as others write it
