"""What others do to the database, and to the files of a host, hurts nothing but itself."""

import resource
import shutil
import uuid
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from agentmux.core.codec.frozen import replace
from agentmux.core.fleet.lease import NAME, Lease
from agentmux.core.fleet.routing import host_with_room
from agentmux.errors import DataError
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import now_s
from agentmux.fleet.engine.rows import Feature, FeatureDecision
from agentmux.fleet.engine.tables import DECISIONS, FEATURES, HOSTS
from agentmux.fleet.engine.workflows import DRIVE, Enqueuer, Job
from agentmux.fleet.host.leases import Leases
from agentmux.fleet.host.untrusted_rows import require_decision
from tests.conftest import WaitUntil
from tests.fleet.conftest import DATABASE, FleetHost, Worker

LARGE = "x" * 2_000_000


def _garbage(engine: sa.Engine, host: str | None, **values: object) -> str:
    """Write a row that nothing of ours wrote; return its id."""
    found = {
        "id": str(uuid.uuid4()), "wish": {"repo": "/nowhere", "feature": "x"}, "title": "x",
        "priority": 100, "status": "running", "host": host, "refused_by": [], "drive": 1,
        "submitted_at": 1.0, "updated_at": 1.0, **values,
    }  # fmt: skip
    with engine.begin() as connection:
        connection.execute(FEATURES.insert().values(**found))
    return str(found["id"])


GARBAGE: dict[str, dict[str, object]] = {
    "priority": {"priority": 0},
    "id": {"id": "../../../etc/x"},
    "status": {"status": "sleeping"},
    "wish": {"wish": ["sh", "-c", "id"]},
    "question": {"question": "what?"},
    "refused": {"refused_by": {"a": 1}},
    "late": {"submitted_at": 1e300},
    "controls": {"title": "\x1b[31m\x07\r\n" * 9, "reason": "\x1b]0;x\x07"},
    "lines": {"question": {"lines": "what?", "digest": ["x"]}},
    "number": {"drive": 2**62 if DATABASE == "sqlite" else -1},  # PostgreSQL has no such number
    "large": {"title": LARGE, "reason": LARGE, "path": LARGE, "phase": "x" * 64},
}


def test_rows_that_are_none_are_listed_and_hide_nothing(host: FleetHost, engine: sa.Engine) -> None:
    good = host.submit("--key", "good")
    made = {name: _garbage(engine, None, **values) for name, values in GARBAGE.items()}
    found = {each["id"]: each for each in host.json("list")["features"]}
    assert found.keys() == {good, *made.values()}
    damaged = {name for name, each in made.items() if found[each]["title"] == "(damaged)"}
    assert damaged == GARBAGE.keys() - {"controls", "large", "lines"}
    shown = [("show", made[each]) for each in ("controls", "lines", "large", "wish")]
    for words in (("list",), ("list", "--stale"), *shown):
        said = host.ok(*words)
        strange = {each for each in said if not each.isprintable()} - {"\n"}
        assert (strange, len(said) < 100_000) == (set(), True), words
    assert "is failed already" in host.fails(3, "cancel", made["status"])
    assert "has changed meanwhile" in host.fails(3, "retry", made["wish"])


STRANGE_TEXT = "CAST(x'ff00fe' AS TEXT)"
"""A text that is no UTF-8, in the SQL of SQLite, which takes values of every type."""


def _written(engine: sa.Engine, sql: str) -> None:
    """Run SQL; a PostgreSQL refuses values of a wrong type itself."""
    with suppress(sa.exc.DBAPIError), engine.begin() as connection:
        connection.execute(sa.text(sql))


STRANGE_HOSTS = (
    "name = 'x' || char(27) || 'y'", f"name = {STRANGE_TEXT}", "name = ''", "slots = 'many'",
    "slots = 9e18", "busy = x'ff'", "seen_at = 1e999",
)  # fmt: skip


def test_a_host_that_is_none_takes_nothing_from_the_others(
    host: FleetHost, engine: sa.Engine
) -> None:
    sound = {
        "id": str(uuid.uuid4()), "name": "b", "address": "b", "slots": 9, "contract": 1,
        "program": "x", "lease_s": 60.0, "running": True, "seen_at": now_s(engine),
    }  # fmt: skip
    for change in STRANGE_HOSTS:
        with engine.begin() as connection:
            connection.execute(HOSTS.delete())
            connection.execute(HOSTS.insert().values(**sound))
        _written(engine, f"UPDATE agentmux_hosts SET {change}")
        (there,) = host.json("list")["hosts"]
        with engine.connect() as connection:
            found = host_with_room(rows.hosts(connection).values(), ())
        if engine.dialect.name == "sqlite":
            assert (there["name"], there["busy"], found) == ("(damaged)", 0, None), change
            assert "hint: hosts: (damaged)\n" in host.fails(4, "drain", "z")


def test_texts_that_are_no_texts_hide_nothing(host: FleetHost, engine: sa.Engine) -> None:
    good = host.submit("--key", "good")
    made = _garbage(engine, None)
    _written(engine, f"UPDATE agentmux_features SET title = {STRANGE_TEXT} WHERE id = '{made}'")
    assert {each["id"] for each in host.json("list")["features"]} == {good, made}


def test_a_decision_needs_words(engine: sa.Engine) -> None:
    words = dict.fromkeys(("feature", "by", "status", "answer", "then", "digest", "begins"), "")
    sound = FeatureDecision(id=str(uuid.uuid4()), kind="approve", cycle=1, text="", **words)
    assert require_decision(sound) is sound
    for name in ("digest", "begins", "text", "then", "kind"):
        strange: dict[str, Any] = {name: b"x"}
        with pytest.raises(DataError, match="is no decision"):
            require_decision(replace(sound, **strange))


@pytest.mark.long
def test_a_worker_runs_past_rows_that_are_none(host: FleetHost, engine: sa.Engine) -> None:
    me = host.place.identity()
    made = [_garbage(engine, me, **values) for values in GARBAGE.values()]
    # To look at a path with such a name is an error, as where its file system is away.
    away = {"wish": {"repo": f"{host.project.path}/{'x' * 300}", "feature": "x"}, "path": "/x"}
    unreached, *_ = made[:0] = [
        _garbage(engine, me, status=each, **away) for each in ("running", "waiting", "failed")
    ]
    enqueuer = Enqueuer(engine)
    with engine.begin() as connection:
        for each in made:
            enqueuer.enqueue(
                connection, Job(kind=DRIVE, feature=each, number=1, priority=1, host=me)
            )
    host.allow(str(host.project.path), f"{host.project.path}/*")
    worker = host.worker()
    sound = host.submit(agent="no-such-agent")
    assert "is not installed" in host.until(sound, "failed")["reason"]
    assert "name too long" in host.until(unreached, "parked", "failed")["reason"]
    assert not worker.ready().said().count("error: ")
    names = [path.name for path in host.place.folder.rglob("*")]
    assert not [each for each in names if "etc" in each]
    assert not (host.place.folder.parent / "etc").exists()


@pytest.mark.rare("CI takes other faults")
@pytest.mark.long
def test_a_decision_that_is_none_is_refused_and_does_not_fail_its_feature(
    host: FleetHost, engine: sa.Engine
) -> None:
    feature = host.submit()
    host.worker()
    shown = host.until(feature, "waiting")
    given = {
        "id": str(uuid.uuid4()), "feature": feature, "kind": "approve", "cycle": 1,
        "digest": "--yes", "given_at": 1.0,
    }  # fmt: skip
    with engine.begin() as connection:
        connection.execute(DECISIONS.insert().values(**given))
    digest = shown["question"]["digest"]
    host.ok("request-changes", feature, "say it louder", "--digest", digest)
    after = host.until(feature, "waiting", "failed")
    assert [each["status"] for each in after["decisions"]] == ["refused", "delivered"]
    assert "is no decision" in after["decisions"][0]["answer"]
    assert after["question"]["cycle"] == 2


@pytest.mark.rare("CI fails features for other reasons")
@pytest.mark.long
@pytest.mark.follows(
    "its session is no longer on this host, nor what it had done"
    " (agentmux fleet retry begins it again)"
)
def test_a_session_that_was_deleted_is_begun_anew_only_when_a_person_says_so(
    host: FleetHost,
) -> None:
    feature = host.submit()
    worker = host.worker()
    host.until(feature, "waiting")
    worker.kill()
    session = host.session(feature)
    host.project.ok("stop", session.name)
    shutil.rmtree(session.path)
    host.ok("request-changes", feature, "say it louder")
    host.worker()
    shown = host.until(feature, "failed", "waiting")
    assert "no longer on this host" in shown["reason"]
    assert host.project.sessions() == []
    host.ok("retry", feature)
    host.until_session(feature)
    assert host.until(feature, "waiting", "failed")["status"] in {"waiting", "failed"}


@pytest.mark.rare("CI takes other faults")
@pytest.mark.long
def test_a_project_whose_configuration_is_wrong_fails_its_features_and_ends_no_worker(
    host: FleetHost,
) -> None:
    feature = host.submit()
    worker = host.worker()
    session = host.until_session(feature)
    worker.kill()
    session.wait()
    config = host.project.path / ".agentmux" / "config.yaml"
    config.write_text("version: [")
    worker = host.worker()
    reason = host.until(feature, "failed", "waiting")["reason"]
    assert str(reason).startswith(".agentmux/config.yaml:")
    config.unlink()
    host.ok("retry", feature)
    host.until(feature, "waiting")

    worker.kill()
    host.project.ok("stop", session.name)
    for each in session.path.iterdir():
        if each.is_file():
            each.write_bytes(b"damaged")
    config.write_text("version: [")
    worker = host.worker()
    host.ok("cancel", feature)
    reason = host.until(feature, "failed")["reason"]
    assert reason.startswith("cancelled; its session: .agentmux/config.yaml:")
    assert not worker.has_ended()


@pytest.mark.long
def test_a_worker_ends_when_its_database_is_replaced(
    host: FleetHost, engine: sa.Engine, wait_until: WaitUntil
) -> None:
    host.allow(str(host.project.path), lease_s=6)
    worker = host.worker()
    if engine.dialect.name == "sqlite":
        path = Path(str(engine.url.database))
        for each in path.parent.glob(f"{path.name}*"):
            each.unlink()
        assert "unable to open" in host.fails(6, "list")
        assert not path.exists()
    else:
        with engine.begin() as connection:
            connection.execute(HOSTS.delete())
    assert worker.wait() == 5
    assert "error: the database of the fleet was deleted or replaced" in worker.said()


def test_a_copied_identity_is_refused_and_a_worker_that_lost_it_ends(
    database: str, engine: sa.Engine
) -> None:
    one, other = FleetHost(database), FleetHost(database, "b")
    try:
        one.allow(lease_s=6)
        first = one.worker()
        shutil.copy(one.place.identity_file, other.place.identity_file)
        second = Worker(other)
        assert second.wait() == 3
        assert "has the identity of this host" in second.said()
        assert str(other.place.identity_file) in second.said()
        with engine.begin() as connection:
            connection.execute(HOSTS.update().values(run="another"))
        assert first.wait() == 3
        assert "another worker has the identity" in first.said()
    finally:
        one.close()
        other.close()


@pytest.mark.follows(
    "restore the file, or make another fleet: agentmux fleet init",
    "agentmux fleet init",
    "make one: agentmux fleet init",
)
def test_a_database_that_cannot_be_read_is_named(host: FleetHost, tmp_path: Path) -> None:
    made = tmp_path / "garbage.sqlite"
    made.write_bytes(b"no database" * 1000)
    host.place.keep_url(f"sqlite:///{made}")
    assert "file is not a database" in host.fails(5, "list")
    assert "file is not a database" in host.fails(5, "init")
    assert made.read_bytes() == b"no database" * 1000
    host.place.keep_url(f"sqlite:///{tmp_path}")
    assert "does not answer" in host.fails(6, "list")


def test_a_lease_that_cannot_be_written_lapses_and_ends_no_worker(tmp_path: Path) -> None:
    session = tmp_path / "s"
    session.mkdir()
    leases = Leases(60.0)
    leases.extend(datetime.now(UTC), 10.0)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))  # as a full disk
    try:
        leases.write(session, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not (session / NAME).exists()
    leases.write(session, 1)
    assert (session / NAME).exists()
    for each in (session / NAME, session / "other"):
        each.unlink(missing_ok=True)
        each.mkdir()
    leases.write(session, 1)  # a folder is in its place
    assert (session / NAME).is_dir()


def test_a_clock_that_was_set_back_shortens_the_next_lease(tmp_path: Path) -> None:
    leases, now = Leases(60.0), datetime(2026, 1, 1, tzinfo=UTC)
    leases.extend(now, 100.0)
    back = now - timedelta(hours=1)
    leases.extend(back, 110.0)
    want = Lease(epoch=1, until=back + timedelta(minutes=1), until_s=170.0)
    assert leases.text(1) == want.encode()


def test_a_feature_needs_a_sound_row(engine: sa.Engine) -> None:
    made = _garbage(engine, None)
    with engine.connect() as connection:
        found = rows.feature(connection, made)
    assert isinstance(found, Feature)
    assert found.title == "x"
