"""A real CLI as the architect of a pipeline: killed with everything around it, and brought back."""

import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmux.adapters.processes import carriers
from agentmux.adapters.tmux import TmuxTerminal
from agentmux.core.agents import StrategyKind, TurnEnd
from agentmux.core.command_lines import kept_file, needs_hook_file
from agentmux.core.resume_record import ResumeRecord, decode_record
from agentmux.core.screens import ScreenMark, read_screen
from agentmux.ports.terminal import Pane
from tests.conftest import TEST_ID, WaitUntil
from tests.real.clis import CLIS
from tests.real.conftest import Real
from tests.real.model_server import UNKNOWN

CODE_WORD = "PLUM-4711"
ARCHITECT = "architect"
TURN_S = 60.0
SLOW = ("opencode",)
"""Without a network some of its turns take longer than a test may."""

BEHIND = ("gemini",)
"""Goes on with its prompt while its dialog stands, and hides that it is busy."""


class Run:
    """One session whose architect is a real CLI; every other role is the offline agent."""

    def __init__(self, real: Real, wait_until: WaitUntil, **settings: object) -> None:
        self.real = real
        self.wait_until = wait_until
        entry = CLIS[real.name].settings or {}
        config = {
            "version": 1,
            "tmux": {"socket_name": "real", "size": [200, 60]},
            "snapshots": {"interval": "1s"},
            "agents": {real.name: dict(entry)} if entry else {},
            # A question within seconds would come between what these tests type.
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
        begun = self.real.asked(
            "start", "Greet whoever comes", "--agent", "demo", "--role",
            f"{ARCHITECT}={self.real.name}",
        )  # fmt: skip
        self.path = self.real.place.project / begun["path"]

    def tell_code_word(self) -> None:
        """Start, let the agent read its prompt, then tell it what no file of ours holds."""
        self.first_turn()
        self.type(f"The code word is {CODE_WORD}. Keep it.")
        self.until(lambda: f"I know: {CODE_WORD}" in self.screen, "its second turn did not end")

    def first_turn(self) -> None:
        """Start, and let the agent do what one does that reads its prompt."""
        learns = self.real.spec.strategies[0].kind is StrategyKind.LEARN
        self.real.model.run("cat {prompt}", *(["agentmux submit hello"] if learns else []))
        self.start()
        self.until(lambda: UNKNOWN in self.screen, "its first turn did not end")
        self.until(lambda: self.record.reached, "its prompt is not known to have arrived")

    def resume(self) -> None:
        done = self.real.agentmux("resume", "--yes", "--detach")
        assert done.returncode == 0, done.stdout + done.stderr

    # -- what is seen ------------------------------------------------------------------------

    @property
    def state(self) -> dict[str, object]:
        found: dict[str, object] = json.loads((self.path / "state.json").read_text())
        return found

    @property
    def record(self) -> ResumeRecord:
        agents = self.state["agents"]
        assert isinstance(agents, dict)
        found = decode_record(agents[ARCHITECT])
        assert found is not None
        return found

    def status(self) -> dict[str, str]:
        (session,) = self.real.asked("status")["sessions"]
        return next((each for each in session["seats"] if each["seat"] == ARCHITECT), {})

    def events(self, kind: str) -> list[dict[str, Any]]:
        lines = (self.path / "tool_events.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in lines]
        return [each for each in found if each["event"] == kind and each["seat"] == ARCHITECT]

    @property
    def pane(self) -> Pane | None:
        live = self.terminal.sessions()
        panes = [pane for each in live for pane in self.terminal.panes(each.id)]
        return next((pane for pane in panes if pane.seat == ARCHITECT), None)

    def _shown(self, pane: Pane | None) -> str:
        found = pane and self.terminal.capture([pane.id], colours=False).get(pane.id)
        return found.text if found else ""

    @property
    def screen(self) -> str:
        return self._shown(self.pane)

    @property
    def mark(self) -> ScreenMark:
        return read_screen(self.real.spec, self.screen)

    @property
    def monitor(self) -> str:
        live = self.terminal.sessions()
        panes = [pane for each in live for pane in self.terminal.panes(each.id)]
        shown = " ".join(self._shown(pane) for pane in panes if not pane.launch)
        return " ".join(shown.split())  # it wraps

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

    # -- what is done ------------------------------------------------------------------------

    def type(self, text: str) -> None:
        """Type as a person would: the text, then Enter when it stands there."""
        pane = self.pane
        assert pane is not None
        tmux = ("tmux", "-S", self.terminal.socket)
        typed_at = 0.0

        def seen() -> bool:  # who is told nothing of a key that got lost types it again
            nonlocal typed_at
            if text not in self.screen and time.monotonic() - typed_at > 5:
                self.real.run(*tmux, "send-keys", "-t", pane.id, "-l", text)
                typed_at = time.monotonic()
            return text in self.screen

        self.until(seen, "what was typed is not to be seen")
        # Nothing shows it, but an Enter that follows at once is a line end to some (gemini: 30 ms).
        time.sleep(0.3)
        self.real.run(*tmux, "send-keys", "-t", pane.id, "Enter")

    def press(self, *keys: str) -> None:
        """Press keys, named as tmux names them."""
        pane = self.pane
        assert pane is not None
        self.real.run("tmux", "-S", self.terminal.socket, "send-keys", "-t", pane.id, *keys)

    def kill(self, test_id: str) -> None:
        """End agent, wrapper, orchestrator and tmux server with SIGKILL, the agent first."""
        pane = self.pane
        assert pane is not None
        server = self.terminal.server().pid
        for pid in (*children(pane.pid), pane.pid, server):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.until(lambda: carriers(f"{TEST_ID}={test_id}") == (), "something outlived the kill")


def architecture(run: Run) -> str:
    """Return the command that does an architect's work, and hands it in."""
    artifact = run.path / "02_architecting" / "architecture.md"
    text = "# Greeting\\n\\nSay hello.\\n"
    return (
        f"mkdir -p {artifact.parent} && printf '{text}' >{artifact} && agentmux submit architecture"
    )


def children(pid: int) -> tuple[int, ...]:
    """Return all processes below ``pid``."""
    try:
        direct = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended since
        return ()
    return tuple(each for word in direct for each in (int(word), *children(int(word))))


@pytest.mark.parametrize("name", [name for name in CLIS if name not in SLOW])
@pytest.mark.proves("resumed")
@pytest.mark.timeout(240)
def test_its_conversation_survives_the_death_of_everything(
    name: str, real: Real, wait_until: WaitUntil, isolated: str
) -> None:
    run, model = Run(real, wait_until), real.model
    run.tell_code_word()
    before, told = len(model.turns), run.record
    if real.spec.mcp is not None:  # our server was started, and knew whose calls it would take
        assert "submit_architecture" in model.turns[-1].text
    by_id = "{session_id}" in " ".join(real.spec.strategies[0].resume)
    assert (told.session_ref is not None) == by_id
    assert told.reached == 1

    run.kill(isolated)
    (dry,) = real.asked("resume", "--dry-run")["sessions"]
    (pane,) = dry["panes"]
    assert (dry["phase"], pane["mode"]) == ("architecting", "native"), pane["reason"]
    assert not by_id or str(told.session_ref) in " ".join(pane["argv"])

    model.run(architecture(run))
    run.resume()
    run.until(lambda: len(model.turns) > before, "it asked nothing after the resume")
    after = model.turns[before]
    first, last = run.events("agent_launched")
    assert CODE_WORD in after.code_words
    assert f"launches/{first['launch']}/prompt.md" in after.text
    assert f"launches/{last['launch']}/prompt.md" in after.text

    run.until(lambda: run.state["phase"] != "architecting", "its work was not accepted")
    assert [each["payload"]["mode"] for each in (first, last)] == ["fresh", "native"]
    assert len(run.events("submit_architecture")) == 1
    assert len(run.events("agent_launched")) == 2


@pytest.mark.parametrize("name", [name for name in CLIS if name not in SLOW])
@pytest.mark.proves("lost")
@pytest.mark.timeout(240)
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
    if kept_file(real.spec.strategies[0], lost.session_ref, "/x"):  # seen before it is started
        assert modes == ["fresh", "fresh"]
    else:
        assert modes == ["fresh", "native", "fresh"]
        assert run.events("agent_exited")[-1]["payload"]["cause"] == "rejected"
    last = events[-1]["payload"]
    assert last["prompt_bytes"] == last["fresh_prompt_bytes"]
    assert run.record.session_ref != lost.session_ref
    assert f"launches/{events[-1]['launch']}/prompt.md" in model.turns[before].text
    assert f"launches/{events[0]['launch']}/prompt.md" not in model.turns[before].text
    assert run.status()["mode"] == "fresh"
    assert run.status()["reason"] != events[0]["payload"]["reason"]


@pytest.mark.parametrize("name", [name for name in CLIS if name not in SLOW])
@pytest.mark.proves("left")
@pytest.mark.timeout(240)
def test_a_conversation_that_its_user_left_is_followed_or_unsure(
    name: str, real: Real, wait_until: WaitUntil, isolated: str
) -> None:
    run, spec = Run(real, wait_until), real.spec
    run.first_turn()
    before = run.record.session_ref
    command, *keys = CLIS[name].leaves
    run.type(command)
    if (
        spec.switched is None or spec.hooks is not None
    ):  # it tells us its id, with a hook or in its next call to us
        run.until(lambda: UNKNOWN not in run.screen or keys, "it went on as before")
        run.press(*keys) if keys else None
        run.until(lambda: run.mark is not ScreenMark.WAITING, "it still asks")
        if needs_hook_file(spec):  # qwen takes no keys while its hook runs
            run.until(lambda: run.record.session_ref not in {None, before}, "its hook is silent")
        real.model.run("agentmux submit hello")
        run.type("Say hello.")
        run.until(lambda: run.record.session_ref not in {None, before}, "nothing was learned")
        wanted = ("native", "reached")
    else:
        run.until(lambda: run.record.unsure, "nothing was noticed")
        wanted = ("fresh", "unsure")

    run.kill(isolated)
    ((pane,),) = (each["panes"] for each in real.asked("resume", "--dry-run")["sessions"])
    assert (pane["mode"], wanted[1] in pane["reason"]) == (wanted[0], True), pane["reason"]


@pytest.mark.parametrize("name", [name for name, cli in CLIS.items() if cli.trust])
@pytest.mark.proves("dialogs")
@pytest.mark.timeout(180)
def test_a_first_run_dialog_is_left_to_the_user(
    name: str, real: Real, wait_until: WaitUntil
) -> None:
    real.env = dict(CLIS[name].prepare(replace(real.place, trusted=False)))
    run = Run(real, wait_until, stall={"nudge_after": "10s", "report_after": "11s"})
    run.start()
    run.until(lambda: run.status().get("status") == "waiting_for_user", "no dialog was recognised")
    run.until(lambda: run.mark is ScreenMark.TRUST, "it does not stand")
    told = real.agentmux("status").stdout
    assert "waiting for you" in told
    assert f"next: agentmux attach {run.path.name}" in told
    run.until(lambda: "look at its pane" in run.monitor, "the monitor does not tell", 15)
    # Well beyond the time after which a quiet agent is reminded.
    quiet = time.monotonic() + 14
    run.until(lambda: time.monotonic() > quiet, "time stands still", 20)
    run.until(lambda: run.mark is ScreenMark.TRUST, "somebody answered")
    assert run.events("agent_nudged") == run.events("agent_stalled") == []
    assert run.events("prompt_reached") == []
    assert len(real.model.turns) == (1 if name in BEHIND else 0)

    run.press(*CLIS[name].trust)
    run.until(lambda: real.model.turns, "the answer did not bring the prompt on its way")
    if name not in BEHIND:
        run.until(lambda: run.record.reached, "its prompt is not known to have arrived")
    run.until(lambda: run.status()["status"] != "waiting_for_user", "the dialog is still reported")


@pytest.mark.parametrize("name", [name for name in CLIS if name not in SLOW])
@pytest.mark.proves("asked")
@pytest.mark.timeout(240)
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
