"""Workers that take nothing, refuse, give up or end: no session is started here."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from agentmux.core.fleet.fleet_request import FleetRequest
from agentmux.fleet.engine.database import engine_for
from agentmux.fleet.engine.tables import CONTRACTS, HOSTS
from agentmux.fleet.queue.submission import submit
from tests.conftest import WaitUntil
from tests.fleet.conftest import FleetHost, Worker


def _submit(host: FleetHost, wish: FleetRequest) -> str:
    engine = engine_for(host.database)
    (made,) = submit(engine, [wish])
    engine.dispose()
    return made.id


@pytest.mark.long
def test_features_that_cannot_start_here_end_with_the_reason(host: FleetHost) -> None:
    missing = host.submit(agent="no-such-agent")
    unknown = host.submit("--pipeline", "no-such-pipeline")
    foreign = _submit(host, FleetRequest(repo=str(host.project.root), feature="x"))
    nowhere = _submit(host, FleetRequest(repo=f"{host.project.path}/gone", feature="x"))
    injected = _submit(host, FleetRequest(repo=str(host.project.path), feature="x"))
    host.change(injected, wish={"repo": str(host.project.path), "feature": "x", "argv": ["sh"]})
    host.allow(str(host.project.path), f"{host.project.path}/*")
    host.worker()

    assert "may not run this repository" in host.until(foreign, "failed")["reason"]
    assert "does not exist on this host" in host.until(nowhere, "failed")["reason"]
    assert "unknown or missing fields: ['argv']" in host.until(injected, "failed")["reason"]
    for feature, said in ((missing, NOT_INSTALLED), (unknown, NO_PIPELINE)):
        shown = host.until(feature, "failed")
        assert shown["reason"].startswith(said)
        assert (shown["idle_drives"], shown["session"]) == (1, None)
    assert host.show(missing)["reason"].endswith(" agents show no-such-agent)")
    assert NOT_INSTALLED in host.ok("list")
    assert host.project.sessions() == []

    host.ok("retry", missing)
    again = host.until(missing, "failed")
    assert (again["reason"].startswith(NOT_INSTALLED), again["idle_drives"]) == (True, 1)


NOT_INSTALLED = "the agent of `coder` is not installed: `no-such-agent` is not on PATH"
NO_PIPELINE = "no pipeline `no-such-pipeline`"


@pytest.mark.rare("it waits for five starts")
@pytest.mark.long
def test_a_start_that_may_succeed_later_is_tried_five_times(host: FleetHost) -> None:
    programs = host.project.root / "programs"
    programs.mkdir()
    tmux = programs / "tmux"
    tmux.write_text("#!/bin/sh\necho 'server exited unexpectedly' >&2\nexit 1\n")
    tmux.chmod(0o755)
    host.project.env["PATH"] = f"{programs}:{host.project.env['PATH']}"
    feature = host.submit()
    host.worker()
    dead = host.until(feature, "failed")
    assert dead["reason"].startswith("dead letter after 5 drives without progress: the tmux server")
    assert dead["session"] is None

    tmux.unlink()
    host.ok("retry", feature)
    assert host.until(feature, "waiting", "failed")["status"] == "waiting"


@pytest.mark.follows("drain the workers (agentmux fleet drain HOST), upgrade all hosts, then:")
def test_a_drained_host_ends_its_worker_and_takes_nothing(
    host: FleetHost, wait_until: WaitUntil
) -> None:
    worker = host.worker("--slots", "3")
    (there,) = host.json("list")["hosts"]
    assert (there["name"], there["slots"], there["running"]) == ("a", 3, True)
    assert host.ok("drain", "a") == (
        "host a takes nothing more; its worker ends when nothing runs there\n"
    )
    assert worker.wait() == 0
    assert "is drained" in worker.said()
    assert host.json("list")["hosts"][0]["running"] is False
    feature = host.submit()
    assert host.show(feature)["status"] == "queued"
    assert "has ended" in host.ok("list")


@pytest.mark.parametrize(("version", "hint"), [(2, "upgrade agentmux"), (0, "drain the workers")])
def test_a_worker_of_another_contract_is_refused_with_what_to_do(
    host: FleetHost, version: int, hint: str
) -> None:
    engine = engine_for(host.database)
    with engine.begin() as connection:
        connection.execute(CONTRACTS.update().values(version=version))
    engine.dispose()
    for words in (("worker",), ("list",), ("submit", "x")):
        said = host.fails(5, *words)
        assert f"the fleet has contract {version}" in said
        assert hint in said


def test_a_worker_that_has_ended_takes_no_slot(host: FleetHost, engine: sa.Engine) -> None:
    worker = host.worker()
    with engine.begin() as connection:
        connection.execute(HOSTS.update().values(busy=2))  # as the last beat found it
    assert worker.end() == 0
    assert "worker a has ended; its sessions live on in tmux" in worker.said()
    assert "host a: has ended, 0 of 2 slots taken" in host.ok("list")


def test_only_a_host_that_may_run_nothing_is_told_how_to_allow_it(host: FleetHost) -> None:
    assert "name the repositories" not in host.run("init").stderr
    host.allow()
    assert "name the repositories" in host.run("init").stderr


def test_two_hosts_have_two_names(database: str) -> None:
    one, other = FleetHost(database), FleetHost(database)
    try:
        one.worker()
        second = Worker(other)
        assert second.wait() == 3
        assert "another host of the fleet is named a" in second.said()
    finally:
        one.close()
        other.close()


@pytest.mark.follows(
    "… may not run this repository: add it to `fleet.repos` in the configuration of its user,"
    " then agentmux fleet retry"
)
def test_a_host_that_may_not_run_a_repository_passes_it_on(database: str) -> None:
    one, other = FleetHost(database), FleetHost(database, "b")
    try:
        other.allow()
        other.worker()
        one.allow(f"{one.project.path}/*")
        one.worker()
        feature = _submit(one, FleetRequest(repo=f"{one.project.path}/gone", feature="x"))
        found = one.until(feature, "failed")
        assert (found["host"], "does not exist" in found["reason"]) == ("a", True)
    finally:
        one.close()
        other.close()


def test_without_a_fleet_the_commands_say_how_to_make_one(
    host: FleetHost, engine: sa.Engine, tmp_path: Path
) -> None:
    (host.place.folder / "url").unlink()
    assert "agentmux fleet init" in host.fails(6, "list")
    open_file = tmp_path / "url"
    open_file.write_text("sqlite:////x\n")
    open_file.chmod(0o644)
    assert "can be read by others" in host.fails(2, "init", "--url-file", str(open_file))
    open_file.chmod(0o600)
    open_file.write_text("mysql://me:secret@x/y\n")
    said = host.fails(2, "init", "--url-file", str(open_file))
    assert "sqlite:///PATH or postgresql://" in said
    assert "secret" not in said


def test_a_database_that_does_not_answer_is_named_without_its_password(host: FleetHost) -> None:
    host.place.keep_url("postgresql://me:secret@127.0.0.1:1/fleet")
    said = host.fails(6, "list")
    assert "database postgresql://me:…@127.0.0.1:1/fleet does not answer" in said
    assert "secret" not in said


def test_the_unit_runs_the_worker_and_leaves_the_sessions(host: FleetHost) -> None:
    unit = host.ok("worker", "--systemd", "--slots", "4", "--name", "box")
    assert "fleet worker --slots 4 --name box" in unit
    assert "KillMode=process" in unit
    state = host.project.env["XDG_STATE_HOME"]
    assert f'Environment="XDG_STATE_HOME={state}"' in unit


def test_commands_after_an_init_in_the_same_process_do_not_use_its_log(host: FleetHost) -> None:
    host.ok("init")
    assert host.run("submit", "add a greeting", "--repo", str(host.project.path)).stderr == ""


@pytest.mark.long
@pytest.mark.follows("in the URL: agentmux fleet init --url-file FILE")
def test_a_host_changes_its_fleet_only_while_no_worker_runs(
    host: FleetHost, tmp_path: Path
) -> None:
    private = tmp_path / "url"
    private.write_text(f"sqlite:///{tmp_path / 'other.sqlite'}\n")
    private.chmod(0o600)
    worker = host.worker()
    host.ok("init")  # the same fleet once more
    said = host.fails(3, "init", "--url-file", str(private))
    assert "the worker of this host runs for another fleet" in said
    assert host.place.url() == host.database
    assert not (tmp_path / "other.sqlite").exists()
    assert worker.end() == 0
    host.ok("init", "--url-file", str(private))
    assert host.place.url() == private.read_text().strip()
    host.place.keep_url(host.database)
