"""A killed agent comes back with its conversation, or gets its full prompt again.

Two coders work in parallel. Each is told its own code word, killed, resumed and asked for it.
Then both get new words and are killed in another way. Each row of the table is one session.
"""

from typing import Any

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project
from tests.e2e.pair import CODER, PLAN, SEATS, Pair

pytestmark = pytest.mark.rare("it waits for what hours would do")

ALIKE = "ran beside it or since in the same directory and home"

# For each agent: how both seats come back after each kill, in the order of KILLS (N is native, F is
# fresh), and a part of the reason of the fresh ones. The kills, all with SIGKILL:
#
#  first    the tmux server, in the middle of the first turn
#  agents   both agents; their orchestrator brings them back
#  server   the tmux server
#  wrappers the wrappers in the panes; their orchestrator brings the agents back
#  driver   the orchestrator; then `stop`, without an orchestrator that could do it
#  boot     all of these at once; then the machine has another boot id
KILLS = ("first", "agents", "server", "wrappers", "driver", "boot")
TABLE = {
    "demo":            ("NNNNNN", ""),
    "demo-learn":      ("FNNNNN", ALIKE),
    "demo-continue":   ("FFFFFF", ALIKE),
    "demo-home":       ("NNNNNN", ""),
    "demo-checkpoint": ("FNNNNN", "is missing|no checkpoint"),
    "demo-hook":       ("NNNNNN", ""),
    "demo-paste":      ("NNNNNN", ""),
    "demo-none":       ("FFFFFF", "no conversation was recorded"),
}  # fmt: skip


@pytest.mark.parametrize("agent", TABLE)
def test_two_seats_remember_what_was_theirs(project: Project, agent: str) -> None:
    modes, reason = TABLE[agent]
    pair = Pair(project, agent)
    pair.until_reached()
    pair.settle(think=0.05)
    for how, mode in zip(KILLS, modes, strict=True):
        if how != "first":
            pair.tell()
        told, nothing = dict(pair.words), dict.fromkeys(SEATS, "")
        if pair.kill(how):
            plan = pair.resume()
            assert "".join(each["mode"][0].upper() for each in plan["panes"]) == mode * 2
            foretold = {each["seat"]: sizes(each) for each in plan["panes"]}
            pair.check_launches(mode * 2, reason)
            assert foretold == {name: sizes(seat) for name, seat in pair.seats().items()}
        pair.check_launches(mode * 2, reason)
        pair.arrive()
        assert pair.ask() == (told if mode == "N" and told else nothing), (how, pair.shown())


def sizes(seat: dict[str, Any]) -> tuple[int, int]:
    return seat["prompt_bytes"], seat["fresh_prompt_bytes"]


# -- fresh starts that the user asks for ---------------------------------------------------------


@pytest.fixture
def pair(project: Project) -> Pair:
    """Two coders that have their prompts and know a code word."""
    made = Pair(project, "demo", think=0.05)
    made.arrive()
    made.tell()
    return made


def test_fresh_holds_for_this_resume_only(pair: Pair) -> None:
    """The fresh seat has a new conversation, which comes back after a later crash."""
    pair.kill("server")
    pair.resume("--fresh-role", "coder-2")
    assert pair.modes() == "NF"
    assert pair.seats()["coder-2"]["reason"] == "a fresh start was asked for"
    pair.arrive()
    assert pair.ask() == {**pair.words, "coder-2": ""}
    pair.tell()
    pair.kill("agents")
    pair.check_launches("NN", "")
    pair.arrive()
    assert pair.ask() == pair.words


def test_all_of_them_fresh(pair: Pair) -> None:
    pair.kill("server")
    pair.resume("--fresh")
    pair.check_launches("FF", "a fresh start was asked for")
    pair.arrive()
    assert pair.ask() == dict.fromkeys(SEATS, "")


def test_the_configured_words_resume_what_was_recorded_before(pair: Pair) -> None:
    pair.kill("server")
    refs = pair.conversations()

    def dry() -> dict[str, dict[str, Any]]:
        answer = pair.project.json("resume", "--dry-run")
        return {each["seat"]: each for each in answer["sessions"][0]["panes"]}

    for seat, pane in dry().items():
        assert pane["argv"][:-1] == ["agentmux-demo-agent", "--resume", refs[seat]]
    pair.project.config("resume: {commands: {agentmux-demo-agent: []}}\n")
    for pane in dry().values():
        assert pane["mode"] == "fresh"
        assert "`resume.commands.agentmux-demo-agent` is empty" in pane["reason"]
    words = "[--model, zz, --resume, '{session_id}']"
    pair.project.config(f"resume: {{commands: {{agentmux-demo-agent: {words}}}}}\n")
    for seat, pane in dry().items():
        own = ["agentmux-demo-agent", "--model", "zz", "--resume", refs[seat]]
        assert (pane["mode"], pane["argv"][:-1]) == ("native", own)
    pair.resume()
    pair.arrive()
    assert pair.ask() == pair.words


def test_an_agent_that_no_prompt_reached_is_relaunched_with_the_full_prompt(
    project: Project, wait_until: WaitUntil
) -> None:
    pair = Pair(project, "demo", think=0, banner_delay=600)
    wait_until(lambda: len(pair.panes()) == 2, 20)
    wait_until(lambda: all(pair.agent_pid(seat) for seat in SEATS), 20)
    pair.kill("agents")
    pair.check_launches("FF", "no prompt had reached its last conversation")
    assert [seat["attempt"] for seat in pair.seats().values()] == [2, 2]


# -- one seat of a live session ------------------------------------------------------------------


@pytest.mark.parametrize(("words", "mode"), [(("--resume",), "native"), (("--fresh",), "fresh")])
def test_one_seat_is_restarted(
    pair: Pair, wait_until: WaitUntil, words: tuple[str, ...], mode: str
) -> None:
    project, name = pair.project, pair.session.name
    said = project.fails(3, "restart", name, "--role", "coder-2", *words)
    assert "`coder-2`" in said
    assert "is running" in said
    pair.say({"coder-2": "/exit"})  # ended by its user, so it is not brought back automatically
    wait_until(lambda: pair.seats()["coder-2"]["status"] == "finished", 20, pair.shown)
    other, before = pair.launches()["coder-1"], pair.launches()["coder-2"]

    project.ok("restart", name, "--role", "coder-2", *words)
    wait_until(lambda: pair.launches()["coder-2"] not in {"", before}, 20, pair.shown)
    seat = pair.seats()["coder-2"]
    assert seat["mode"] == mode, seat["reason"]
    assert pair.launches()["coder-1"] == other
    pair.arrive()
    assert pair.ask() == (pair.words if mode == "native" else {**pair.words, "coder-2": ""})


# -- conversations that the agent does not have any more -----------------------------------------


def test_a_rejected_conversation_gives_one_fresh_start(pair: Pair, wait_until: WaitUntil) -> None:
    project, ids = pair.project, pair.conversations()
    pair.kill("server")
    (project.home / "demo" / "conversations" / f"{ids['coder-1']}.jsonl").unlink()
    plan = pair.resume()
    assert [each["mode"] for each in plan["panes"]] == ["native", "native"]
    wait_until(lambda: pair.modes() == "FN", 20, pair.shown)

    pair.check_launches("FN", "the agent has rejected this conversation before")
    exits = [each for each in pair.session.events if each["event"] == "agent_exited"]
    assert [(each["seat"], each["payload"]["cause"]) for each in exits] == [("coder-1", "rejected")]
    assert pair.session.launched().count("coder-1") == 3
    shown = project.json("status", pair.session.name)["sessions"][0]["seats"]
    assert {each["seat"]: (each["mode"], sizes(each)) for each in shown} == {
        name: (seat["mode"], sizes(seat)) for name, seat in pair.seats().items()
    }
    reasons = {each["seat"]: each["reason"] for each in shown}
    assert "rejected" in reasons["coder-1"]
    assert "rejected" in project.ok("status", pair.session.name)
    pair.until_shown_in("coder-1", "rejected")
    pair.arrive()
    assert pair.ask() == {**pair.words, "coder-1": ""}

    # The next resume uses the new conversation, not the old one.
    pair.tell()
    pair.kill("server")
    pair.resume()
    pair.check_launches("NN", "")
    assert pair.conversations()["coder-1"] != ids["coder-1"]
    pair.arrive()
    assert pair.ask() == pair.words
    assert pair.session.launched().count("coder-1") == 4


def test_a_native_agent_that_is_busy_and_then_fails_gives_one_fresh_start(
    pair: Pair, wait_until: WaitUntil
) -> None:
    """Only a signal proves that the conversation works; a busy screen before the exit does not."""
    pair.kill("server")
    fails = {"when": {"launch": 2}, "think": 1.5, "crash": "before_write", "exit": 1}
    roles = {"planner": PLAN, "coder": {**CODER, "think": 0.05}}
    pair.project.scenario({"roles": roles, "seats": {"coder-1": {"attempts": [fails]}}})
    pair.resume()
    wait_until(lambda: pair.modes() == "FN", 20, pair.shown)
    pair.check_launches("FN", "the agent has rejected this conversation before")
    assert causes(pair) == [("coder-1", "rejected", 1)]
    events = pair.session.events
    (gone,) = (each["launch"] for each in events if each["event"] == "agent_exited")
    reached = {each["launch"] for each in events if each["event"] == "prompt_reached"}
    assert gone in reached, "its busy mark was seen before it went"
    pair.arrive()


UNKNOWN = """\
#!/bin/sh
case " $* " in
*" --resume "*) echo "No conversation found with session ID: $2"; {then} ;;
esac
exec agentmux-demo-agent "$@"
"""


@pytest.mark.parametrize(
    ("then", "status"), [("exit 0", 0), ("sleep 600", None)], ids=["exits", "stays"]
)
def test_an_agent_that_says_that_it_knows_no_such_conversation_gives_one_fresh_start(
    project: Project, wait_until: WaitUntil, then: str, status: int | None
) -> None:
    """The message alone counts as a refusal, whatever the agent does next."""
    program = project.root / "forgetful"
    program.write_text(UNKNOWN.format(then=then))
    program.chmod(0o755)
    project.config(f"agents: {{forgetful: {{like: demo, command: {program}}}}}\n")
    pair = Pair(project, "forgetful", think=0.05)
    pair.arrive()
    pair.kill("server")
    plan = pair.resume()
    assert [each["mode"] for each in plan["panes"]] == ["native", "native"]
    wait_until(lambda: pair.modes() == "FF", 20, pair.shown)
    pair.check_launches("FF", "the agent has rejected this conversation before")
    assert sorted(causes(pair)) == [(seat, "rejected", status) for seat in SEATS]
    assert pair.session.launched().count("coder-1") == 3
    pair.arrive()
    assert set(pair.panes()) == set(SEATS), "nobody is left of the launches before"


def causes(pair: Pair) -> list[tuple[str, str, int | None]]:
    exits = [each for each in pair.session.events if each["event"] == "agent_exited"]
    return [
        (each["seat"], each["payload"]["cause"], each["payload"].get("status")) for each in exits
    ]
