"""Real CLIs in a pipeline that are killed with all other processes and resumed."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmux.adapters.config.agent_registry import load_registry
from agentmux.adapters.system.processes.processes import processes_with_variable
from agentmux.core.agents.command_lines import checkpoint_path, needs_hook_file
from agentmux.core.agents.screens import ScreenState, read_screen
from agentmux.core.agents.spec import StrategyKind, TurnEnd
from agentmux.core.config.settings import Settings
from agentmux.core.conversation.resume_record import ResumeRecord, decode_record
from agentmux.core.prompts.prompt import launch_line
from agentmux.ports.tmux.terminal import Pane
from tests.conftest import TEST_ID, WaitUntil
from tests.fakes.bench import Bench as TmuxTerminal
from tests.real.clis import CLIS, of
from tests.real.conftest import Real
from tests.real.model_server import UNKNOWN, Call
from tests.real.scenes import limited, subscribed, used_up

CODE_WORD = "PLUM-4711"
ARCHITECT = "architect"
TURN_S = 120.0
REGISTRY = load_registry(Settings())
BY_ID = [name for name in CLIS if REGISTRY[name].strategies[0].kind is not StrategyKind.CONTINUE]
"""Agents that resume by id; the others resume the latest conversation, or silently none."""


HANDS_IN = ("claude", "copilot")
"""Agents whose middle way (`edit_args`) lets them run our commands without asking."""


BEHIND = ("gemini",)
"""Agents that start with their prompt behind a dialog, which hides that they are busy."""


REPEATS = ("gemini",)
"""Agents that repeat the results of their tools in the request after a resume."""


class Run:
    """One session in which a real CLI plays one role, and the demo agent all others.

    Attributes:
        seat: The seat whose record, screen and events the methods return.
    """

    def __init__(
        self, real: Real, wait_until: WaitUntil, *, role: str = ARCHITECT, **settings: object
    ) -> None:
        self.real = real
        self.role = self.seat = role
        self.wait_until = wait_until
        entry = CLIS[real.name].settings or {}
        config = {
            "version": 1,
            "tmux": {"socket_name": "real", "size": [200, 60]},
            "snapshots": {"interval": "1s"},
            "agents": {real.name: dict(entry)} if entry else {},
            # A question within seconds would disturb what these tests type.
            "stall": {"turn_ended_after": "10m"},
            **settings,
        }
        folder = real.place.project / ".agentmux"
        folder.mkdir(exist_ok=True)
        (folder / "config.yaml").write_text(yaml.safe_dump(config))
        trusted = real.agentmux("trust", "--yes")
        assert trusted.returncode == 0, trusted.stderr
        self.path = Path()
        self.terminal = TmuxTerminal(str(real.folder / f"tmux-{os.getuid()}" / "real"))

    def start(self) -> None:
        self.real.let_it_answer()
        begun = self.real.asked(
            "start", "Greet whoever comes", "--agent", "demo", "--role",
            f"{self.role}={self.real.name}",
        )  # fmt: skip
        self.path = self.real.place.project / begun["path"]

    def at(self, seat: str) -> "Run":
        """Return the same session for another seat."""
        there = copy(self)
        there.seat = seat
        return there

    def tell_code_word(self, word: str = CODE_WORD) -> None:
        """Tell the agent, whose first turn has ended, a word that is in none of our files."""
        self.type(f"The code word is {word}. Keep it.")
        self.until(lambda: f"I know: {word}" in self.screen, "its second turn did not end")

    def first_turn(self) -> None:
        """Start the session, and wait until the agent has read its prompt and ended its turn."""
        self.real.model.run(*self.reading)
        self.start()
        self.first_turn_ends()

    def first_turn_ends(self) -> None:
        self.until(lambda: UNKNOWN in self.screen, "its first turn did not end")
        self.until(lambda: self.record.reached, "its prompt is not known to have arrived")

    @property
    def reading(self) -> tuple[str, ...]:
        """The commands by which an agent reads its prompt and does the first thing in it."""
        learns = self.real.spec.strategies[0].kind is StrategyKind.LEARN
        return ("cat {prompt}", *(("agentmux submit hello",) if learns else ()))

    def resume(self) -> None:
        done = self.real.agentmux("resume", "--yes", "--detach")
        assert done.returncode == 0, done.stdout + done.stderr

    # -- looking -----------------------------------------------------------------------------

    @property
    def state(self) -> dict[str, object]:
        found: dict[str, object] = json.loads((self.path / "state.json").read_text())
        return found

    @property
    def record(self) -> ResumeRecord:
        agents = self.state["agents"]
        assert isinstance(agents, dict)
        found = decode_record(agents[self.seat])
        assert found is not None
        return found

    def status(self) -> dict[str, str]:
        (session,) = self.real.asked("status")["sessions"]
        return next((each for each in session["seats"] if each["seat"] == self.seat), {})

    def events(self, kind: str) -> list[dict[str, Any]]:
        lines = (self.path / "tool_events.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in lines]
        return [each for each in found if each["event"] == kind and each["seat"] == self.seat]

    @property
    def pane(self) -> Pane | None:
        return next((pane for pane in self.panes if pane.seat == self.seat), None)

    @property
    def panes(self) -> list[Pane]:
        live = self.terminal.sessions()
        return [pane for each in live for pane in self.terminal.panes(each.id)]

    def _shown(self, pane: Pane | None) -> str:
        found = pane and self.terminal.capture([pane.id], colours=False).get(pane.id)
        return found.text if found else ""

    @property
    def screen(self) -> str:
        return self._shown(self.pane)

    @property
    def mark(self) -> ScreenState:
        return read_screen(self.real.spec, self.screen)

    @property
    def monitor(self) -> str:
        shown = " ".join(self._shown(pane) for pane in self.panes if not pane.launch)
        return " ".join(shown.split())  # undo the wrapping of lines

    def until(self, condition: Callable[[], object], what: str, deadline_s: float = TURN_S) -> None:
        self.wait_until(condition, deadline_s, lambda: f"{what}\n{self.report()}")

    def report(self) -> str:
        turns = [turn.summary for turn in self.real.model.seen]
        log = self.path / "orchestrator.log"
        return "\n".join(
            [
                "screen:",
                self.screen,
                "monitor:",
                self.monitor,
                "turns:",
                *(f"{each}: {each.read_text()}" for each in self.path.glob("launches/*/turn")),
                "requests:",
                *turns,
                "log:",
                log.read_text()[-4000:] if log.exists() else "no log",
            ]
        )

    # -- acting ------------------------------------------------------------------------------

    def type(self, text: str) -> None:
        """Type a text, and press Enter once the screen shows it."""
        pane = self.pane
        assert pane is not None
        tmux = ("tmux", "-S", self.terminal.socket)
        typed_at = 0.0

        def seen() -> bool:  # types again after 5 s, because keys can get lost
            nonlocal typed_at
            if text not in self.screen and time.monotonic() - typed_at > 5:
                self.real.run(*tmux, "send-keys", "-t", pane.id, "-l", text)
                typed_at = time.monotonic()
            return text in self.screen

        self.until(seen, "what was typed is not to be seen")
        # Some agents take an Enter that follows at once as a line end (gemini: within 30 ms).
        time.sleep(0.3)
        self.real.run(*tmux, "send-keys", "-t", pane.id, "Enter")

    def answer(self, key: str, done: Callable[[], object]) -> None:
        """Press a key while the agent asks, until ``done``; a busy agent loses some keys.

        There may be several questions: opencode also asks about a folder outside the project.
        """
        pressed_at = 0.0

        def is_done() -> bool:
            nonlocal pressed_at
            asks = self.mark in {ScreenState.WAITING, ScreenState.TRUST}
            if asks and time.monotonic() - pressed_at > 5:
                self.press(key)
                pressed_at = time.monotonic()
            return bool(done())

        self.until(is_done, "the answer did not let it go on")

    def press(self, *keys: str) -> None:
        """Press keys, named as tmux names them."""
        pane = self.pane
        assert pane is not None
        self.real.run("tmux", "-S", self.terminal.socket, "send-keys", "-t", pane.id, *keys)

    def kill(self, test_id: str) -> None:
        """End agents, wrappers, orchestrator and tmux server with SIGKILL, the agents first."""
        pids = [pid for pane in self.panes if pane.launch for pid in children(pane.pid)]
        assert pids
        for pid in (*pids, *(pane.pid for pane in self.panes), self.terminal.server().pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.until(
            lambda: processes_with_variable(f"{TEST_ID}={test_id}") == (),
            "something outlived the kill",
        )


def may_ask(real: Real, name: str) -> dict[str, dict[str, list[str]]]:
    """Prepare an agent that asks before it acts; return the settings of the agents."""
    real.env = dict(CLIS[name].prepare(replace(real.place, asking=True)))
    return {name: {"permission_args": list(CLIS[name].asks or ())}}


def asked_for(name: str, command: str) -> str | Call:
    """Return a step of the model before which the agent asks: codex only if the call says so."""
    if name != "codex":
        return command
    outside = {"sandbox_permissions": "require_escalated", "justification": "May I?"}
    return Call(tools=("exec_command",), arguments={"cmd": command, **outside})


def architecture(run: Run) -> str:
    """Return the command that does an architect's work and hands it in."""
    artifact = run.path / "02_architecting" / "architecture.md"
    text = "# Greeting\\n\\nSay hello.\\n"
    return (
        f"mkdir -p {artifact.parent} && printf '{text}' >{artifact} && agentmux submit architecture"
    )


def children(pid: int) -> tuple[int, ...]:
    """Return all processes below ``pid``, also those that other threads started."""
    direct: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # it has ended meanwhile
            direct += map(int, path.read_text().split())
    return tuple(each for child in direct for each in (child, *children(child)))


def comes_back(run: Run, word: str = "") -> None:
    """Resume a session without agents, and check that the agent has the same conversation.

    The agent gets only the message to continue, not its first prompt, and hands in its work.
    """
    model, told, before = run.real.model, run.record, len(run.real.model.turns)
    by_id = "{session_id}" in " ".join(run.real.spec.strategies[0].resume)
    (dry,) = run.real.asked("resume", "--dry-run")["sessions"]
    (pane,) = dry["panes"]
    assert (dry["phase"], pane["mode"]) == ("architecting", "native"), pane["reason"]
    assert not by_id or str(told.session_ref) in " ".join(pane["argv"])
    assert pane["prompt_bytes"] < pane["fresh_prompt_bytes"]

    model.run("cat {prompt}", architecture(run))
    run.resume()
    run.until(lambda: len(model.turns) > before, "it asked nothing after the resume")
    first, last = run.events("agent_launched")
    assert not word or word in model.turns[before].code_words
    assert line(run, first) in model.turns[before].text
    assert line(run, last) in model.turns[before].text

    run.until(lambda: run.state["phase"] != "architecting", "its work was not accepted")
    assert [each["payload"]["mode"] for each in (first, last)] == ["fresh", "native"]
    assert len(run.events("submit_architecture")) == 1
    assert len(run.events("agent_launched")) == 2
    assert_prompted_once(run, before)


def assert_prompted_once(run: Run, before: int) -> None:
    """Check that the first launch's prompt, and the line that names it, were not sent again."""
    turns = run.real.model.turns
    first, last = (each["launch"] for each in run.events("agent_launched"))
    rows = set(prompt(run, first).splitlines()) - set(prompt(run, last).splitlines())
    known = [row for row in rows if len(row) > 50 and as_json(row) in turns[before - 1].text]
    assert known, "it never read its prompt"
    once = [line(run, {"launch": first}), *map(as_json, known)]
    told, *after = ([turn.text.count(each) for each in once] for turn in turns[before - 1 :])
    assert told[0] == 1
    if run.real.name in REPEATS:
        told = [told[0], *after[0][1:]]
    assert after == [told] * len(after)


def line(run: Run, launched: dict[str, Any]) -> str:
    """Return the line that tells a launch to read its prompt."""
    return launch_line(str(run.path / "launches" / launched["launch"] / "prompt.md"))


def prompt(run: Run, launch: str) -> str:
    return (run.path / "launches" / launch / "prompt.md").read_text()


def as_json(text: str) -> str:
    """Return a text as it is inside a JSON request."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


@pytest.mark.parametrize("name", of("resumed"))
@pytest.mark.proves("resumed")
@pytest.mark.timeout(480)
def test_its_conversation_survives_the_death_of_everything(
    name: str, real: Real, wait_until: WaitUntil, isolated: str
) -> None:
    run, model = Run(real, wait_until), real.model
    run.first_turn()
    run.tell_code_word()
    if real.spec.mcp is not None:  # our MCP server runs, and offers the architect's tools
        assert "submit_architecture" in model.turns[-1].text
    by_id = "{session_id}" in " ".join(real.spec.strategies[0].resume)
    assert (run.record.session_ref is not None) == by_id
    assert run.record.reached == 1
    run.kill(isolated)
    comes_back(run, CODE_WORD)


@pytest.mark.parametrize("name", of("hangup"))
@pytest.mark.proves("hangup")
@pytest.mark.timeout(480)
def test_a_hang_up_ends_no_agent_and_costs_no_conversation(
    name: str, real: Real, wait_until: WaitUntil, isolated: str
) -> None:
    run = Run(real, wait_until)
    run.first_turn()
    run.tell_code_word()
    pane = run.pane
    attached_until_the_line_drops(run)
    assert pane is not None
    assert run.pane is not None
    assert (run.pane.pid, run.pane.dead) == (pane.pid, False)
    run.until(lambda: run.status()["status"] in {"idle", "unknown"}, "it is said to be at work")

    # An orderly end of the server, in which every pane gets SIGHUP.
    run.real.run("tmux", "-S", run.terminal.socket, "kill-server")
    run.until(
        lambda: processes_with_variable(f"{TEST_ID}={isolated}") == (),
        "something outlived the hang-up",
    )
    comes_back(run, CODE_WORD)


def attached_until_the_line_drops(run: Run) -> None:
    """Attach on a separate terminal, as through ssh, and close that terminal."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "agentmux", "attach"],
        cwd=run.real.place.project,
        env={**run.real.environment, "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (no threads)
    ) as client:
        os.close(theirs)
        run.until(lambda: any(each.attached for each in run.terminal.sessions()), "not attached")
        os.close(ours)
        client.wait(20)
    run.until(lambda: not any(each.attached for each in run.terminal.sessions()), "still attached")


@pytest.mark.parametrize("name", of("midway"))
@pytest.mark.proves("midway")
@pytest.mark.timeout(480)
def test_its_conversation_survives_a_kill_in_the_middle_of_a_command(
    name: str, real: Real, wait_until: WaitUntil, isolated: str
) -> None:
    run, begun = Run(real, wait_until), real.folder / "begun"
    run.first_turn()
    real.model.run(f"touch {begun}; sleep 60; touch {begun}.done")
    run.type("Now run the long command.")
    run.until(begun.exists, "it did not run the command")
    run.kill(isolated)
    comes_back(run)
    assert not begun.with_suffix(".done").exists()


@pytest.mark.parametrize("name", of("pair"))
@pytest.mark.proves("pair")
@pytest.mark.timeout(480)
def test_two_at_once_get_their_own_conversations_back(
    name: str, real: Real, wait_until: WaitUntil, isolated: str
) -> None:
    scenario = real.folder / "scenario.json"
    scenario.write_text(json.dumps({"roles": {"planner": {"plan": {"parts": 2}}}}))
    real.env["AGENTMUX_DEMO_SCENARIO"] = str(scenario)
    run, model = Run(real, wait_until, role="coder"), real.model
    model.each(*run.reading)
    run.start()
    words = {"coder-1": "PLUM-4711", "coder-2": "PEAR-1812"}
    for seat in words:
        run.at(seat).first_turn_ends()
    for seat, word in words.items():
        run.at(seat).tell_code_word(word)
    before = len(model.turns)
    run.kill(isolated)

    latest = name not in BY_ID  # of two parallel agents, either may own the latest one
    (dry,) = real.asked("resume", "--dry-run")["sessions"]
    for pane in dry["panes"]:
        assert pane["mode"] == ("fresh" if latest else "native"), pane["reason"]
        assert ("ran beside it" in pane["reason"]) == latest
    model.each("cat {prompt}", "agentmux submit done --subplan $AGENTMUX_SUBPLAN")
    run.resume()
    run.until(lambda: run.state["phase"] != "implementing", "their work was not accepted", 90)
    after = model.turns[before:]
    for seat, word in words.items():
        first, last = run.at(seat).events("agent_launched")
        turn = next(each for each in after if line(run, last) in each.text)
        assert turn.code_words == (() if latest else (word,))
        assert (line(run, first) in turn.text) == (not latest)
        assert len(run.at(seat).events("submit_done")) == 1


@pytest.mark.parametrize("name", of("lost"))
@pytest.mark.proves("lost")
@pytest.mark.timeout(480)
def test_a_conversation_that_is_gone_begins_afresh(
    name: str, real: Real, wait_until: WaitUntil, isolated: str
) -> None:
    run, model = Run(real, wait_until), real.model
    run.first_turn()
    before, lost = len(model.turns), run.record
    run.kill(isolated)
    real.forget()
    for kept in run.path.glob(f"checkpoints/{ARCHITECT}/*"):
        kept.unlink()

    run.resume()
    run.until(lambda: len(model.turns) > before, "it asked nothing after the resume")

    events = run.events("agent_launched")
    modes = [each["payload"]["mode"] for each in events]
    if checkpoint_path(
        real.spec.strategies[0], lost.session_ref, "/x"
    ):  # noticed before the launch
        assert modes == ["fresh", "fresh"]
        why = "the checkpoint of the conversation is missing"
    else:
        assert modes == ["fresh", "native", "fresh"]
        assert run.events("agent_exited")[-1]["payload"]["cause"] == "rejected"
        why = "the agent has rejected this conversation before"
    last = events[-1]["payload"]
    assert last["prompt_bytes"] == last["fresh_prompt_bytes"]
    assert run.record.session_ref != lost.session_ref
    assert f"launches/{events[-1]['launch']}/prompt.md" in model.turns[before].text
    assert f"launches/{events[0]['launch']}/prompt.md" not in model.turns[before].text
    assert run.status()["mode"] == "fresh"
    assert run.status()["reason"] == why


@pytest.mark.parametrize("name", of("left"))
@pytest.mark.proves("left")
@pytest.mark.timeout(480)
def test_a_conversation_that_its_user_left_is_followed_or_unsure(
    name: str, real: Real, wait_until: WaitUntil, isolated: str
) -> None:
    run, spec = Run(real, wait_until), real.spec
    run.first_turn()
    before = run.record.session_ref
    command, *keys = CLIS[name].leaves
    run.type(command)
    # It reports its new id, with a hook or in its next agentmux command.
    if spec.switched is None or spec.hooks is not None:
        run.until(lambda: UNKNOWN not in run.screen or keys, "it went on as before")
        run.press(*keys) if keys else None
        run.until(lambda: run.mark is not ScreenState.WAITING, "it still asks")
        if needs_hook_file(spec):  # qwen reads no keys while its hook runs
            run.until(lambda: run.record.session_ref not in {None, before}, "its hook is silent")
        learns = spec.strategies[0].kind is StrategyKind.LEARN
        real.model.run(*(["agentmux submit hello"] if learns else []))
        run.type("Say hello.")
        run.until(lambda: run.record.session_ref not in {None, before}, "nothing was learned")
        # Who says the hello that our prompt asks for has got the prompt from its user.
        wanted = ("native", "got 1 prompt") if learns else ("fresh", "no prompt had reached")
    else:
        run.until(lambda: run.record.unsure, "nothing was noticed")
        wanted = ("fresh", "unsure")

    run.kill(isolated)
    ((pane,),) = (each["panes"] for each in real.asked("resume", "--dry-run")["sessions"])
    assert (pane["mode"], wanted[1] in pane["reason"]) == (wanted[0], True), pane["reason"]


@pytest.mark.parametrize("name", of("permits"))
@pytest.mark.proves("permits")
@pytest.mark.timeout(480)
def test_a_question_before_a_command_is_left_to_the_user(
    name: str, real: Real, wait_until: WaitUntil
) -> None:
    run = Run(
        real,
        wait_until,
        agents=may_ask(real, name),
        stall={"turn_ended_after": "1s", "nudge_after": "15s", "report_after": "16s"},
    )
    ran = real.folder / "ran"
    real.model.run(asked_for(name, f"touch {ran}"))
    run.start()
    run.until(lambda: run.mark is ScreenState.WAITING, "it does not ask")
    run.until(lambda: run.status().get("status") == "waiting_for_user", "that is not seen")
    quiet = time.monotonic() + 18  # well beyond the time after which a quiet agent is reminded
    run.until(lambda: time.monotonic() > quiet, "time stands still", 30)
    assert run.mark is ScreenState.WAITING, f"somebody answered\n{run.report()}"
    assert run.events("agent_nudged") == run.events("agent_stalled") == []
    assert not ran.exists()
    run.answer("Enter", ran.exists)  # the first choice allows the command once
    run.until(lambda: run.status()["status"] != "waiting_for_user", "it is still said to ask")


@pytest.mark.parametrize("name", ["claude", "codex"])
@pytest.mark.proves("answered")
@pytest.mark.timeout(480)
def test_the_user_answers_a_question_and_tells_something_from_the_shell(
    name: str, real: Real, wait_until: WaitUntil
) -> None:
    run = Run(real, wait_until, agents=may_ask(real, name))
    ran = real.folder / "ran"
    real.model.run(asked_for(name, f"echo >>{ran}"))
    run.start()
    run.until(lambda: run.status().get("status") == "waiting_for_user", "that is not seen")
    role = ("--role", ARCHITECT)
    said = real.agentmux("tell", *role, "--json", "Hello.")
    assert (said.returncode, json.loads(said.stdout)["result"]) == (3, "refused_dialog")
    ((screen,),) = (each["screens"] for each in real.asked("show", *role)["sessions"])
    keys = ("Down", "Up", "Enter")  # the first choice allows the command once
    late = real.agentmux("answer", *role, *keys, "--screen", "0" * 16, "--json")
    assert (late.returncode, json.loads(late.stdout)["result"]) == (3, "screen_changed")
    assert not ran.exists()
    done = real.asked("answer", *role, *keys, "--screen", screen["digest"])
    assert done["result"] == "sent", run.report()
    run.until(ran.exists, "the answer did not let it go on")
    again = real.agentmux("answer", *role, *keys, "--screen", screen["digest"], "--json")
    assert (again.returncode, json.loads(again.stdout)["result"]) == (3, "screen_changed")
    run.until(lambda: run.status().get("status") == "idle", "its turn did not end")
    told = real.asked("tell", *role, f"The code word is {CODE_WORD}. Keep it.")
    assert told["result"] == "submitted", run.report()
    run.until(lambda: f"I know: {CODE_WORD}" in run.screen, "it did not answer")
    short = real.asked("tell", *role, "ok")
    assert short["result"] == "submitted", run.report()
    assert ran.read_text() == "\n"


@pytest.mark.parametrize("name", of("dialogs"))
@pytest.mark.proves("dialogs")
@pytest.mark.timeout(480)
def test_a_first_run_dialog_is_left_to_the_user(
    name: str, real: Real, wait_until: WaitUntil
) -> None:
    real.env = dict(CLIS[name].prepare(replace(real.place, trusted=False)))
    run = Run(real, wait_until, stall={"nudge_after": "10s", "report_after": "11s"})
    run.start()
    run.until(lambda: run.status().get("status") == "waiting_for_user", "no dialog was recognised")
    run.until(lambda: run.mark is ScreenState.TRUST, "it does not stand")
    told = real.agentmux("status").stdout
    assert "waiting for you" in told
    assert "next: agentmux answer " in told
    run.until(lambda: " asks" in run.monitor, "the monitor does not tell", 15)
    # Well beyond the time after which a quiet agent is reminded.
    quiet = time.monotonic() + 14
    run.until(lambda: time.monotonic() > quiet, "time stands still", 20)
    run.until(lambda: run.mark is ScreenState.TRUST, "somebody answered")
    assert run.events("agent_nudged") == run.events("agent_stalled") == []
    assert run.events("prompt_reached") == []
    assert len(real.model.turns) == (1 if name in BEHIND else 0)

    run.press(*CLIS[name].trust)
    run.until(lambda: real.model.turns, "the answer did not bring the prompt on its way")
    if name not in BEHIND:
        run.until(lambda: run.record.reached, "its prompt is not known to have arrived")
    run.until(lambda: run.status()["status"] != "waiting_for_user", "the dialog is still reported")


@pytest.mark.parametrize("name", of("asked"))
@pytest.mark.proves("asked")
@pytest.mark.timeout(480)
def test_a_turn_that_ended_without_a_signal_is_asked_about(
    name: str, real: Real, wait_until: WaitUntil
) -> None:
    spec = real.spec
    says = spec.turn_end is not TurnEnd.SCREEN
    waits = {"turn_ended_after": "4s" if says else "1s"}
    run, model = Run(real, wait_until, stall=waits), real.model
    run.first_turn()
    before, ended = len(model.turns), time.time()
    model.run(architecture(run))
    run.until(lambda: run.events("agent_nudged"), "it was not asked", 30)
    assert run.events("agent_nudged")[0]["payload"]["result"] in {"submitted", "queued"}
    run.until(lambda: len(model.turns) > before, "the question did not arrive")
    assert "your work is not handed in yet" in model.turns[before].text
    assert 3 < model.turns[before].at - ended < 30
    run.until(lambda: run.state["phase"] != "architecting", "its work was not accepted")
    assert len(run.events("agent_nudged")) == 1


@pytest.mark.parametrize("name", of("limits"))
@pytest.mark.proves("limits")
@pytest.mark.timeout(480)
def test_a_usage_limit_is_waited_out(name: str, real: Real, wait_until: WaitUntil) -> None:
    """The first turn is refused until a full minute, as the screen says; then it goes on."""
    if name == "claude":
        real.env = dict(CLIS[name].prepare(real.place))
        subscribed(real.place, real.env)
    run, model = Run(real, wait_until, limits={"retry": "10m"}), real.model
    resets = int(time.time() + 45) // 60 * 60 + 60
    refuse = limited("five_hour", resets=resets) if name == "claude" else used_up(resets_at=resets)
    refuse(model)
    run.start()
    run.until(lambda: run.events("agent_parked"), "its limit was not recognised")
    parked = run.events("agent_parked")[0]["payload"]
    until = datetime.fromisoformat(parked["until"]).timestamp()
    assert until == resets, f"{parked}\n{run.screen}"
    run.until(lambda: run.status().get("parked_until") == parked["until"], "status says nothing")
    assert "limit until" in real.agentmux("status").stdout
    run.until(lambda: "limit until" in run.monitor, "the monitor says nothing", 15)

    model.refusal = None
    before = len(model.turns)
    model.run(architecture(run))
    run.until(lambda: run.state["phase"] != "architecting", "it did not go on")
    woken, *seen_at_work = run.events("agent_woken")
    assert woken["payload"]["how"] == "told"
    assert {each["payload"]["how"] for each in seen_at_work} <= {"busy"}
    assert datetime.fromisoformat(woken["at"]).timestamp() >= until
    assert "your usage limit should be over" in model.turns[before].text
    assert len(run.events("agent_launched")) == 1
    assert [each["payload"] for each in run.events("agent_parked")] == [parked], run.screen
    assert run.events("agent_nudged") == run.events("agent_stalled") == []


@pytest.mark.parametrize("name", of("outside"))
@pytest.mark.proves("outside")
@pytest.mark.timeout(480)
def test_an_agent_in_a_worktree_writes_in_the_sessions_directory_without_asking(
    name: str, real: Real, wait_until: WaitUntil
) -> None:
    """The agent may write in its workspace only, to which ``add_dir`` adds that directory."""
    place = real.folder / "project-worktrees" / "greet-whoever-comes"
    real.env = dict(CLIS[name].prepare(replace(real.place, project=place)))
    run = Run(
        real,
        wait_until,
        agents={name: {"permission_args": list(CLIS[name].edits)}},
        git={"worktree": "always"},
    )
    run.start()
    assert run.state["worktree"] == str(place)
    if CLIS[name].adds:
        run.until(lambda: run.mark is ScreenState.TRUST, "it does not ask about the directory")
        run.until(lambda: run.status().get("status") == "waiting_for_user", "that is not seen")
        *moves, enter = CLIS[name].adds
        for key in moves:
            run.answer(key, lambda: "\u276f Yes" in run.screen)
        run.answer(enter, lambda: run.mark is not ScreenState.TRUST)
    run.first_turn_ends()
    artifact = run.path / "02_architecting" / "architecture.md"
    text = "# Greeting"
    tool, *arguments = CLIS[name].writer or ("",)
    written = dict(zip(arguments, (str(artifact), text), strict=bool(tool)))
    real.model.run(
        Call(tools=(tool,), arguments=written) if tool else f"printf '{text}' > {artifact}"
    )
    run.type("Write it.")

    def is_written() -> bool:
        return artifact.exists() and artifact.read_text() == text

    run.until(lambda: is_written() or run.mark is ScreenState.WAITING, "it wrote nothing")
    assert is_written(), f"it asks\n{run.report()}"
    if name not in HANDS_IN:
        return
    real.model.run("agentmux submit architecture")
    run.type("Hand it in.")

    def goes_on() -> bool:
        return bool(run.state["phase"] != "architecting")

    run.until(lambda: goes_on() or run.mark is ScreenState.WAITING, "it did not hand in")
    assert goes_on(), f"it asks\n{run.report()}"
