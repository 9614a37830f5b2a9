"""`agentmux notify`: where the user is told, and what a test says of each address."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentmux.cli.main import main
from tests.fakes.receiver import Receiver

Run = Callable[..., int]
Capture = pytest.CaptureFixture[str]

TOKEN = "tk_secretsecret"
EVERYTHING = ["decision", "question", "stalled", "failed", "parked", "done"]


@pytest.fixture
def run(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    monkeypatch.chdir(tmp_path)
    return lambda *argv: main(argv, os.environ)


def configure(rules: str) -> None:
    folder = Path(os.environ["XDG_CONFIG_HOME"], "agentmux")
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(f"version: 1\nnotify: {rules}\n")


def answer(capsys: Capture) -> dict[str, Any]:
    found = capsys.readouterr().out
    assert TOKEN not in found
    made: dict[str, Any] = json.loads(found)
    return made


def results(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(each["result"], each["reason"]) for each in found["addresses"]]


def test_without_a_configuration_it_says_the_default_and_how_to_change_it(
    run: Run, capsys: Capture
) -> None:
    assert run("notify") == 0
    shown = capsys.readouterr()
    assert [line.split()[0] for line in shown.out.splitlines()] == ["bell", "tmux"]
    assert "this is the default" in shown.err
    assert "agentmux/config.yaml" in shown.err
    assert "agentmux notify --test" in shown.err

    assert run("notify", "--json") == 0
    assert answer(capsys) == {
        "schema": 1,
        "default": True,
        "addresses": [
            {"address": name, "on": EVERYTHING, "result": None, "reason": None}
            for name in ("bell", "tmux")
        ],
    }


def test_what_cannot_be_tried_here_is_no_failure(run: Run, capsys: Capture) -> None:
    assert run("notify", "--test", "--json") == 0
    assert results(answer(capsys)) == [
        ("skipped", "this is no terminal; a session rings in its own"),
        ("skipped", "nobody is attached to tmux now"),
    ]


def test_each_address_gets_one_message_and_has_its_result(
    run: Run, capsys: Capture, receiver: Receiver, silent: int
) -> None:
    good, refused = receiver.url(f"/{TOKEN}"), receiver.url(f"/refuse/{TOKEN}")
    hangs = f"json://127.0.0.1:{silent}/{TOKEN}?rto=60"
    configure(f"[{{to: ['{good}', '{hangs}']}}, {{on: [done], to: ['{refused}', '{good}']}}]")
    # Only the silent one takes that long: on a busy machine, an answer takes seconds, too.
    assert run("notify", "--test", "--timeout", "8", "--json") == 1
    found = answer(capsys)
    assert {each["address"] for each in found["addresses"]} == {"json://…"}
    assert [each["on"] for each in found["addresses"]] == [EVERYTHING, EVERYTHING, ["done"]]
    assert results(found) == [
        ("sent", None),
        ("failed", "no answer in time"),
        ("failed", "the server refused it (HTTP status 403)"),
    ]
    assert sorted(path for path, _ in receiver.got) == [f"/refuse/{TOKEN}", f"/{TOKEN}"]
    assert {body["title"] for _, body in receiver.got} == {"AgentMux: this is a test"}


def test_all_went_well(run: Run, capsys: Capture, receiver: Receiver) -> None:
    configure(f"[{{to: ['{receiver.url('/' + TOKEN)}']}}]")
    assert run("notify", "--test") == 0
    shown = capsys.readouterr()
    assert shown.out.split() == [
        "json://…",
        "sent",
        *(f"{word}," for word in EVERYTHING[:-1]),
        "done",
    ]
    assert TOKEN not in shown.err
    assert len(receiver.got) == 1


def test_without_apprise_it_says_the_command_that_installs_it(
    run: Run, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['apprise'] = None")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    configure("[{to: ['json://127.0.0.1/']}]")
    assert run("notify", "--test", "--json") == 1
    (result,) = results(answer(capsys))
    assert result[0] == "failed"
    assert result[1].startswith("Apprise is not installed; to install it: ")
    assert result[1].endswith(" apprise")


def test_nobody_is_told(run: Run, capsys: Capture) -> None:
    configure("[]")
    assert run("notify", "--test") == 0
    assert "nobody is notified" in capsys.readouterr().err
