"""The helper process that sends one message: ``python -m agentmux.adapters.notify.helper``.

It reads a request from its standard input and writes the results to its standard output, each as
one JSON object. Apprise is imported here and nowhere else; docs/decisions/0017-notifications.md
says why. The output of Apprise and its plug-ins is discarded, because it may contain tokens.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Final

from agentmux.adapters.system.python.extras import APPRISE, install_command
from agentmux.adapters.system.python.import_path import put_own_first
from agentmux.overriding import override

NO_APPRISE: Final = f"Apprise is not installed; to install it: {install_command(APPRISE)}"
_DESKTOP: Final = "desktop"
_NO_DESKTOP: Final = "this machine has no program for desktop notifications, such as notify-send"
_APPLESCRIPT: Final = (
    "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
)
_STATUS: Final = re.compile(r"error=(\d{3})\b")
_LATE: Final = "no answer in time"


def main() -> None:
    """Send the message that stdin describes, write the results to stdout, and end the process.

    Stdin has a JSON object with ``title``, ``body``, ``addresses`` (a list of texts) and
    ``limit_s``, the time limit in seconds. The results are a JSON list with a text for each
    address: why it failed, or empty. Threads that still send are not waited for.
    """
    put_own_first(sys.path, os.environ.get("PYTHONPATH", ""))  # noqa: TID251 (Python has read it)
    answer = os.dup(1)
    request = json.loads(sys.stdin.buffer.read())
    _be_quiet()
    # The process that started this one may be gone, and nobody else would end this one.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(request["limit_s"]) + 2)
    problems = _send_all(request)
    try:
        os.write(answer, json.dumps(problems).encode())
    finally:
        os._exit(0)  # do not wait for threads that hang


def _be_quiet() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def _send_all(request: dict[str, Any]) -> list[str]:
    """Send to all addresses at once; return, for each, why it failed, or an empty string."""
    title, body, addresses = request["title"], request["body"], request["addresses"]
    pool = ThreadPoolExecutor(max_workers=max(1, len(addresses)))
    limit_s = request["limit_s"]
    tasks = [pool.submit(_send, address, title, body, limit_s) for address in addresses]
    wait(tasks, timeout=limit_s)
    return [task.result() if task.done() else _LATE for task in tasks]


def _send(address: str, title: str, body: str, limit_s: float) -> str:
    try:
        if address == _DESKTOP:
            return _desktop(title, body, limit_s)
        return _by_apprise((address,), title, body)
    except Exception as error:  # noqa: BLE001 (a plug-in may raise anything; its text may have a token)
        return f"it failed: {type(error).__name__}"


def _desktop(title: str, body: str, limit_s: float) -> str:
    """Show a desktop notification with the system's own program, or with Apprise if there is none.

    A program that hangs is killed within ``limit_s`` seconds: nobody else would end it later.
    """
    argv: list[str] = []
    if shutil.which("notify-send"):
        argv = ["notify-send", "--app-name=AgentMux", "--", title, body]
    elif sys.platform == "darwin" and shutil.which("osascript"):
        argv = ["osascript", "-e", _APPLESCRIPT, title, body]
    if argv:
        try:
            done = subprocess.run(  # noqa: TID251 (killed at once: nobody ends it after us)
                argv, stdin=subprocess.DEVNULL, check=False, timeout=limit_s / 2
            )
        except subprocess.TimeoutExpired:
            return f"{argv[0]} does not answer"
        return f"{argv[0]} failed with status {done.returncode}" if done.returncode else ""
    problem = _by_apprise(("dbus://", "gnome://", "macosx://", "windows://"), title, body)
    return _NO_DESKTOP if problem in {NO_APPRISE, _UNKNOWN} else problem


_UNKNOWN: Final = "Apprise does not know this kind of address, or it is incomplete"


def _by_apprise(urls: Sequence[str], title: str, body: str) -> str:
    """Send to the first of the URLs that Apprise can use here; return why it failed, or empty."""
    try:
        import apprise
    except ImportError:
        return NO_APPRISE
    for url in urls:
        service = apprise.Apprise.instantiate(url, suppress_exceptions=True)
        if service is not None and service.enabled:
            return _try_send(partial(service.notify, title=title, body=body))
    return _UNKNOWN


def _try_send(send: Callable[[], object]) -> str:
    """Call ``send``; return why it failed, according to Apprise's log in this thread, or empty."""
    here, messages = threading.get_ident(), []

    class Listener(logging.Handler):
        @override
        def emit(self, record: logging.LogRecord) -> None:
            if record.thread == here:
                messages.append(record.getMessage())

    listener = Listener()
    log = logging.getLogger("apprise")
    log.addHandler(listener)
    log.setLevel(logging.DEBUG)
    try:
        sent = send()
    finally:
        log.removeHandler(listener)
    return "" if sent else _why(" ".join(messages))


def _why(log: str) -> str:
    """Return the reason for a failure, worded so that it cannot contain a part of the address."""
    status = _STATUS.search(log)
    if status:
        return f"the server refused it (HTTP status {status[1]})"
    if "onnection error" in log or "Socket Exception" in log:
        return "the server cannot be reached, or does not answer"
    return "it was not accepted"


if __name__ == "__main__":
    main()
