# ruff: noqa: RUF001 (the agent's own prompt glyph)
"""What the demo agent remembers of a conversation, and how it is resumed."""

import json
import re

CID = "00000000-0000-4000-8000-00000000000a"
OTHER = "00000000-0000-4000-8000-00000000000b"


def test_resumed_conversation_remembers_and_another_does_not(world):
    assert world.run("--session-id", CID, "the code word is plum-7.").returncode == 0
    assert world.run("--session-id", OTHER, "the code word is pear").returncode == 0
    for cid, word in ((CID, "plum-7"), (OTHER, "pear")):
        again = world.run("--resume", cid, "what is the code word?")
        assert f"The code word is {word}." in again.stdout
    assert ("remembered", "plum-7") in world.did()
    assert "I do not know a code word." in world.run("what is the code word?").stdout


def test_code_word_in_the_prompt_file_is_remembered(world):
    prompt = world.prompt(
        "agentmux submit design", write=("design.md",), text="the code word is fig"
    )
    world.run("--session-id", CID, prompt)
    assert "The code word is fig." in world.run("-r", CID, "what is the code word?").stdout


def test_prompt_file_that_asks_for_the_code_word_is_worked_on_too(world):
    world.run("--session-id", CID, "the code word is fig")
    prompt = world.prompt(
        "agentmux submit design", write=("design.md",), text="what is the code word?"
    )
    done = world.run("--resume", CID, prompt)
    assert "Done: design.md.\nThe code word is fig." in done.stdout
    assert world.calls() == ["|submit design"]


def test_killed_in_its_first_turn_it_still_remembers(world, start):
    world.scenario(default={"think": 60})
    child = start("--session-id", CID, "the code word is plum")
    child.expect("esc to interrupt")
    child.end()
    start.children.clear()
    world.scenario()
    assert "The code word is plum." in world.run("-r", CID, "what is the code word?").stdout


def test_unknown_id_exits_1(world):
    done = world.run("--resume", CID, "hello")
    assert (done.returncode, world.did()) == (1, [])
    assert f"No conversation found with session ID: {CID}" in done.stderr


def test_id_is_taken_by_its_first_prompt_only(world, start):
    child = start("--session-id", CID)
    child.expect("❯ ")
    child.send("/exit\r")
    assert child.status() == 0
    assert world.run("--resume", CID, "hello").returncode == 1
    assert world.run("--session-id", CID, "hello").returncode == 0
    again = world.run("--session-id", CID, "hello")
    assert again.returncode == 1
    assert f"Error: Session ID {CID} is already in use." in again.stderr


def test_wrong_id_and_wrong_usage_are_refused(world):
    assert "Must be a valid UUID" in world.run("--session-id", "x").stderr
    for args in (("--nonsense",), ("--model",), ("a", "b"), ("--permission-mode", "maybe")):
        assert world.run(*args).returncode == 2


def test_continue_takes_the_latest_of_this_directory(world):
    assert world.run("--continue", "hello").returncode == 1
    world.run("the code word is plum")
    world.run("the code word is pear")
    assert "is pear." in world.run("--continue", "what is the code word?").stdout
    world.project = world.session
    elsewhere = world.run("--continue", "what is the code word?")
    assert elsewhere.returncode == 1
    assert "No conversation found to continue" in elsewhere.stderr


def test_learn_shows_the_id_to_commands_only_and_it_can_be_resumed(world):
    world.play("architect")
    prompt = world.prompt(
        "agentmux submit architecture",
        write=("architecture.md",),
        text="First run `agentmux submit hello`. the code word is kiwi",
    )
    done = world.run("--learn", prompt)
    cid = world.calls()[0].split("|")[0]
    assert re.fullmatch(r"[0-9a-f-]{36}", cid)
    assert world.calls() == [f"{cid}|submit hello", f"{cid}|submit architecture"]
    assert cid not in done.stdout
    world.env["DEMO_THREAD_ID"] = "of-somebody-else"
    again = world.run("--learn", "--resume", cid, "what is the code word?")
    assert "The code word is kiwi." in again.stdout
    world.run(prompt)
    assert world.calls()[-1] == "|submit architecture"


def test_checkpoint_is_replaced_after_every_turn_also_a_failed_or_cancelled_one(world, start):
    folder = world.root / "points"
    point = folder / "session-latest.json"
    args = ("--checkpoint-dir", str(folder), "--model", "m1")
    world.run(*args, "the code word is plum")
    assert _outcomes(point) == ["done"]
    failed = world.run(*args, "--resume", str(point), "Read the file /no/such and do what it says.")
    assert "No such file" in failed.stdout
    assert (failed.returncode, _outcomes(point)) == (1, ["done", "failed"])
    world.scenario(default={"think": 60})
    child = start(*args, "--resume", str(point), "work on")
    child.expect("esc to interrupt")
    child.send("\x03")
    child.expect("Interrupted")
    child.expect("❯ ")
    child.end()
    start.children.clear()
    assert _outcomes(point) == ["done", "failed", "cancelled"]
    world.scenario()
    again = world.run(*args, "--resume", str(point), "what is the code word?")
    assert "The code word is plum." in again.stdout
    assert [path.name for path in folder.iterdir()] == ["session-latest.json"]


def _outcomes(point):
    data = json.loads(point.read_text())
    assert (data["version"], data["model"]) == (1, "m1")
    return [turn["outcome"] for turn in data["turns"]]


def test_missing_corrupt_and_other_models_checkpoints_exit_1(world):
    folder = world.root / "points"
    point = folder / "session-latest.json"
    args = ("--checkpoint-dir", str(folder), "--resume", str(point))
    assert world.run(*args, "hello").returncode == 1
    world.run("--checkpoint-dir", str(folder), "--model", "m1", "hello")
    assert "made with model m1" in world.run(*args, "--model", "m2", "hello").stderr
    point.write_text(point.read_text()[:40])
    assert "cannot read checkpoint" in world.run(*args, "hello").stderr


def test_help_can_be_probed(world):
    text = world.run("--help").stdout
    for pattern in (
        r"^\s+--session-id <uuid>",
        r"^\s+-r, --resume <id>",
        r"^\s+-c, --continue",
        r"^\s+--checkpoint-dir <dir>",
    ):
        assert re.search(pattern, text, re.MULTILINE)
    assert world.run("--version").stdout.startswith("agentmux-demo-agent ")
