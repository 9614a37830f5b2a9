"""Starts the helper process that sends a message, and reads its results."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from threading import Timer
from typing import IO, Final

from agentmux.adapters.system.processes.child import pipes_of
from agentmux.core.config.settings import Address
from agentmux.ports.notifier import Notification, SendResult

HELPER: Final = (sys.executable, "-P", "-m", "agentmux.adapters.notify.helper")
LIMIT_S: Final = 15.0
_GRACE_S: Final = 3.0
_ANSWER_MAX: Final = 65_536
_NO_ANSWER: Final = "the helper process was ended, or said nothing that can be read"


class HelperProcess:
    """Sends messages with helper processes; implements `ports.notifier.Notifier`.

    A helper runs in a process session of its own, so it continues if this process or its terminal
    ends. It limits its own time; if it does not, it is killed.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        argv: Sequence[str] = HELPER,
        limit_s: float = LIMIT_S,
        grace_s: float = _GRACE_S,
    ) -> None:
        """Prepare to send; this starts nothing.

        Args:
            environ: The environment of the helpers.
            argv: The command line of a helper.
            limit_s: The time limit that a helper keeps itself, in seconds.
            grace_s: Seconds after that limit until the helper is killed.
        """
        self._environ = environ
        self._argv = argv
        self._limit_s = limit_s
        self._grace_s = grace_s

    def send(
        self,
        message: Notification,
        addresses: Sequence[Address],
        handed_over: Callable[[], None] = lambda: None,
    ) -> tuple[SendResult, ...]:
        """Send ``message`` to each address; return a result for each, in the same order.

        It waits for all results, by default at most 18 seconds. It does not raise if a message
        could not be sent: the result says why.

        Args:
            message: The message.
            addresses: Where to send it.
            handed_over: Called as soon as the helper process has the message, which is then sent
                even if this process ends. It is called once more before this call returns, also if
                the helper could not be started.
        """
        request = {
            **asdict(message),
            "addresses": [each.value for each in addresses],
            "limit_s": self._limit_s,
        }
        try:
            problems = self._problems(json.dumps(request).encode(), len(addresses), handed_over)
        except OSError as error:
            problems = [f"the helper process cannot be started: {error.strerror}"] * len(addresses)
        finally:
            handed_over()
        pairs = zip(addresses, problems, strict=True)
        return tuple(SendResult(address=address, problem=problem) for address, problem in pairs)

    def _problems(
        self, request: bytes, number: int, handed_over: Callable[[], None]
    ) -> Sequence[str]:
        with subprocess.Popen(
            self._argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(self._environ),
            cwd="/",
            start_new_session=True,
        ) as helper:
            stdin, stdout = pipes_of(helper)
            limit = Timer(self._limit_s + self._grace_s, helper.kill)
            limit.daemon = True
            limit.start()
            try:
                _write(stdin, request)
                handed_over()
                return _answer(stdout.read(_ANSWER_MAX), number)
            finally:
                limit.cancel()
                helper.kill()


def _write(stream: IO[bytes], data: bytes) -> None:
    with suppress(BrokenPipeError):  # the helper has ended; its missing answer tells that
        stream.write(data)
        stream.flush()
    with suppress(BrokenPipeError):
        stream.close()


def _answer(data: bytes, number: int) -> Sequence[str]:
    """Return why each of ``number`` addresses failed, according to the helper's answer ``data``."""
    with suppress(ValueError):
        problems = json.loads(data)
        if isinstance(problems, list) and len(problems) == number:
            return [each if isinstance(each, str) else _NO_ANSWER for each in problems]
    return [_NO_ANSWER] * number
