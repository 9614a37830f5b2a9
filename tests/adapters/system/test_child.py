"""Programs that are run to their end: real ones, also such as write or wait without end."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.child import (
    LAST_WORDS,
    Child,
    TooMuchOutputError,
    describe_command,
    end,
    start,
    whole,
)
from tests.conftest import WaitUntil

LIMIT_S = 30.0
PYTHON = sys.executable


def shell(script: str, **more: object) -> Child:
    return Child(argv=["sh", "-c", script], **{"limit_s": LIMIT_S, **more})  # type: ignore[arg-type]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_its_status_and_both_outputs_are_returned() -> None:
    found = shell("cat; echo no >&2; exit 3", stdin=b"yes").run()
    assert (found.status, found.out, found.err) == (3, b"yes", b"no\n")


def test_what_a_signal_ends_has_its_number() -> None:
    assert shell("kill -9 $$").run().status == -signal.SIGKILL


def test_both_outputs_may_be_kept_as_one_in_their_order() -> None:
    found = shell("echo 1; echo 2 >&2; echo 3", err=None).run()
    assert (found.out, found.err) == (b"1\n2\n3\n", b"")


def test_more_than_a_pipe_holds_goes_in_and_out_at_once() -> None:
    data = os.urandom(1 << 20)
    assert shell("cat", stdin=data).run().out == data


def test_a_program_that_does_not_read_its_input_is_no_error() -> None:
    assert shell("exec <&-; exit 0", stdin=b"x" * (1 << 20)).run().status == 0


def test_without_input_it_reads_the_end_at_once() -> None:
    assert shell("cat").run().out == b""


@pytest.mark.parametrize(
    ("keep", "kept"), [(start(3), b"123"), (end(3), b"789"), (whole(9), b"123456789")]
)
def test_of_an_output_that_part_is_kept(keep: object, kept: bytes) -> None:
    assert shell("printf 123456789", out=keep).run().out == kept


def test_the_end_of_what_it_says_of_its_work_is_kept() -> None:
    script = f"head -c {3 * LAST_WORDS} /dev/zero >&2; echo the reason >&2; exit 1"
    said = shell(script).run().err
    assert len(said) == LAST_WORDS
    assert said.endswith(b"\0the reason\n")


def test_what_writes_without_end_is_ended_and_takes_no_memory() -> None:
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TooMuchOutputError, match="`yes more` wrote more than 1000000 bytes"):
        Child(argv=["yes", "more"], limit_s=LIMIT_S, out=whole(1_000_000)).run()
    with pytest.raises(subprocess.TimeoutExpired):
        Child(argv=["yes"], limit_s=1, out=end(1000)).run()
    assert time.monotonic() - began < LIMIT_S / 2
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kb < 20_000


def test_what_takes_too_long_is_ended_with_all_that_it_started(
    tmp_path: Path, wait_until: WaitUntil
) -> None:
    script = f"trap '' TERM; sleep 600 & echo $! > {tmp_path}/pid; wait"
    with pytest.raises(subprocess.TimeoutExpired):
        shell(script, limit_s=0.5).run()
    pid = int((tmp_path / "pid").read_text())
    wait_until(lambda: not is_running(pid))


def test_what_it_leaves_running_holds_nobody_up(tmp_path: Path) -> None:
    began = time.monotonic()
    found = shell(f"sleep 600 & echo $! > {tmp_path}/pid; echo done").run()
    assert found.out == b"done\n"
    assert time.monotonic() - began < LIMIT_S / 2
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_what_is_to_leave_nothing_running_does_not(tmp_path: Path, wait_until: WaitUntil) -> None:
    shell(f"sleep 600 & echo $! > {tmp_path}/pid", leaves_none=True).run()
    pid = int((tmp_path / "pid").read_text())
    wait_until(lambda: not is_running(pid))


def test_it_has_no_terminal_and_its_own_group() -> None:
    script = "import os; print(os.getsid(0) == os.getpid() == os.getpgid(0))"
    assert Child(argv=[PYTHON, "-c", script], limit_s=LIMIT_S).run().out == b"True\n"


def test_descriptors_may_be_inherited(tmp_path: Path) -> None:
    with (tmp_path / "kept").open("wb") as kept:
        fd = kept.fileno()
        script = f"import os; os.write({fd}, b'here\\n')"
        found = Child(argv=[PYTHON, "-c", script], limit_s=LIMIT_S, keep_open=(fd,)).run()
    assert (found.status, (tmp_path / "kept").read_text()) == (0, "here\n")


def test_descriptors_are_closed_afterwards() -> None:
    shell("true").run()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        shell("cat", stdin=b"x").run()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_program_is_named_without_its_values() -> None:
    assert describe_command(["/usr/bin/gh", "issue", "secret"]) == "gh issue"
    assert describe_command([b"git", b"-c"]) == "git"
