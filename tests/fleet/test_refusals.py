"""What a command says when the database answers and does not let it in, or is full."""

import os
import resource
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from agentmux.errors import MissingError
from agentmux.fleet.engine.database import engine_for, explain_errors
from agentmux.fleet.engine.database_errors import what_to_do
from agentmux.fleet.engine.fleet_home import shown_url
from tests.fleet.conftest import FleetHost, init_fleet
from tests.fleet.postgres import PROGRAMS, Postgres

SECRET = "s3cret"
HBA = """
local all fleet trust
local all nobody trust
local all idle trust
local all guest trust
host all pw 127.0.0.1/32 scram-sha-256
"""
ROLES = (
    f"CREATE ROLE pw LOGIN PASSWORD '{SECRET}'",
    "CREATE ROLE idle NOLOGIN",
    "CREATE ROLE guest LOGIN",
    "CREATE DATABASE private",
    "REVOKE CONNECT ON DATABASE private FROM PUBLIC",
    "CREATE DATABASE empty",
)

_OPENSSL = (
    "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
    "/CN=elsewhere",
)  # fmt: skip


class Server:
    """A PostgreSQL with TLS whose certificate nobody knows, and that lets few in."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.server = Postgres(
            PROGRAMS, "fsync=off", "listen_addresses=127.0.0.1", f"port={self.port}"
        )
        self.certificate = folder / "server.crt"
        self.another = folder / "another.crt"
        for to in (folder / "another", self.server.data / "server"):
            made = ("-keyout", f"{to}.key", "-out", f"{to}.crt")
            subprocess.run((*_OPENSSL, *made), check=True, capture_output=True)
        shutil.copy(self.server.data / "server.crt", self.certificate)
        owner = self.server.data.stat()
        for name in ("server.key", "server.crt"):
            os.chown(self.server.data / name, owner.st_uid, owner.st_gid)
            (self.server.data / name).chmod(0o600)
        with (self.server.data / "postgresql.conf").open("a") as file:
            file.write("ssl = on\n")
        (self.server.data / "pg_hba.conf").write_text(HBA)
        self.server.crash()
        self.server.start()
        engine = engine_for(self.local("fleet", "postgres"))
        with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            for each in ROLES:
                connection.exec_driver_sql(each)
        engine.dispose()

    def local(self, role: str, database: str) -> str:
        """Return a URL by the private socket."""
        return f"postgresql://{role}@/{database}?host={self.server.folder}&port={self.port}"

    def tls(self, role: str, **options: str) -> str:
        """Return a URL by TCP, with options of libpq."""
        query = "&".join(f"{name}={value}" for name, value in options.items())
        return f"postgresql://{role}@127.0.0.1:{self.port}/postgres?{query}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not PROGRAMS or shutil.which("openssl") is None:
        pytest.skip("it needs PostgreSQL and openssl: ./dev test-fleet")
    made = Server(tmp_path_factory.mktemp("tls"))
    try:
        yield made
    finally:
        made.server.close()


def _refusals(server: Server, tmp_path: Path) -> dict[str, tuple[str, str, str]]:
    """Return by name: a URL, what the command quotes, and the hint it gives."""
    full, known = "verify-full", str(server.certificate)
    url = "in the URL: agentmux fleet init --url-file FILE"
    authority = (
        "name the file of the authority that signed the server's certificate (sslrootcert=FILE)"
    )
    return {
        "authority": (
            server.tls("pw", sslmode=full, sslrootcert=str(server.another)),
            "certificate verify failed",
            f"{authority} {url}",
        ),
        "no file": (
            server.tls("pw", sslmode=full, sslrootcert=str(tmp_path / "gone")),
            "does not exist",
            f"{authority} {url}",
        ),
        "name": (
            server.tls("pw", sslmode=full, sslrootcert=known),
            "does not match host name",
            f"name the server as its certificate does, {url}",
        ),
        "password": (
            server.tls(f"pw:{SECRET}x", sslmode="require"),
            "password authentication failed",
            f"write the right password of role pw {url}",
        ),
        "no password": (
            server.tls("pw", sslmode="require"),
            "no password supplied",
            f"write the right password of role pw {url}",
        ),
        "entry": (
            server.tls(f"other:{SECRET}", sslmode="require"),
            "no pg_hba.conf entry",
            "let role other in from this host, in the server's pg_hba.conf",
        ),
        "role": (
            server.local("nobody", "postgres"),
            'role "nobody" does not exist',
            "make the role at the server: createuser --pwprompt nobody",
        ),
        "login": (
            server.local("idle", "postgres"),
            "is not permitted to log in",
            'let the role log in: ALTER ROLE "idle" LOGIN',
        ),
        "database": (
            server.local("fleet", "gone"),
            'database "gone" does not exist',
            "make the database at the server: createdb --owner=fleet gone",
        ),
        "connect": (
            server.local("guest", "private"),
            "permission denied for database",
            'make the role its owner: ALTER DATABASE "private" OWNER TO "guest"',
        ),
    }


def test_a_refusal_of_postgresql_is_told_with_what_to_do(
    host: FleetHost, server: Server, tmp_path: Path
) -> None:
    for name, (url, quoted, hint) in _refusals(server, tmp_path).items():
        host.place.keep_url(url)
        said = host.fails(6, "list")
        assert "cannot be used: " in said, name
        assert quoted in said, name
        assert f"\nhint: {hint}\n" in said, name
        assert SECRET not in said, name


def test_a_role_that_may_make_no_tables_is_told_so(server: Server, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match='ALTER DATABASE "empty" OWNER TO "guest"'):
        init_fleet(tmp_path, server.local("guest", "empty"))


def test_a_server_that_is_not_there_is_to_be_started(host: FleetHost) -> None:
    host.place.keep_url(f"postgresql://me:{SECRET}@127.0.0.1:1/fleet")
    said = host.fails(6, "list")
    assert "does not answer: " in said
    assert said.endswith("\nhint: start it, then try again\n")
    host.place.keep_url(f"postgresql://me:{SECRET}@127.0.0.1:1/fleet?sslmode=full")
    assert "hint: correct it in the URL: agentmux fleet init" in host.fails(6, "list")
    host.place.keep_url(f"postgresql://me:{SECRET}@db.invalid/fleet")
    assert "hint: check the name in the URL, and the network\n" in host.fails(6, "list")


def test_a_hint_quotes_the_names_as_their_command_wants_them() -> None:
    names = {"role": 'my "r"', "database": "fleet-1 {x}", "folder": "/x"}
    hints = {
        'FATAL:  role "x" does not exist': """createuser --pwprompt 'my "r"'""",
        'FATAL:  role "x" is not permitted to log in': 'ALTER ROLE "my ""r""" LOGIN',
        'FATAL:  database "x" does not exist': """createdb --owner='my "r"' 'fleet-1 {x}'""",
        "permission denied for schema public": 'ALTER DATABASE "fleet-1 {x}" OWNER TO "my ""r"""',
    }
    for said, hint in hints.items():
        assert (what_to_do(said, **names) or "").endswith(f": {hint}")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3@cret@127.0.0.1:1/db",
        "postgresql://me:s3/cret@127.0.0.1:1/db",
        "postgresql://me:s3?cret@127.0.0.1:1/db",
        "postgresql://me:s3cret@127.0.0.1:port/db",
        "postgresql://me@/db?host=127.0.0.1&port=s3cret",
    ],
)
def test_no_part_of_a_password_is_shown_of_a_url_that_is_none(
    url: str, host: FleetHost, tmp_path: Path
) -> None:
    private = tmp_path / "url"
    private.write_text(f"{url}\n")
    private.chmod(0o600)
    said = host.fails(2, "init", "--url-file", str(private))
    assert "s3" not in said.replace(str(private), "")
    assert "cret" not in said


def test_a_password_with_a_colon_is_not_shown() -> None:
    assert shown_url("postgresql://me:s3:cret@h:1/db") == "postgresql://me:…@h:1/db"
    assert shown_url("postgresql://h:1/db?password=x") == "postgresql://h:1/db"


@pytest.fixture
def sqlite(empty_sqlite: Path, tmp_path: Path) -> Path:
    """A database of SQLite with a fleet, that nothing has open."""
    return Path(shutil.copy(empty_sqlite, tmp_path / "fleet.sqlite"))


def test_a_full_disk_under_sqlite_is_told(sqlite: Path) -> None:
    engine = engine_for(f"sqlite:///{sqlite}")

    @event.listens_for(engine, "connect")
    def _(connection: object, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]  # SQLite's

    with pytest.raises(MissingError) as error, explain_errors(engine), engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE large AS SELECT randomblob(1000000)"))
    engine.dispose()
    assert error.value.message.endswith("cannot be used: database or disk is full")
    assert error.value.hints == (
        f"its disk is full: free some space, then try again: df -h {sqlite.parent}",
    )


def test_a_disk_too_full_to_open_sqlite_is_told(sqlite: Path, host: FleetHost) -> None:
    host.place.keep_url(f"sqlite:///{sqlite}")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))  # SQLite says the same of both
    try:
        said = host.fails(6, "list")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "disk I/O error\n" in said
    assert "hint: its disk is full: free some space" in said
