"""``agentmux web`` as a process: its address, its end, its events, and who may start it."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agentmux.core.codec.frozen import replace
from agentmux.web import serving
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project
from tests.e2e.test_upgrade import Tool
from tests.web.conftest import Serve, Server, descriptors

pytestmark = pytest.mark.long


class Browser:
    """A logged-in browser, on plain sockets."""

    def __init__(self, server: Server, *, address: str = "127.0.0.1") -> None:
        self.server = server
        self.address = address
        self.headers = {"Host": server.origin.partition("//")[2], "Origin": server.origin}
        status, headers = self.ask("POST", "/login/" + server.link.rpartition("/")[2])
        assert status == 303
        self.headers["Cookie"] = headers["set-cookie"].partition(";")[0]

    def ask(self, method: str, path: str) -> tuple[int, dict[str, str]]:
        """Return the status and the headers of an answer."""
        with closing(self.connect()) as connection:
            connection.request(method, path, headers=self.headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status, {name.lower(): text for name, text in answer.getheaders()}

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.address, self.server.port, timeout=60)

    @contextmanager
    def events(self) -> Iterator["Stream"]:
        with socket.create_connection((self.address, self.server.port), timeout=60) as made:
            lines = (f"{name}: {text}" for name, text in self.headers.items())
            made.sendall("\r\n".join(("GET /events HTTP/1.1", *lines, "", "")).encode())
            stream = Stream(made)
            yield stream
            with suppress(OSError):
                made.shutdown(socket.SHUT_RDWR)
            assert stream.ended.wait(60)


class Stream:
    """A stream of events, read in a thread."""

    def __init__(self, connection: socket.socket) -> None:
        self.told: list[tuple[float, set[str]]] = []
        self.hello = threading.Event()
        self.ended = threading.Event()
        self._file = connection.makefile("rb")
        threading.Thread(target=self._read, daemon=True).start()
        assert self.hello.wait(60)

    def _read(self) -> None:
        with self._file, suppress(OSError):
            for line in self._file:
                if line.startswith(b"event: hello"):
                    self.hello.set()
                elif line.startswith(b"data: ") and b"changed" in line:
                    found = set(json.loads(line.removeprefix(b"data: "))["changed"])
                    self.told.append((time.monotonic(), found))
        self.ended.set()

    def names(self) -> set[str]:
        return {name for _, names in self.told for name in names}


def test_it_has_a_host_name_of_its_own(shared: Project, serve: Serve) -> None:
    first, second = serve(shared), serve(shared)
    for each in (first, second):
        assert re.fullmatch(r"http://agentmux-[0-9a-f]{10}\.localhost:\d+", each.origin)
    assert first.origin.partition(":")[2] != second.origin.partition(":")[2]
    names = {each.origin.split(".")[0] for each in (first, second)}
    assert len(names) == 2


def test_a_page_that_is_open_finds_a_restarted_server_again(project: Project, serve: Serve) -> None:
    first = serve(project)
    second = serve(project)
    second.end()
    first.end()
    again = serve(project)
    assert again.origin == first.origin
    # A login ends with its server: what it left in a browser is worth nothing.
    browser = Browser(again)
    assert browser.ask("GET", "/")[0] == 200
    again.end()
    with socket.create_server(("127.0.0.1", first.port)):
        other = serve(project)
        assert other.origin.partition(":")[2] != first.origin.partition(":")[2]
        assert other.origin.split(".")[0] != first.origin.split(".")[0]
    other.end()
    assert serve(project, "--listen", f"127.0.0.1:{other.port}").origin == other.origin


@pytest.mark.parametrize("line", ["", "evil.example:80\n", "agentmux-0123456789.localhost:99999\n"])
def test_a_damaged_record_of_the_last_address_is_not_used(
    project: Project, serve: Serve, line: str
) -> None:
    record = Path(project.env["XDG_STATE_HOME"]) / "agentmux" / "web" / "last-address"
    record.parent.mkdir(parents=True, mode=0o700)
    record.write_text(line)
    server = serve(project)
    assert re.fullmatch(r"http://agentmux-[0-9a-f]{10}\.localhost:\d+", server.origin)
    assert "0123456789" not in server.origin
    assert record.read_text() == server.origin.removeprefix("http://") + "\n"


def test_it_listens_at_both_addresses_of_loopback(shared: Project, serve: Serve) -> None:
    """Else another program could listen at the one that browsers try first, and get the cookie."""
    server = serve(shared)
    browser = Browser(server)
    assert browser.ask("GET", "/")[0] == 200
    with socket.socket(socket.AF_INET6) as made:
        try:
            made.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
    browser.address = "::1"
    assert browser.ask("GET", "/")[0] == 200


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_soon_also_with_open_streams(
    shared: Project, serve: Serve, sig: signal.Signals
) -> None:
    server = serve(shared)
    browser = Browser(server)
    with ExitStack() as opened:
        streams = [opened.enter_context(browser.events()) for _ in range(3)]
        opened.enter_context(closing(browser.connect())).connect()
        assert server.end(sig) < 20
        assert all(each.ended.wait(60) for each in streams)
    assert server.process.returncode == 0
    # On a busy machine uvicorn may say that it did not wait for the streams any longer.
    late = "timeout graceful shutdown exceeded"
    said = [each for each in server.errors.splitlines() if late not in each]
    assert [each.partition(",")[0] for each in said] == [  # what stands above the link
        "only browsers on this machine reach it; a phone needs --listen and TLS",
        "log one browser in",
    ], server.errors


@pytest.mark.long
def test_an_agent_cannot_start_it(project: Project) -> None:
    """An agent would decide for its user there."""
    session = project.start().wait()
    launch = next(iter(session.path.glob("launches/*/launch.json")))
    agent = {**json.loads(launch.read_text())["env"]}
    for words in ((), ("--read-only",)):
        refused = project.fails(3, "web", *words, env=agent)
        assert "is for a person" in refused
    below = project.program(
        "sh", "-c", "env -u AGENTMUX_LAUNCH -u AGENTMUX_SESSION_DIR agentmux web", env=agent
    )
    assert below.returncode == 3, below.stdout + below.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--listen", "0.0.0.0:0"), "needs TLS"),
        (("--listen", "192.0.2.1:0"), "needs TLS"),
        (("--listen", "[::]:0"), "needs TLS"),
        (("--behind-proxy",), "needs the name"),
        (("--tls-cert", "{file}"), "belong together"),
        (("--tls-cert", "{file}", "--tls-key", "{file}", "--behind-proxy"), "exclude each other"),
        (
            ("--tls-cert", "{file}", "--tls-key", "{file}", "--listen", "0.0.0.0:0"),
            "needs the name",
        ),
        (("--tls-cert", "/nothing", "--tls-key", "/nothing"), "is not a file"),
        (("--listen", "here"), "is no address"),
        (("--listen", "127.0.0.1:70000"), "is no address"),
    ],
)
def test_options_that_expose_it_unsafely_are_refused(
    shared: Project, words: tuple[str, ...], says: str
) -> None:
    (file := shared.root / "file.pem").touch()
    given = [word.format(file=file) for word in words]
    assert says in shared.fails(2, "web", *given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, ""),
        ({"host": "192.0.2.1"}, "whoever reaches 192.0.2.1 and logs in can read and decide on all"),
        ({"host": "192.0.2.1", "read_only": True}, "192.0.2.1 and logs in can read all sessions"),
        ({"behind_proxy": True, "name": "box.example"}, "whoever reaches https://box.example and"),
    ],
)
def test_what_others_can_do_is_said(given: dict[str, Any], says: str) -> None:
    loopback = serving.ServingOptions(
        host="127.0.0.1",
        port=0,
        name="",
        read_only=False,
        behind_proxy=False,
        cert=None,
        key=None,
        project=Path("/"),
        config=None,
        environ={},
    )
    options = replace(loopback, **given)
    said = serving.exposure(options, serving.page_address(options, 4321))
    assert (said == "") == (says == "")
    assert says in said


def test_a_port_that_is_taken(shared: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = shared.fails(3, "web", "--listen", f"127.0.0.1:{port}")
    assert f"cannot listen at 127.0.0.1:{port}" in refused


def test_behind_a_proxy_it_answers_to_the_name_of_the_proxy(shared: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ("--listen", f"127.0.0.1:{port}", "--behind-proxy", "--host", "Box.example.org")
    made = subprocess.Popen(
        ["agentmux", "web", *words],
        cwd=shared.path,
        env=shared.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert made.stdout is not None
        assert made.stderr is not None
        link = made.stdout.readline().strip()
        assert link.startswith("https://box.example.org/login/")
        assert "can read and decide on" in made.stderr.readline()
        path = link.removeprefix("https://box.example.org")
        headers = {"Host": "box.example.org", "Origin": "https://box.example.org"}
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("POST", path, headers=headers)
            answer = connection.getresponse()
            answer.read()
        assert answer.status == 303
        assert answer.headers["set-cookie"].startswith("__Host-agentmux=")
        assert "secure" in answer.headers["set-cookie"].lower()
    finally:
        made.terminate()
        made.communicate(timeout=60)


def test_with_a_certificate_it_speaks_tls(shared: Project, serve: Serve) -> None:
    made = shared.program(
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2"),
        *("-subj", "/CN=box.localhost", "-addext", "subjectAltName=DNS:box.localhost"),
        cwd=shared.root,
    )
    if made.returncode:
        pytest.skip("openssl cannot make a certificate here")
    cert, key = (str(shared.root / name) for name in ("cert.pem", "key.pem"))
    server = serve(shared, "--tls-cert", cert, "--tls-key", key, "--host", "box.localhost")
    assert re.fullmatch(r"https://box\.localhost:\d+", server.origin)
    context = ssl.create_default_context(cafile=cert)
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=60) as raw,
        context.wrap_socket(raw, server_hostname="box.localhost") as secured,
    ):
        secured.sendall(f"GET / HTTP/1.1\r\nHost: box.localhost:{server.port}\r\n\r\n".encode())
        assert b" 401 " in secured.recv(4096)
    assert server.end() < 20


def test_open_goes_through_a_private_file(shared: Project, serve: Serve) -> None:
    """The argv of a browser is visible to every user of the machine."""
    seen, browser = shared.root / "seen", shared.root / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {seen}.t && mv {seen}.t {seen}\n')
    browser.chmod(0o755)
    shared.env["BROWSER"] = f"{browser} %s"
    try:
        server = serve(shared, "--open")
        deadline = time.monotonic() + 10
        while not seen.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        argv = seen.read_text()
    finally:
        del shared.env["BROWSER"]
    assert argv.startswith("file:///")
    assert server.link not in argv
    assert server.link.rpartition("/")[2] not in argv
    page = Path(argv.strip().removeprefix("file://"))
    assert server.link in page.read_text()
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
    Browser(server)  # it serves, and so ends in its own way
    server.end()
    assert not page.exists()


ENDED_EARLY = """
import os, signal, sys
from pathlib import Path
from agentmux.web import serving
folder = Path(sys.argv[1])
options = serving.ServingOptions(host="127.0.0.1", port=0, name="", read_only=False,
    behind_proxy=False,
    cert=None, key=None, project=folder, config=None, environ=dict(os.environ))
def ready(found):
    page = serving.private_page(folder / "web", found.link)
    assert page.exists()
    print(page, flush=True)
    os.kill(os.getpid(), getattr(signal, sys.argv[2]))
serving.serve(options, ready, folder / "web")
print("cleaned up")
"""


@pytest.mark.parametrize("sig", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_before_it_serves_leaves_no_private_page(shared: Project, sig: str) -> None:
    ended = shared.program(sys.executable, "-c", ENDED_EARLY, str(shared.root), sig)
    assert ended.returncode == 0, ended.stderr
    page, said = ended.stdout.splitlines()
    assert said == "cleaned up"
    assert not Path(page).exists()


def test_a_browser_in_the_terminal_does_not_keep_it_from_serving(
    shared: Project, serve: Serve
) -> None:
    """Such a browser ends after it has shown the page."""
    browser, until = shared.root / "slow", shared.root / "until"
    os.mkfifo(until)
    browser.write_text(f"#!/bin/sh\nread _ <{until}\n")
    browser.chmod(0o755)
    shared.env["BROWSER"] = f"{browser} %s"
    try:
        server = serve(shared, "--open")
        Browser(server)
        until.write_text("ended\n")
    finally:
        del shared.env["BROWSER"]
    assert server.end() < 20


@pytest.mark.long
def test_a_browser_is_told_what_changes(
    project: Project, serve: Serve, wait_until: WaitUntil
) -> None:
    with Browser(serve(project)).events() as stream:
        session = project.start()
        wait_until(lambda: "" in stream.names(), 10)
        wait_until(lambda: session.name in stream.names(), 20, lambda: stream.told)
        session.wait()
        wait_until(lambda: stream.told[-1][0] < time.monotonic() - 1, 20)
        told = len(stream.told)
        os.kill(session.runtime["orchestrator_pid"], signal.SIGKILL)
        wait_until(lambda: len(stream.told) > told, 10)
        assert session.name in stream.told[-1][1]


@pytest.mark.rare("CI sees that a browser is told what changes")
@pytest.mark.long
def test_nothing_is_watched_while_nobody_listens(
    project: Project, serve: Serve, wait_until: WaitUntil
) -> None:
    project.start().wait()
    server = serve(project)
    browser = Browser(server)

    def watches() -> bool:
        return any("inotify" in each for each in descriptors(server.process.pid))

    assert not watches()
    with browser.events():
        wait_until(watches, 5)
    wait_until(lambda: not watches(), 20)


@pytest.mark.long
def test_a_page_whose_installation_is_removed_says_so(
    shared: Project, serve: Serve, tmp_path: Path
) -> None:
    tool = Tool(tmp_path / "tool")
    tool.install()
    server = serve(shared, program=(str(tool.bin / "agentmux"),))
    browser = Browser(server)
    assert browser.ask("GET", "/")[0] == 200
    shutil.rmtree(tool.place)
    with closing(browser.connect()) as connection:
        connection.request("GET", "/", headers=browser.headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    assert answer.status != 200
    assert f"{tool.place} was removed or replaced" in text
    assert "agentmux web" in text
