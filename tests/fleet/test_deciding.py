"""What a person decides on a feature, without a worker."""

import re
import shlex
import sys
import uuid

import pytest
import sqlalchemy as sa

from agentmux.core.fleet.fleet_request import FleetRequest
from agentmux.core.fleet.statuses import AT_REST, ENDED, FleetStatus
from agentmux.errors import BlockedError, DeclinedError, NotFoundError, UsageError
from agentmux.fleet.decisions import deciding, drain
from agentmux.fleet.decisions.deciding import GivenDecision
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import now_s
from agentmux.fleet.engine.tables import HOSTS
from agentmux.fleet.queue import listing
from agentmux.fleet.queue.submission import submit
from tests.e2e.conftest import Client
from tests.fakes.conversation import Conversation
from tests.fleet.conftest import FleetHost

pytestmark = pytest.mark.long

QUESTION = {"cycle": 2, "digest": "abc", "lines": ["a line"], "obstacle": ""}
AGREED = Conversation(agrees=False).person(has_agreed=True)
WAITING = {"status": FleetStatus.WAITING, "host": "h1", "session": "s", "question": QUESTION}


@pytest.fixture
def feature(engine: sa.Engine) -> str:
    (made,) = submit(engine, [FleetRequest(repo="/r", feature="x", key="one", then="merge")])
    return made.id


def _row(engine: sa.Engine, feature: str, **values: object) -> rows.Feature:
    with engine.begin() as connection:
        if values:
            assert rows.change(connection, feature, **values)
        found = rows.feature(connection, feature)
    assert found is not None
    return found


def _jobs(engine: sa.Engine) -> list[str]:
    schema = "" if engine.dialect.name == "sqlite" else "dbos."
    with engine.connect() as connection:
        query = sa.text(f"SELECT workflow_uuid FROM {schema}workflow_status")
        return list(connection.execute(query).scalars())


def _host(engine: sa.Engine, age_s: float) -> None:
    values = {
        "id": "h1", "name": "box", "address": "box", "slots": 2, "contract": 1, "program": "1",
        "lease_s": 60.0, "seen_at": now_s(engine) - age_s,
    }  # fmt: skip
    with engine.begin() as connection:
        connection.execute(HOSTS.insert().values(**values))


def test_a_feature_is_found_by_its_key_and_the_start_of_its_id(
    engine: sa.Engine, feature: str
) -> None:
    assert listing.find(engine, feature[:6]).id == feature
    assert listing.find(engine, "one").id == feature
    for name in ("", "%", "_", "two"):
        with pytest.raises(NotFoundError):
            listing.find(engine, name)


@pytest.mark.follows("to approve it: agentmux fleet approve …")
def test_an_approval_takes_what_was_shown_and_goes_where_it_was_submitted_to_go(
    engine: sa.Engine, feature: str
) -> None:
    row = _row(engine, feature, **WAITING)
    deciding.decide(engine, row, GivenDecision(kind=rows.APPROVE, digest="abc", by="me"))
    after = _row(engine, feature)
    assert (after.status, after.drive, after.question) == (FleetStatus.RUNNING, 2, None)
    with engine.connect() as connection:
        (given,) = rows.open_decisions(connection, feature)
    assert (given.cycle, given.digest, given.then, given.by) == (2, "abc", "merge", "me")


def test_a_decision_on_something_else_is_refused(engine: sa.Engine, feature: str) -> None:
    row = _row(engine, feature, **WAITING)
    for digest in ("older", "", "a", "ab", "abcd", "ABC"):
        for kind in (rows.APPROVE, rows.CHANGES):
            with pytest.raises(BlockedError, match="not what was shown"):
                deciding.decide(engine, row, GivenDecision(kind=kind, digest=digest))
    assert _row(engine, feature) == row
    blocked = {**QUESTION, "digest": "", "obstacle": "HEAD has moved"}
    row = _row(engine, feature, question=blocked)
    with pytest.raises(BlockedError, match="cannot be approved now: HEAD has moved"):
        deciding.decide(engine, row, GivenDecision(kind=rows.APPROVE, digest=""))


def test_an_approval_is_recorded_after_what_was_shown_and_a_yes(
    engine: sa.Engine, feature: str
) -> None:
    row = _row(engine, feature, **WAITING)
    approval = GivenDecision(kind=rows.APPROVE, digest="")
    no, shown = Conversation(agrees=False), list[str]()
    with pytest.raises(DeclinedError):
        deciding.decide_with_consent(engine, no.person(), row, approval, show=None)
    assert no.lines == ["a line", "Approve?"]
    assert _row(engine, feature) == row
    deciding.decide_with_consent(
        *(engine, no.person(is_there=False), row), approval, show=shown.append
    )
    assert (shown, no.lines[3:]) == (["a line"], []), "without a terminal, running it is consent"
    with engine.connect() as connection:
        (given,) = rows.open_decisions(connection, feature)
    assert given.digest == "abc"


def test_what_is_cancelled_or_abandoned_waits_for_a_yes(engine: sa.Engine, feature: str) -> None:
    _host(engine, age_s=100)
    row = _row(engine, feature, **WAITING)
    for change, question in (
        (deciding.cancel, f"Cancel `{row.title}`?"),
        (drain.abandon, f"Begin `{row.title}` again? What its host has of it is lost."),
    ):
        talk = Conversation(agrees=False)
        with pytest.raises(DeclinedError):
            change(engine, talk.person(), row)
        assert talk.lines == [question]
    nobody = Conversation(agrees=True).person(is_there=False)
    with pytest.raises(UsageError, match="cannot ask without a terminal: Begin"):
        drain.abandon(engine, nobody, row)
    assert _row(engine, feature) == row
    deciding.cancel(engine, nobody, row)
    assert _row(engine, feature).cancelled


def test_only_one_of_two_decisions_counts(engine: sa.Engine, feature: str) -> None:
    row = _row(engine, feature, **WAITING)
    deciding.decide(engine, row, GivenDecision(kind=rows.APPROVE, digest="abc"))
    with pytest.raises(BlockedError, match="nothing is to be decided"):
        deciding.decide(engine, row, GivenDecision(kind=rows.CHANGES, digest="abc", text="no"))


def test_a_queued_feature_is_cancelled_at_once_and_can_be_tried_again(
    engine: sa.Engine, feature: str
) -> None:
    deciding.cancel(engine, AGREED, _row(engine, feature))
    after = _row(engine, feature)
    assert (after.status, after.reason) == (FleetStatus.FAILED, "cancelled")
    deciding.retry(engine, after)
    again = _row(engine, feature)
    assert (again.status, again.cancelled, again.drive) == (FleetStatus.QUEUED, False, 2)


@pytest.mark.parametrize("status", [*FleetStatus])
@pytest.mark.parametrize("cancelled", [False, True])
def test_what_is_cancelled_or_tried_again_in_each_status(
    status: FleetStatus, cancelled: bool, engine: sa.Engine, feature: str
) -> None:
    _host(engine, age_s=0)
    begun = {} if status is FleetStatus.QUEUED else {"host": "h1", "session": "s", "path": "/p"}
    row = _row(engine, feature, status=status, cancelled=cancelled, **begun)
    if status in ENDED:
        with pytest.raises(BlockedError, match="already"):
            deciding.cancel(engine, AGREED, row)
    else:
        deciding.cancel(engine, AGREED, row)
        with pytest.raises(BlockedError):  # it has not failed
            deciding.retry(engine, row)
    after = _row(engine, feature)
    if status not in ENDED:
        assert after.cancelled
        ended = FleetStatus.FAILED if status is FleetStatus.QUEUED else FleetStatus.RUNNING
        assert after.status is ended
        assert after.drive - row.drive == (status in AT_REST)
    if after.status is FleetStatus.FAILED:
        deciding.retry(engine, after)
        again = _row(engine, feature)
        assert (again.cancelled, again.drive) == (False, after.drive + 1)
        with pytest.raises(BlockedError):  # by who still sees it as failed
            deciding.retry(engine, after)
        assert _row(engine, feature).drive == again.drive


@pytest.mark.parametrize("newer", [{"drive": 7}, {"epoch": 7}])
def test_who_sees_an_older_drive_or_epoch_changes_nothing(
    newer: dict[str, int], engine: sa.Engine, feature: str
) -> None:
    seen = _row(engine, feature, **WAITING)
    now = _row(engine, feature, **newer)
    for change in (deciding.cancel, drain.abandon):
        with pytest.raises(BlockedError, match="has changed meanwhile"):
            change(engine, AGREED, seen)
    assert _row(engine, feature) == now


def test_who_sees_an_older_failure_queues_nothing(engine: sa.Engine, feature: str) -> None:
    seen = _row(engine, feature, status=FleetStatus.FAILED)
    now, jobs = _row(engine, feature, drive=7), _jobs(engine)
    with pytest.raises(BlockedError, match="has changed meanwhile"):
        deciding.retry(engine, seen)
    assert (_row(engine, feature), _jobs(engine)) == (now, jobs)


def test_a_host_that_may_still_act_is_not_abandoned(engine: sa.Engine, feature: str) -> None:
    _host(engine, age_s=70)
    row = _row(engine, feature, **WAITING)
    with pytest.raises(BlockedError, match="may act for another"):
        drain.abandon(engine, AGREED, row)


def test_an_abandoned_feature_begins_anew_from_what_was_pushed(
    engine: sa.Engine, feature: str
) -> None:
    _host(engine, age_s=100)
    row = _row(engine, feature, **WAITING, pushed="agentmux/x", phase="completing")
    lost = drain.abandon(engine, AGREED, row)
    assert "branch agentmux/x" in lost[0]
    assert "session s on box" in lost[1]
    after = _row(engine, feature)
    assert (after.status, after.epoch, after.host, after.session) == ("queued", 2, None, "")
    assert after.wish["base"] == "agentmux/x"
    with pytest.raises(BlockedError, match="no host to abandon"):
        drain.abandon(engine, AGREED, after)


def test_a_drained_host_says_what_has_begun_there(engine: sa.Engine, feature: str) -> None:
    _host(engine, age_s=1)
    _row(engine, feature, **WAITING)
    assert drain.drain(engine, "box") == 1
    with engine.connect() as connection:
        assert rows.hosts(connection)["h1"].free == 0
    with pytest.raises(NotFoundError, match="no host of the fleet"):
        drain.drain(engine, "bax")


def test_what_there_is_one_of_is_said_in_the_singular(host: FleetHost, engine: sa.Engine) -> None:
    _host(engine, age_s=0)
    one, two = host.submit(), host.submit(feature="add a farewell")
    host.change(one, **WAITING)
    assert "has begun 1 feature: " in host.ok("drain", "box")
    host.change(two, **WAITING)
    assert "has begun 2 features: " in host.ok("drain", "box")
    assert "0 of 2 slots taken" in host.ok("list")
    with engine.begin() as connection:
        connection.execute(HOSTS.update().values(slots=1))
    assert "0 of 1 slot taken" in host.ok("list")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("approve",), "nothing is to be decided"),
        (("cancel",), "is done already"),
        (("retry", "--abandon"), "there is no host to abandon"),
    ],
)
def test_nobody_is_asked_about_what_would_be_refused(
    host: FleetHost, words: tuple[str, ...], said: str
) -> None:
    feature = host.submit()
    host.change(feature, status=FleetStatus.DONE)
    with Client(host.project, sys.executable, "-m", "agentmux", "fleet", *words, feature) as client:
        told = _plain(client.ended(3))
    assert told[0].startswith("error: ")
    assert said in " ".join(" ".join(told).split())  # a terminal folds the line


def test_changes_that_say_nothing_are_refused_at_once(host: FleetHost) -> None:
    feature = host.submit()
    host.change(feature, **WAITING)
    for text in ("", " \n"):
        assert "what should change?" in host.fails(2, "request-changes", feature, text)
    host.ok("request-changes", feature, "", "--from", "fixing")  # a conflict needs no words


def test_two_ways_of_an_approval_name_the_help_of_this_command(host: FleetHost) -> None:
    said = host.fails(2, "approve", "x", "--pr", "--keep")
    assert said.splitlines()[1] == "hint: agentmux fleet approve --help"


def test_who_decides_is_told_that_no_worker_delivers_it(host: FleetHost, engine: sa.Engine) -> None:
    feature = host.submit()
    _host(engine, age_s=0)
    for age_s, more in ((0, ""), (40, ", once its worker runs: agentmux fleet worker, on box")):
        with engine.begin() as connection:
            connection.execute(HOSTS.update().values(seen_at=now_s(engine) - age_s, running=True))
        host.change(feature, **WAITING)
        done = host.ok("approve", feature, "--yes")
        assert done.endswith(f"approval recorded; its host delivers it{more}\n")
        assert host.ok("cancel", feature) == f"its host stops its session{more}\n"
        host.change(feature, status=FleetStatus.FAILED)
        assert host.ok("retry", feature) == f"its host resumes its session{more}\n"


def test_what_is_shown_of_a_feature_ends_with_what_can_be_done(host: FleetHost) -> None:
    feature = host.submit()
    host.change(feature, **WAITING)
    assert host.ok("show", feature).splitlines()[-2:] == [
        f"to approve it: agentmux fleet approve {feature[:8]}",
        f'to ask for changes: agentmux fleet request-changes {feature[:8]} "…"',
    ]
    host.change(feature, question={**QUESTION, "digest": "", "lines": [], "obstacle": "HEAD moved"})
    assert host.ok("show", feature).splitlines()[-2:] == [
        "HEAD moved",
        f"to see it: agentmux fleet attach {feature[:8]}",
    ]
    host.change(feature, question=None)
    assert host.ok("show", feature).endswith(f"to see it: agentmux fleet attach {feature[:8]}\n")
    host.change(feature, status=FleetStatus.FAILED, reason="cancelled")
    assert host.ok("show", feature).endswith(
        f"to go on with it: agentmux fleet retry {feature[:8]}\n"
    )
    result = {"branch": "agentmux/x", "commit": "0123abc", "request": {"url": "https://f/1"}}
    host.change(feature, status=FleetStatus.DONE, reason="", result=result)
    shown = host.ok("show", feature)
    for name, value in (
        ("branch", "agentmux/x"),
        ("commit", "0123abc"),
        ("request", "https://f/1"),
    ):
        assert re.search(rf"^  {name} +{re.escape(value)}$", shown, re.MULTILINE)


def test_an_agent_decides_nothing(host: FleetHost) -> None:
    feature = host.submit()
    host.project.env["AGENTMUX_LAUNCH_ID"] = "0123456789ab"
    for words in (
        ("approve", feature),
        ("request-changes", feature, "x"),
        ("retry", feature),
        ("cancel", feature),
        ("drain", "a"),
        ("init",),
        ("worker",),
    ):
        assert "is for a person" in host.fails(3, *words)
    assert host.show(feature)["status"] == "queued"


def test_a_host_that_was_not_seen_is_stale(host: FleetHost, engine: sa.Engine) -> None:
    _host(engine, age_s=61)
    feature = host.submit()
    host.change(feature, **WAITING)
    found = host.json("list", "--stale")
    assert [each["name"] for each in found["hosts"]] == ["box"]
    assert found["hosts"][0]["waiting"] == [feature]
    assert "1 feature waits for it" in host.ok("list", "--stale")


def test_a_session_elsewhere_is_shown_through_ssh(host: FleetHost, engine: sa.Engine) -> None:
    _host(engine, age_s=0)
    feature = host.submit()
    assert "has no session yet" in host.fails(4, "attach", feature)
    folder = f"/x/y z/.agentmux/.sessions/20260101-101500-add-a-greeting-{feature[:8]}"
    host.change(feature, **WAITING, path=folder)
    words = shlex.split(host.ok("attach", feature))
    assert words == ["ssh", "-t", "--", "box", shlex.join(["agentmux", "attach", folder])]
    for strange in ("--help", "/tmp/x", f"/a/..{folder}", f"{folder}0", f"{folder}\n", folder[1:]):
        host.change(feature, path=strange)
        assert "is no session's" in host.fails(5, "attach", feature), strange
    host.change(feature, path=folder)
    for address in ("-oProxyCommand=x", "$(x)", "a b", ""):
        with engine.begin() as connection:
            connection.execute(HOSTS.update().values(address=address))
        assert "the address of host" in host.fails(5, "attach", feature), address
    host.change(feature, host=str(uuid.uuid4()))
    assert "no host of the fleet has" in host.fails(4, "attach", feature)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (255, "box was not reached, or the connection ended: see whether `ssh box` works"),
        (127, "box has no agentmux on the PATH of ssh's commands: ssh box agentmux --version"),
        (4, ""),
        (0, ""),
    ],
)
def test_what_ssh_could_not_do_is_told_with_its_host(
    host: FleetHost, engine: sa.Engine, code: int, hint: str
) -> None:
    _host(engine, age_s=0)
    feature = host.submit()
    folder = f"/x/.agentmux/.sessions/20260101-101500-add-a-greeting-{feature[:8]}"
    host.change(feature, **WAITING, path=folder)
    programs = host.project.root / "programs"
    programs.mkdir()
    ssh = programs / "ssh"
    ssh.write_text(f"#!/bin/sh\necho called with: $*\nexit {code}\n")
    ssh.chmod(0o755)
    host.project.env["PATH"] = f"{programs}:{host.project.env['PATH']}"
    words = (sys.executable, "-m", "agentmux", "fleet", "attach", feature)
    with Client(host.project, *words) as client:
        said = client.ended(code)
    assert "called with: -t -- box agentmux attach" in said
    told = " ".join(" ".join(_plain(said)).split())
    assert told.split("hint: ")[1:] == ([hint] if hint else [])


def _plain(said: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", said).splitlines()


def test_without_ssh_the_session_elsewhere_is_told_to_need_it(
    host: FleetHost, engine: sa.Engine
) -> None:
    _host(engine, age_s=0)
    feature = host.submit()
    folder = f"/x/.agentmux/.sessions/20260101-101500-add-a-greeting-{feature[:8]}"
    host.change(feature, **WAITING, path=folder)
    path, host.project.env["PATH"] = host.project.env["PATH"], str(host.project.root)
    client = Client(host.project, sys.executable, "-m", "agentmux", "fleet", "attach", feature)
    host.project.env["PATH"] = path
    with client:
        said = _plain(client.ended(6))
    assert said[0].startswith("error: ssh cannot be started: ")


def test_every_host_that_was_abandoned_is_known(feature: str, engine: sa.Engine) -> None:
    """Each of them has a session to stop if it ever comes back."""
    for gone in ("gone-1", "gone-2"):
        with engine.begin() as connection:
            assert rows.change(connection, feature, status="running", host=gone)
        with engine.connect() as connection:
            row = rows.feature(connection, feature)
        assert row is not None
        drain.abandon(engine, AGREED, row)
    with engine.connect() as connection:
        row = rows.feature(connection, feature)
    assert row is not None
    assert row.refused_by == ("gone-1", "gone-2")
