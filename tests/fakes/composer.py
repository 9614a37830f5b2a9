"""A program with a composer like that of an agent CLI, and with bad habits on request.

Usage: composer.py LOG [HABIT[=VALUE]]…; each chunk that it reads is a line in LOG, as its repr.
"""

import os
import sys
import time
import tty

RULE = "─" * 60


def main() -> None:
    log = open(sys.argv[1], "a", buffering=1)  # noqa: SIM115, PTH123 (until the program ends)
    habits = dict(word.partition("=")[::2] for word in sys.argv[2:])
    draft, enters = habits.get("draft", ""), 0
    transcript: list[str] = []
    tty.setraw(0)
    os.write(1, b"\x1b[?2004h\x1b[2J")
    if "slow" in habits:
        os.write(1, b"\x1b[Hloading")
        time.sleep(0.4)
    busy = "busy" in habits
    while True:
        paint(habits, draft, transcript, busy=busy)
        got = os.read(0, 65536).decode(errors="replace")
        log.write(repr(got) + "\n")
        if "die" in habits and got != "\r":
            return
        changed = edited(habits, draft, got)
        if changed is not None:
            draft = changed
            continue
        enters += 1
        left_menu = habits.pop("menu", None) is not None
        if left_menu or "deaf" in habits or ("slow-enter" in habits and enters == 1):
            continue
        transcript.append(draft)
        draft = ""
        busy = not habits.keys() & {"idle", "asks"}
        if "vanish" in habits:
            return


def edited(habits: dict[str, str], draft: str, got: str) -> str | None:
    """Return the draft after an input; None for an Enter that submits it."""
    if got == "\r":
        return draft[:-1] + "\n" if draft.endswith("\\") and "continues" in habits else None
    if got == "\x15":
        return draft[: draft.rfind("\n") + 1]
    if got == "\x7f":
        return draft[:-1]
    if "blind" in habits:
        return draft
    return draft + got.replace("\x1b[200~", "").replace("\x1b[201~", "")


def paint(habits: dict[str, str], draft: str, transcript: list[str], *, busy: bool) -> None:
    shown = draft if len(draft) < 400 else f"[Pasted text #1 +{draft.count(chr(10))} lines]"
    placeholder = "" if shown else "\x1b[7mT\x1b[0m\x1b[2mry something\x1b[0m"
    rows = ["agent 1.0", "> an older request of the user", "an answer"]
    rows += [f"> {said}" for said in transcript] if "silent" not in habits else []
    rows += ["* Working… (esc to interrupt)"] if busy else []
    rows += [f"Do you want to run {habits['dialog']}?", " > 1. Yes"] if "dialog" in habits else []
    if "menu" in habits:
        rows += ["usage limit", " > 1. Stop and wait"]
    elif transcript and "asks" in habits:
        rows += [f"Do you want to run {habits['asks']}?", " > 1. Yes"]
    else:
        rows += [RULE, "> " + shown.replace("\n", "\n  ") + placeholder, RULE, "  ? for shortcuts"]
    text = "\x1b[H\x1b[2J" + "\n".join(rows)
    os.write(1, text.replace("\n", "\r\n").encode())


main()
