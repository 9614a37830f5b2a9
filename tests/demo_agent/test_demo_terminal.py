# ruff: noqa: RUF001 (the agent's own prompt glyph)
"""The demo agent on a terminal: the keys that it reads, and the screen that it draws."""

import json
import os
import signal
import time
from pathlib import Path

READY = r"(?m)^❯ "


def test_prompt_as_argv_is_worked_on_and_the_composer_stays_ready(world, pane):
    world.play("architect")
    pane.start(
        world.prompt("agentmux submit architecture", write=("architecture.md",)),
    )
    screen = pane.expect(r"● Done: architecture.md.")
    assert "  ⎿ accepted" in screen
    pane.expect(READY)
    assert world.calls() == ["|submit architecture"]
    assert "reviewers: [logic]" in (world.session / "architecture.md").read_text()
    assert [verb for verb, _ in world.did()] == ["prompted", "wrote", "signalled"]


def test_paste_shows_in_the_composer_and_enter_submits_it_whole(world, pane):
    pane.start()
    pane.expect(READY)
    pane.tmux("load-buffer", "-", stdin="one\ntwo\nthe code word is plum")
    pane.tmux("paste-buffer", "-p", "-r", "-d")
    pane.expect(r"^❯ \[Pasted text #1 \+2 lines\]$")
    assert world.did() == []
    pane.tmux("send-keys", "Enter")
    pane.expect(r"● I heard: one$")
    assert world.did() == [("prompted", "one\ntwo\nthe code word is plum")]
    pane.tmux("send-keys", "-l", "what is the code word?")
    pane.expect(r"^❯ what is the code word\?$")
    pane.tmux("send-keys", "Enter")
    pane.expect(r"● The code word is plum\.$")


def test_empty_composer_holds_a_dim_placeholder(world, pane):
    pane.start()
    pane.expect(READY)
    assert '❯ \x1b[2mTry "explain this folder"' in pane.tmux("capture-pane", "-p", "-e")


def test_long_draft_wraps_and_its_tail_is_on_screen(world, pane):
    pane.start()
    pane.expect(READY)
    pane.tmux("load-buffer", "-", stdin="x" * 300 + "tail")
    pane.tmux("paste-buffer", "-p", "-r", "-d")
    pane.expect(r"^  x+tail$")


def test_new_size_draws_one_composer(world, pane):
    pane.start("hello")
    pane.expect(r"● I heard: hello$")
    pane.tmux("resize-window", "-x", "40", "-y", "12")
    screen = pane.expect(rf"^{'─' * 39}$")
    assert screen.count("❯ ") == 1


def test_busy_mark_stands_while_it_works_and_a_message_is_queued(world, start):
    world.scenario(default={"think": 1.2})
    child = start("first")
    child.expect(r"✻ Working… \(0s · esc to interrupt\)")
    child.send("second\r")
    child.expect(r"\(queued\) second")
    child.expect("I heard: first")
    child.expect("I heard: second")


def test_escape_cancels_the_turn(world, start):
    world.scenario(default={"think": 60})
    child = start("--session-id", "00000000-0000-4000-8000-000000000001", "first")
    child.expect("esc to interrupt")
    child.send("\x1b")
    child.expect("Interrupted by the user")
    child.send("/exit\r")
    assert child.status() == 0


def test_ctrl_c_twice_exits_130_and_ctrl_d_twice_exits_0(world, start):
    first, second = start(), start()
    for child, key, status in ((first, "\x03", 130), (second, "\x04", 0)):
        child.expect(READY)
        child.send(key)
        child.expect("again to exit")
        child.send(key)
        assert child.status() == status


def test_hangup_and_term_end_it_at_once(world, start):
    for number in (signal.SIGHUP, signal.SIGTERM):
        child = start()
        child.expect(READY)
        os.kill(child.pid, number)
        assert child.status() == -number


def test_ignored_hangup_outlives_the_terminal_without_using_cpu(world, pane):
    world.scenario(default={"ignore_hup": True})
    pane.start()
    pane.expect(READY)
    pid = int(pane.tmux("display-message", "-p", "#{pane_pid}"))
    pane.tmux("kill-server")
    try:
        _cpu_ticks_in(pid, 0.2)
        assert _cpu_ticks_in(pid, 0.2) <= 2
    finally:
        os.kill(pid, signal.SIGKILL)


def _cpu_ticks_in(pid, seconds):
    spent = []
    for _ in range(2):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        spent.append(int(fields[11]) + int(fields[12]))
        time.sleep(seconds)
    return spent[1] - spent[0]


def test_trust_dialog_preselects_no_and_enter_exits_1(world, pane, start):
    world.scenario(default={"dialog": "trust"})
    pane.start("hello")
    screen = pane.expect(r"^ ❯ 2\. No, exit$")
    assert "Do you trust the files in this folder?" in screen
    child = start("hello")
    child.expect("No, exit")
    child.send("\r")
    assert child.status() == 1
    assert world.did() == []


def test_trust_is_given_once_per_folder(world, start):
    world.scenario(default={"dialog": "trust"})
    child = start("hello")
    child.expect("No, exit")
    child.send("\x1b[A\r")
    child.expect("I heard: hello")
    again = start("hello")
    assert "Do you trust" not in again.expect(r"[\s\S]*I heard: hello")


def test_permission_is_asked_and_no_stops_the_turn(world, start):
    world.play("architect")
    prompt = world.prompt("agentmux submit architecture", write=("architecture.md",))
    child = start("--ask", prompt)
    child.expect(r"Do you want to proceed\?\s+❯ 1\. Yes\s+2\. No")
    child.send("2\r")
    child.expect("Interrupted by the user")
    assert world.calls() == []
    child = start("--permission-mode", "ask", prompt)
    child.expect("1. Yes")
    child.send("\r")
    child.expect("Done: architecture.md")
    assert world.calls() == ["|submit architecture"]


def test_limit_flood_and_silence(world, start):
    world.scenario(default={"limit": True})
    start("hello").expect("You have reached your usage limit")
    world.scenario(default={"flood": 300})
    start("hello").expect(r"line 300 of 300[\s\S]*I heard: hello")
    world.scenario(default={"silent": "until-told"})
    world.play("architect")
    child = start(world.prompt("agentmux submit architecture", write=("a/architecture.md",)))
    child.expect(READY)
    assert world.calls() == []
    child.send("please go on\r")
    child.expect("Done: architecture.md")


def test_clear_starts_a_new_conversation(world, start):
    child = start("the code word is plum")
    child.expect("I heard")
    child.send("/clear\r")
    child.expect("a new conversation")
    child.send("what is the code word?\r")
    child.expect("I do not know a code word")
    kept = world.root / "home" / "conversations"
    assert len(list(kept.iterdir())) == 2
    assert oct(kept.parent.stat().st_mode)[-3:] == "700"


def test_hooks_are_called_with_json_on_stdin(world, start):
    out = world.root / "hooked"
    argv = ["sh", "-c", f"cat >> {out}; echo >> {out}"]
    settings = world.root / "settings.json"
    settings.write_text(
        json.dumps({"hooks": dict.fromkeys(("SessionStart", "UserPromptSubmit", "Stop"), argv)})
    )
    cid = "00000000-0000-4000-8000-000000000002"
    child = start("--settings", str(settings), "--session-id", cid, "hello")
    child.expect("I heard: hello")
    child.send("/exit\r")
    assert child.status() == 0
    start("--settings", str(settings), "--resume", cid).expect("I heard: hello")
    seen = _json_lines(out, 4)
    assert [(line["hook_event_name"], line.get("source")) for line in seen] == [
        ("SessionStart", "startup"),
        ("UserPromptSubmit", None),
        ("Stop", None),
        ("SessionStart", "resume"),
    ]
    assert {line["session_id"] for line in seen} == {cid}
    assert {line["cwd"] for line in seen} == {str(world.project)}


def _json_lines(path, count):
    """Wait until a file has ``count`` lines."""
    end = time.monotonic() + 10
    while len(lines := path.read_text().splitlines()) < count:
        assert time.monotonic() < end, lines
        time.sleep(0.02)
    return [json.loads(line) for line in lines]
