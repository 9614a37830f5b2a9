"""Features are submitted once, all of a backlog or nothing of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from agentmux.core.fleet.fleet_request import FleetRequest
from agentmux.errors import ConfigError, NotFoundError, UsageError
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import now_s
from agentmux.fleet.engine.tables import HOST_REPOS, HOSTS
from agentmux.fleet.queue.backlog import read_backlog
from agentmux.fleet.queue.submission import submit
from tests.fleet.conftest import FleetHost

REQUEST = FleetRequest(repo="/r", feature="add a greeting", key="one")


def _all(engine: sa.Engine) -> tuple[rows.Feature, ...]:
    with engine.connect() as connection:
        return rows.features(connection)


def _jobs(engine: sa.Engine) -> list[tuple[str, str, int]]:
    schema = "" if engine.dialect.name == "sqlite" else "dbos."
    query = f"SELECT workflow_uuid, queue_name, priority FROM {schema}workflow_status"
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.text(query))]


def test_the_same_key_is_submitted_once(engine: sa.Engine) -> None:
    (first,) = submit(engine, [REQUEST])
    (second,) = submit(engine, [REQUEST])
    assert (first.new, second.new) == (True, False)
    assert first.id == second.id
    assert [each.id for each in _all(engine)] == [first.id]
    assert _jobs(engine) == [(f"{first.id}:admit:1", "agentmux-new", 100)]


def test_the_same_key_with_other_words_is_refused_and_says_what_differs(engine: sa.Engine) -> None:
    submit(engine, [REQUEST])
    other = FleetRequest(repo="/r", feature="add two greetings", key="one", priority=1)
    with pytest.raises(UsageError, match="with other arguments: ") as caught:
        submit(engine, [other])
    assert "`add a greeting` before, `add two greetings` now" in caught.value.message
    assert "priority" in caught.value.message
    assert len(_all(engine)) == 1


def test_a_backlog_with_one_mistake_submits_nothing(engine: sa.Engine) -> None:
    wrong = FleetRequest(repo="/r", feature="y", key="two", host="nobody")
    with pytest.raises(NotFoundError, match="no host of the fleet is named `nobody`"):
        submit(engine, [REQUEST, wrong])
    assert _all(engine) == ()
    assert _jobs(engine) == []


def test_a_backlog_is_listed_in_its_order(engine: sa.Engine) -> None:
    made = submit(
        engine, [FleetRequest(repo="/r", feature=f"feature {number}") for number in range(8)]
    )
    assert [each.id for each in _all(engine)] == [each.id for each in made]


def test_features_without_a_key_are_different_ones(engine: sa.Engine) -> None:
    one = FleetRequest(repo="/r", feature="x")
    assert len({each.id for each in submit(engine, [one, one])}) == 2


@pytest.fixture
def backlog(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "backlog.yaml"
        path.write_text(text)
        return path

    return write


def test_a_backlog_is_a_list_of_features(backlog: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    path = backlog(
        "- {key: a, feature: 'one', priority: 5, then: merge}\n"
        "- {key: b, issue: 7, repo: repo, agent: codex}\n"
    )
    first, second = read_backlog(path, FleetRequest(repo="/r", agent="demo", pipeline="quick"), {})
    assert first == FleetRequest(
        repo="/r", feature="one", key="a", priority=5, then="merge", agent="demo", pipeline="quick"
    )
    assert second.repo == str(tmp_path / "repo")
    assert (second.issue, second.agent) == ("7", "codex")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {key: a, feature: x}\n- {feature: y}\n", r"backlog.yaml:2: .* has no `key`"),
        ("- {key: a, feature: x}\n- {key: a, feature: y}\n", "two entries"),
        ("- {key: a, featur: x}\n", r"backlog.yaml:1: unknown key `featur`"),
        ("- {key: a, feature: x, priority: 0}\n", "a whole number from 1 to 1000"),
        ("key: a\n", "must be a list"),
        (
            "- {key: a, feature: x}\n- {key: b c, feature: y}\n",
            r"backlog.yaml:2: `b c` is not a key",
        ),
        ("- {key: a, feature: x}\n\n- {key: b}\n", r"backlog.yaml:3: say what to build"),
    ],
)
def test_a_mistake_in_a_backlog_names_its_line(
    backlog: Callable[[str], Path], text: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        read_backlog(backlog(text), FleetRequest(repo="/r"), {})


def test_a_backlog_is_a_file() -> None:
    with pytest.raises(UsageError, match="is not a file"):
        read_backlog(Path("/nonexistent/backlog.yaml"), FleetRequest(repo="/r"), {})


def test_the_commands_submit_list_and_show(host: FleetHost) -> None:
    path = host.project.root / "backlog.yaml"
    path.write_text("- {key: a, feature: one}\n- {key: b, feature: two, priority: 1}\n")
    done = host.json("submit", "--from", str(path))
    assert [(each["key"], each["new"]) for each in done["features"]] == [("a", True), ("b", True)]
    again = host.json("submit", "--from", str(path))
    assert [each["new"] for each in again["features"]] == [False, False]

    listed = host.json("list")
    assert listed["hosts"] == []
    first = listed["features"][0]
    names = {"id", "key", "session", "status", "phase", "host", "updated_at"}
    assert names <= first.keys()
    assert (first["key"], first["status"], first["session"]) == ("a", "queued", None)
    shown = host.show("b")
    assert shown["wish"]["repo"] == str(host.project.path)
    assert "queued" in host.ok("list")
    assert "two" in host.ok("show", "b")
    assert "matches `zz`" in host.fails(4, "show", "zz")
    for words in (("show", "\udcff"), ("drain", "\udcff")):  # a byte that is no UTF-8
        assert "`?`" in host.fails(4, *words)
    odd = host.json("submit", "\udcff", "--key", "odd")["features"][0]["id"]
    assert host.show(odd)["title"] == "?"
    assert "exclude" in host.fails(2, "approve", "a", "--push", "--merge")


def test_a_repository_beside_a_backlog_that_is_not_there_is_named(host: FleetHost) -> None:
    path = host.project.root / "lists" / "backlog.yaml"
    path.parent.mkdir()
    path.write_text("- {key: a, feature: one, repo: ../gone}\n")
    gone = host.project.root.resolve() / "gone"
    host.allow(str(gone))
    if host.database.startswith("postgres"):  # it may be on another host
        host.ok("submit", "--from", str(path))
        assert host.show("a")["request"]["repo"] == str(gone)
        return
    for words in (("--from", str(path)), ("x", "--repo", f"{path.parent}/../gone")):
        said = host.fails(4, "submit", *words)
        assert said.splitlines()[0] == f"error: the repository {gone} does not exist on this host"
    assert host.json("list")["features"] == []


def test_a_backlog_without_features_is_told_to_have_none(host: FleetHost) -> None:
    path = host.project.root / "backlog.yaml"
    path.write_text("# to be written\n")
    done = host.run("submit", "--from", str(path))
    assert (done.returncode, done.stderr) == (0, f"{path} has no features\n")


def test_features_are_listed_with_their_keys_and_what_is_missing(host: FleetHost) -> None:
    one = host.submit()
    assert host.ok("list").splitlines() == [
        f"{one[:8]}  queued      add a greeting",
        "no worker runs: agentmux fleet worker",
    ]
    two = host.submit("--key", "greet")
    assert host.ok("list").splitlines()[:2] == [
        f"{one[:8]}         queued      add a greeting",
        f"{two[:8]}  greet  queued      add a greeting",
    ]


def test_a_repository_that_this_host_may_not_run_is_refused(host: FleetHost) -> None:
    if host.database.startswith("postgres"):
        pytest.skip("another host may run it")
    host.allow()
    said = host.fails(7, "submit", "x")
    assert f"`fleet.repos` does not allow {host.project.path} on this host" in said


def see(engine: sa.Engine, name: str, repos: list[str] | None) -> None:
    """Let a host have been seen, whose worker said what it may run (None: it was an older one)."""
    values = {
        "id": name, "name": name, "address": name, "slots": 2, "contract": 1, "program": "1",
        "lease_s": 60.0, "seen_at": now_s(engine),
    }  # fmt: skip
    with engine.begin() as connection:
        connection.execute(HOSTS.insert().values(**values))
        if repos is not None:
            connection.execute(HOST_REPOS.insert().values(host=name, repos=repos))


def test_what_another_host_may_run_is_submitted_from_one_that_runs_nothing(
    host: FleetHost, engine: sa.Engine
) -> None:
    host.allow()
    repo = "https://example.org/team/calc"
    see(engine, "other", ["/srv/*"])
    assert f"does not allow {repo} on" in host.fails(7, "submit", "x", "--repo", repo)
    see(engine, "build", ["https://example.org/team/*"])
    done = host.run("submit", "x", "--repo", repo)
    assert done.returncode == 0
    assert f"warning: of the fleet's hosts only build may run {repo}\n" in done.stderr
    see(engine, "old", None)
    assert "only build, old may run" in host.run("submit", "x", "--repo", repo).stderr


@pytest.mark.long
def test_a_worker_says_what_it_may_run_also_in_an_older_database(
    host: FleetHost, engine: sa.Engine
) -> None:
    HOST_REPOS.drop(engine)
    host.allow("/srv/*", "https://example.org/*")
    host.worker()
    with engine.connect() as connection:
        assert rows.host_repositories(connection) == dict.fromkeys(
            rows.hosts(connection), ("/srv/*", "https://example.org/*")
        )
