"""Two coders with the same agent in parallel, which tests question, kill and resume."""

import json
import os
import re
import signal
import uuid
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from agentmux.adapters.system.processes.processes import is_alive
from tests.conftest import _wait_until
from tests.e2e.conftest import Project, Session

SEATS = ("coder-1", "coder-2")
PLAN = {"plan": {"parts": 2, "groups": [{"mode": "parallel", "plans": [1, 2]}]}}
CODER = {"submit": "no", "write": "none"}
RESUMES = {
    "demo": "--resume",
    "demo-learn": "--resume",
    "demo-continue": "--continue",
    "demo-home": "--continue",
    "demo-checkpoint": "--resume",
    "demo-hook": "--resume",
    "demo-paste": "--resume",
}


class Pair:
    """A session with two parallel coders of the same agent, and ways to kill and resume them."""

    def __init__(self, project: Project, agent: str, **life: Any) -> None:
        """Start the coders; without ``life`` they think about their first prompt for 600 s."""
        self.project, self.agent = project, agent
        self.settle(**(life or {"think": 600}))
        named = ("--role", f"coder={agent}")
        answer = project.json("start", "--agent", "demo", *named, "--", "add a greeting")
        self.session = Session(project, project.path / answer["path"])
        self.words: dict[str, str] = {}
        self._rounds = count(1)

    def settle(self, **life: Any) -> None:
        """Set the behaviour of coders that are launched from now on."""
        roles = {"planner": PLAN, "coder": {**CODER, **life}}
        self.project.scenario({"roles": roles})

    # -- looking -----------------------------------------------------------------------------

    def seats(self) -> dict[str, dict[str, Any]]:
        found = self.session.state["seats"]
        return {name: found.get(name, {}) for name in SEATS}

    def modes(self) -> str:
        return "".join(seat["mode"][0].upper() for seat in self.seats().values())

    def launches(self) -> dict[str, str]:
        return {name: str(seat.get("launch", "")) for name, seat in self.seats().items()}

    def conversations(self) -> dict[str, str]:
        return {name: self.session.state["agents"][name]["session_ref"] for name in SEATS}

    def agent_pid(self, seat: str) -> int:
        """Return the pid of the agent in a seat's pane; 0 until it runs."""
        return child_of(self.panes().get(seat, ("", 0))[1])

    def until_reached(self) -> None:
        """Wait until both prompts are known to have arrived."""

        def both() -> bool:
            return all(seat.get("reached") for seat in self.seats().values())

        _wait_until(both, 30, self.shown)

    def arrive(self) -> None:
        """Wait until both coders have their prompts, and say hello for those that started fresh.

        These agents are busy for too short a time to prove on their screen that a prompt arrived.
        """

        def prompted() -> bool:
            launches, screens = self.launches(), self.screens()
            return all(
                # At the start of a row: in the composer, it may not be submitted yet.
                re.search(rf"^> Read .*launches/{launches[seat]}/", screens[seat], re.MULTILINE)
                for seat in SEATS
            )

        _wait_until(prompted, 30, self.shown)
        for name, seat in self.seats().items():
            if seat["mode"] == "fresh" and not seat["reached"]:
                self.session.submit(name, "hello")

    def shown(self) -> str:
        """Return the seats and screens, for the message of a failed wait."""
        return "\n".join([json.dumps(self.seats(), indent=1), *self.screens().values()])

    def panes(self) -> dict[str, tuple[str, int]]:
        form = "#{@agentmux_seat}\t#{pane_id}\t#{pane_pid}"
        done = self.project.program("tmux", "list-panes", "-a", "-F", form)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        # For a pane whose program has ended, tmux 3.8 gives no pid.
        return {seat: (pane, int(pid or 0)) for seat, pane, pid in rows if seat in SEATS}

    def screen(self, seat: str) -> str:
        """Return the text and history of a seat's pane; empty if the pane does not exist."""
        return self.screens()[seat]

    def screens(self) -> dict[str, str]:
        """Return the text and history of both seats' panes; empty if a pane does not exist."""
        panes, mark, words = self.panes(), uuid.uuid4().hex, list[str]()
        for pane, _ in panes.values():
            words += ["capture-pane", "-pJ", "-S", "-", "-t", pane, ";"]
            words += ["display-message", "-p", mark, ";"]
        said = self.project.program("tmux", *words[:-1]).stdout if words else ""
        return dict.fromkeys(SEATS, "") | dict(
            zip(panes, said.split(f"{mark}\n")[:-1], strict=False)
        )

    # -- talking -----------------------------------------------------------------------------

    def say(self, texts: Mapping[str, str]) -> None:
        panes, words = self.panes(), list[str]()
        for seat, text in texts.items():
            words += ["send-keys", "-t", panes[seat][0], "-l", text, ";"]
            words += ["send-keys", "-t", panes[seat][0], "Enter", ";"]
        self.project.tmux(*words)

    def until_shown(self, pattern: str) -> dict[str, re.Match[str]]:
        """Wait until both screens match ``pattern``; return the matches."""
        found: dict[str, re.Match[str]] = {}

        def all_do() -> bool:
            for seat, screen in self.screens().items():
                match = re.search(pattern, screen)
                if match is not None:
                    found[seat] = match
            return len(found) == len(SEATS)

        _wait_until(all_do, 20, self.shown)
        return found

    def until(self, condition: Callable[[], object]) -> None:
        _wait_until(condition, 20, self.shown)

    def until_shown_in(self, seat: str, text: str) -> None:
        self.until(lambda: text in self.screen(seat))

    def tell(self) -> None:
        """Tell each coder its own new code word."""
        number = next(self._rounds)
        self.words = {seat: f"w{number}-for-{seat}" for seat in SEATS}
        self.say({seat: f"the code word is {word}" for seat, word in self.words.items()})
        self.until_shown(rf"I heard: the code word is w{number}-for-")

    def ask(self) -> dict[str, str]:
        """Ask both coders for their code word; return the answers, empty if one is not known."""
        number = next(self._rounds)
        self.say(dict.fromkeys(SEATS, f"what is the code word? ({number})"))
        told = r"(?:The code word is (\S+)\.|I do not know)"
        answer = rf"> what is the code word\? \({number}\)\s+● {told}"
        return {seat: found[1] or "" for seat, found in self.until_shown(answer).items()}

    # -- killing -----------------------------------------------------------------------------

    def kill(self, how: str) -> bool:
        """Kill what ``how`` names; return whether the session then needs a resume."""
        before = self.launches()
        if how in {"agents", "wrappers"}:
            pids = [pid for _, pid in self.panes().values()]
            kill_all(pids if how == "wrappers" else [child_of(pid) for pid in pids])
            _wait_until(lambda: not set(before.values()) & set(self.launches().values()), 20)
            return False
        driver = int(json.loads(self.session.read("session.lock.json"))["pid"])
        server = int(self.project.tmux("display-message", "-p", "#{pid}"))
        wrappers = [pid for _, pid in self.panes().values()]
        match how:
            case "driver":
                kill_all([driver])
                _wait_until(lambda: not is_alive(driver, 0), 20)  # until then it holds the lock
                refused = self.project.fails(3, "resume", "--yes", "--detach")
                assert "agentmux resume --reattach" in refused
                self.project.ok("stop")
            case "boot":
                kill_all([driver, *map(child_of, wrappers), *wrappers, server])
                Path(self.session.state["tmux_socket"]).unlink()
                self.on_another_boot()
            case _:
                kill_all([server])
        # An orchestrator whose server is gone ends; until then it holds the session's lock.
        _wait_until(lambda: not is_alive(driver, 0), 20, self.shown)
        return True

    def on_another_boot(self) -> None:
        path = self.session.path / "state.json"
        fields = json.loads(path.read_text())
        for record in fields["agents"].values():
            record["boot"] = "another boot"
        path.write_text(json.dumps(fields))

    def resume(self, *words: str) -> dict[str, Any]:
        """Do a dry run, then resume; return the plan of the dry run."""
        plan = self.project.json("resume", "--dry-run", *words)["sessions"][0]
        self.project.ok("resume", "--yes", "--detach", *words)
        _wait_until(lambda: all(self.launches().values()), 20, self.shown)
        found: dict[str, Any] = plan
        return found

    def check_launches(self, modes: str, reason: str) -> None:
        """Check that native seats have a resume argv, fresh ones the full prompt and a reason."""
        assert self.modes() == modes, self.shown()
        for name, seat in self.seats().items():
            folder = f"launches/{seat['launch']}"
            argv = json.loads(self.session.read(f"{folder}/launch.json"))["argv"]
            prompt = self.session.read(f"{folder}/prompt.md")
            full = "# You are the coder of sub-plan" in prompt
            resumes = {"--resume", "--continue"} & set(argv)
            assert (seat["mode"] == "fresh") == full, (name, prompt)
            assert (seat["mode"] == "native") == bool(resumes), (name, argv)
            assert len(prompt.encode()) == seat["prompt_bytes"]
            if seat["mode"] == "native":
                assert resumes == {RESUMES[self.agent]}
                assert "every check passed" in seat["reason"]
                assert seat["prompt_bytes"] < seat["fresh_prompt_bytes"]
            else:
                assert re.search(reason, seat["reason"]), seat["reason"]
                assert seat["prompt_bytes"] == seat["fresh_prompt_bytes"]


def child_of(pid: int) -> int:
    """Return the pid of the first child of ``pid``; 0 if there is none, or ``pid`` has ended."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    return int(children[0]) if children else 0


def kill_all(pids: Iterable[int]) -> None:
    for pid in pids:
        assert pid > 0, "kill(2) would signal a whole process group"
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
