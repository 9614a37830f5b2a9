"""Messages sent by the real helper process, with Apprise and real servers on loopback."""

import os
import socket
import sys
import time
from pathlib import Path

import pytest

from agentmux.adapters.notify.helper import NO_APPRISE
from agentmux.adapters.notify.process import HELPER, HelperProcess
from agentmux.adapters.system.processes.processes import is_alive
from agentmux.core.config.settings import Address
from agentmux.ports.notifier import Notification, SendResult
from tests.fakes.receiver import Receiver

MESSAGE = Notification(
    title="AgentMux: login is done", body="Add a *login*\nin shop: agentmux show login"
)
TOKEN = "tk_secretsecret"


def test_each_address_gets_the_message_and_has_its_own_result(receiver: Receiver) -> None:
    host = f"127.0.0.1:{receiver.server_port}"
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = closed.getsockname()[1]
    urls = (
        f"json://{host}/{TOKEN}", f"json://{host}/refuse/{TOKEN}",
        f"json://u:{TOKEN}@127.0.0.1:{nobody}/", f"nonsense://{TOKEN}",
    )  # fmt: skip
    found = HelperProcess(os.environ).send(MESSAGE, [Address(url) for url in urls])

    assert [each.problem for each in found] == [
        "",
        "the server refused it (HTTP status 403)",
        "the server cannot be reached, or does not answer",
        "Apprise does not know this kind of address, or it is incomplete",
    ]
    assert sorted(path for path, _ in receiver.got) == [f"/refuse/{TOKEN}", f"/{TOKEN}"]
    assert {body["title"] for _, body in receiver.got} == {MESSAGE.title}
    assert {body["message"] for _, body in receiver.got} == {MESSAGE.body}
    assert TOKEN not in repr(found)


def test_a_server_that_hangs_holds_nobody(silent: int) -> None:
    began = time.monotonic()
    url = f"json://127.0.0.1:{silent}/?rto=60"
    handed: list[float] = []
    found = HelperProcess(os.environ, limit_s=1).send(
        MESSAGE, [Address(url)], handed_over=lambda: handed.append(time.monotonic() - began)
    )
    assert found == (SendResult(address=Address(url), problem="no answer in time"),)
    assert handed[0] < 1


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.kill(os.getpid(), 9)",
        "import time; time.sleep(600)",
        "import os\nwhile True: os.write(2, b'x' * 65536); os.write(1, b'x' * 65536)",
        "print('[1, 2]')",
        "print('[1]')",
    ],
    ids=["killed", "hangs", "floods", "wrong answer", "wrong type"],
)
def test_a_helper_that_fails_is_one_result(code: str) -> None:
    helper = HelperProcess(os.environ, argv=[sys.executable, "-c", code], limit_s=0.2, grace_s=0.3)
    found = helper.send(MESSAGE, [Address("json://127.0.0.1/")])
    assert [each.problem for each in found] == [
        "the helper process was ended, or said nothing that can be read"
    ]


def test_a_helper_that_cannot_be_started_is_one_result() -> None:
    found = HelperProcess(os.environ, argv=["/nowhere/helper"]).send(MESSAGE, [Address("x://y")])
    assert "cannot be started" in found[0].problem


def test_no_argument_and_no_variable_holds_an_address(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    look = (
        "import sys; from pathlib import Path; me = Path('/proc/self');"
        "said = (me / 'cmdline').read_bytes() + (me / 'environ').read_bytes();"
        f"Path({str(seen)!r}).write_bytes(said);"
        "sys.stdin.read(); print('[\"\"]')"
    )
    argv = [sys.executable, "-c", look]
    found = HelperProcess(os.environ, argv=argv).send(MESSAGE, [Address(f"json://{TOKEN}")])
    assert found[0].problem == ""
    assert TOKEN not in seen.read_text()
    assert TOKEN not in " ".join(HELPER)


def test_without_apprise_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['apprise'] = None")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = HelperProcess(environ).send(MESSAGE, [Address("json://127.0.0.1/")])
    assert [each.problem for each in found] == [NO_APPRISE]


def test_the_desktop_is_notified_by_the_systems_program(tmp_path: Path) -> None:
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > {tmp_path}/said\n')
    program.chmod(0o755)
    found = HelperProcess({"PATH": f"{tmp_path}:/bin"}).send(MESSAGE, [Address("desktop")])
    assert [each.problem for each in found] == [""]
    said = (tmp_path / "said").read_text()
    assert said == f"--app-name=AgentMux|--|{MESSAGE.title}|{MESSAGE.body}|"


def test_a_program_of_the_system_that_hangs_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "notify-send"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 97\n")
    program.chmod(0o755)
    environ = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    (sent,) = HelperProcess(environ, limit_s=1).send(MESSAGE, [Address("desktop")])
    assert sent.problem == "notify-send does not answer"
    assert not is_alive(int((tmp_path / "pid").read_text()))
