"""Resume records of conversations that can be resumed, one per strategy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentmux.core.codec.records import to_fields
from agentmux.core.conversation.resume_record import ResumeRecord

REF = "5f2c1111-2222-4333-8444-555566667777"
OTHER_REF = "0a0b0c0d-2222-4333-8444-555566667777"
RUNTIME = "claude 2.1.330 /home/u/.local/share/claude/versions/2.1.330:1:2"
EPOCH: Mapping[str, object] = {
    "phase": "implementing",
    "cycle": 1,
    "iteration": 0,
    "subplan": 2,
    "files": {"04_planning/plan_2.md": "aa", "context.md": "bb", "notes.md": ""},
}
ASSIGN = ResumeRecord(
    agent="claude",
    strategy="assign",
    launch_argv=("claude", "--session-id", REF, "Read the file /s/prompt.md"),
    resume_argv=("claude", "--model", "opus", "--resume", REF),
    env={"CLAUDE_CONFIG_DIR": "/home/u/.claude"},
    session_ref=REF,
    argv_ref=REF,
    host="a",
    boot="boot-1",
    cwd="/work",
    home="/home/u/.claude",
    runtime=RUNTIME,
    model="opus",
    epoch=EPOCH,
    policy="auto",
    reached=3,
    captured_at="2026-11-20T12:00:00Z",
    launch="0123456789ab",
)
LEARN = replace(
    ASSIGN,
    strategy="learn",
    resume_argv=("codex", "resume", "{session_id}", "-m", "opus"),
    latest_argv=("codex", "resume", "--last", "-m", "opus"),
    argv_ref=None,
)
LEARNING = replace(LEARN, session_ref=None)
CONTINUE = replace(
    ASSIGN, strategy="continue", resume_argv=("amp", "--continue"), session_ref=None, argv_ref=None
)
CHECKPOINT = replace(
    ASSIGN,
    strategy="checkpoint",
    resume_argv=("demo", "--checkpoint-dir", "/s/c", "--resume", "{checkpoint}"),
    session_ref=None,
    argv_ref=None,
    checkpoint="/s/c/7.json",
)


def good() -> dict[str, object]:
    return to_fields(ASSIGN)
