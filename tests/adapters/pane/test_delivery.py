"""Typing into a pane: what counts as delivered, and what delivery must never do."""

import asyncio
import sys
from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.pane.delivery import (
    blank_placeholder,
    clean,
    deliver,
    find_composer,
)
from agentmux.core.agents.spec import AgentSpec, spec_for, typed_blind
from agentmux.ports.tmux.terminal import (
    LINE_MAX,
    DeliveryResult,
    NewPane,
    Screen,
    TerminalUnreachableError,
    TypingResult,
)
from tests.conftest import WaitUntil
from tests.fakes.bench import Bench as TmuxTerminal
from tests.fakes.bench import Flat
from tests.fakes.terminal import FakeTerminal

COMPOSER = Path(__file__).parent.parent.parent / "fakes" / "composer.py"
SPEC = AgentSpec(
    name="composer",
    command=("composer",),
    ready="^> ?",
    busy="esc to interrupt",
    waiting="Do you want to",
    trust="Do you trust",
    limit="usage limit",
)
UNKNOWN = spec_for("unknown", {})
BLIND = typed_blind(UNKNOWN)
TEXT = "Read the file /tmp/a b/prompt.md and do what it says; then #(stop)."


class Agent:
    """A composer program in a pane."""

    def __init__(self, terminal: Flat, pane: str, log: Path) -> None:
        self.terminal = terminal
        self.pane = pane
        self.log = log

    def read(self) -> list[str]:
        return [literal_eval(line) for line in self.log.read_text().splitlines()]

    def deliver(
        self,
        text: str = TEXT,
        spec: AgentSpec = SPEC,
        deadline_s: float = 5.0,
        *,
        once: bool = False,
    ) -> TypingResult:
        return asyncio.run(
            deliver(self.terminal, self.pane, text, spec, deadline_s=deadline_s, once=once)
        )

    def text(self) -> str:
        return self.terminal.capture([self.pane])[self.pane].text


Start = Callable[..., Agent]


@pytest.fixture
def start(tmux: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil) -> Start:
    def started(*habits: str, ready: str = "? for shortcuts") -> Agent:
        made = tmux.create_session(
            name="agentmux-d", uuid="u", cwd=tmp_path, size=(120, 40), argv=("sleep", "1000")
        )
        argv = (sys.executable, str(COMPOSER), str(tmp_path / "log"), *habits)
        pane = NewPane(seat="coder", launch="0" * 12, label="coder", argv=argv)
        agent = Agent(tmux, tmux.open_panes(made.session.id, [pane])["0" * 12], tmp_path / "log")
        wait_until(lambda: ready in agent.text())
        return agent

    return started


def framed(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


def test_a_text_is_pasted_once_and_submitted_by_one_enter(start: Start) -> None:
    agent = start()
    delivery = agent.deliver()
    assert delivery.result is DeliveryResult.SUBMITTED, delivery
    assert agent.read() == [framed(TEXT), "\r"]
    assert "busy" in delivery.evidence


def test_it_waits_for_a_composer_that_comes_late(start: Start) -> None:
    agent = start("slow", ready="loading")
    assert agent.deliver().result is DeliveryResult.SUBMITTED
    assert agent.read() == [framed(TEXT), "\r"]


def test_lines_and_a_marker_for_many_of_them(start: Start) -> None:
    agent = start()
    text = "first line\n\n" + "\n".join(f"line {number}" for number in range(100))
    assert agent.deliver(text).result is DeliveryResult.SUBMITTED
    read = "".join(agent.read())
    assert read == framed(text) + "\r"


def test_a_long_text_wraps_and_is_known_by_its_end(start: Start) -> None:
    agent = start()
    assert agent.deliver("word " * 70 + "end").result is DeliveryResult.SUBMITTED


def test_nothing_in_a_text_ends_the_paste_early(start: Start) -> None:
    agent = start()
    agent.deliver("a\x1b[201~\rrm -rf /\r\x03\x1bb\x9b201~\x00")
    assert agent.read() == [framed("a\nrm -rf /\nb201~"), "\r"]


def test_a_busy_agent_queues(start: Start) -> None:
    agent = start("busy")
    assert agent.deliver().result is DeliveryResult.QUEUED


def test_an_agent_that_is_done_at_once_shows_the_text(start: Start) -> None:
    delivery = start("idle").deliver()
    assert delivery.result is DeliveryResult.SUBMITTED
    assert "transcript" in delivery.evidence


def test_an_agent_that_shows_nothing_leaves_it_unknown(start: Start) -> None:
    agent = start("idle", "silent")
    assert agent.deliver(deadline_s=1).result is DeliveryResult.UNKNOWN
    assert agent.read() == [framed(TEXT), "\r"]


def test_a_lost_enter_is_pressed_once_more(start: Start) -> None:
    agent = start("slow-enter")
    assert agent.deliver().result is DeliveryResult.SUBMITTED
    assert agent.read() == [framed(TEXT), "\r", "\r"]


def test_a_text_that_stays_is_not_claimed_as_sent(start: Start) -> None:
    agent = start("deaf")
    delivery = agent.deliver(deadline_s=2, once=True)
    assert delivery.result is DeliveryResult.TYPED_NOT_SUBMITTED
    assert agent.read() == [framed(TEXT), "\r", "\r"]
    assert TEXT in agent.text()


@pytest.mark.parametrize("text", [TEXT, "one line\nand another"])
def test_a_text_that_stays_is_removed_again(start: Start, text: str) -> None:
    """Else it would look like a draft of the user, and every later text would be refused."""
    agent = start("deaf")
    delivery = agent.deliver(text, deadline_s=2)
    assert delivery.result is DeliveryResult.TYPED_NOT_SUBMITTED
    assert "removed again" in delivery.evidence
    assert text.splitlines()[-1] not in agent.text()
    assert agent.deliver("another", deadline_s=2).typed


def test_what_the_user_has_added_is_not_removed(start: Start) -> None:
    agent = start("deaf")
    pasted = agent.terminal.paste

    def add(pane: str, text: str) -> None:
        pasted(pane, text)
        pasted(pane, " and mine")  # the user types on

    agent.terminal.paste = add  # type: ignore[method-assign]  # a person who types
    delivery = agent.deliver("see the notes", deadline_s=2)
    assert "removed again" not in delivery.evidence
    assert "> see the notes and mine" in agent.text()
    assert not {"\x15", "\x7f"} & set(agent.read())


@pytest.mark.parametrize("text", ["!ls", "/tmp is full", " \n/clear", "\u202e!ls"])
def test_a_text_that_would_be_a_command_is_not_typed(start: Start, text: str) -> None:
    agent = start()
    delivery = agent.deliver(text)
    assert (delivery.result, delivery.typed) == (DeliveryResult.REFUSED_COMMAND, False)
    assert "is a command to composer; nothing was typed" in delivery.evidence
    assert agent.read() == []


def test_an_agent_without_commands_gets_every_text(start: Start) -> None:
    agent = start()
    assert agent.deliver("/tmp is full", spec=replace(SPEC, commands=None)).typed
    assert agent.read()[0] == framed("/tmp is full")


def test_a_backslash_at_the_end_does_not_keep_enter_from_submitting(start: Start) -> None:
    agent = start("continues")
    delivery = agent.deliver("look in C:\\")
    assert delivery.result is DeliveryResult.SUBMITTED, delivery
    assert agent.read() == [framed("look in C:\\ "), "\r"]


def test_a_draft_is_left_alone(start: Start) -> None:
    agent = start("draft=please do")
    delivery = agent.deliver()
    assert delivery.result is DeliveryResult.REFUSED_DRAFT
    assert "nothing was typed" in delivery.evidence
    assert agent.read() == []
    assert "> please do" in agent.text()


def test_an_agent_at_its_limit_is_left_alone(start: Start) -> None:
    agent = start("dialog=rm")
    limited = replace(SPEC, waiting=None, limit="Do you want to")
    assert agent.deliver(spec=limited).result is DeliveryResult.REFUSED_DIALOG
    assert agent.read() == []


LEFT = replace(SPEC, limit=None, limit_menu="^ > 1. Stop and wait")


def test_the_menu_of_a_limit_that_is_over_is_left_with_one_enter(start: Start) -> None:
    agent = start("menu", ready="Stop and wait")
    assert agent.deliver(spec=LEFT).result is DeliveryResult.SUBMITTED
    assert agent.read() == ["\r", framed(TEXT), "\r"]


def test_a_menu_that_stays_gets_no_second_enter() -> None:
    frames = Frames("usage limit\n > 1. Stop and wait")
    frames.spec = LEFT
    assert frames.deliver().result is DeliveryResult.UNKNOWN
    assert frames.done == ["enter"]


def test_a_dialog_is_left_alone(start: Start) -> None:
    agent = start("dialog=rm")
    assert agent.deliver().result is DeliveryResult.REFUSED_DIALOG
    assert agent.read() == []


def test_a_dialog_that_comes_with_enter_gets_no_second_one(start: Start) -> None:
    agent = start("asks=rm")  # the dialog replaces the composer; our line now looks like one
    delivery = agent.deliver(deadline_s=2)
    assert delivery.result is DeliveryResult.UNKNOWN
    assert "waiting" in delivery.evidence
    assert agent.read() == [framed(TEXT), "\r"]


def test_a_screen_without_a_composer_gets_nothing(start: Start) -> None:
    agent = start()
    delivery = agent.deliver(spec=replace(SPEC, ready="^no such prompt"), deadline_s=0.3)
    assert delivery.result is DeliveryResult.UNKNOWN
    assert "nothing was typed" in delivery.evidence
    assert agent.read() == []


def test_what_is_not_seen_gets_no_enter(start: Start) -> None:
    agent = start("blind")
    assert agent.deliver(deadline_s=3).result is DeliveryResult.UNKNOWN
    assert agent.read() == [framed(TEXT)]


def test_a_pane_that_is_gone_is_said(start: Start) -> None:
    agent = start()
    agent.terminal.close_panes([agent.pane])
    assert agent.deliver().result is DeliveryResult.PANE_GONE


def test_a_server_that_does_not_answer_leaves_it_unknown(fake_terminal: FakeTerminal) -> None:
    fake_terminal.freeze()
    agent = Agent(fake_terminal, "%1", Path("/nowhere"))
    delivery = agent.deliver()
    assert delivery.result is DeliveryResult.UNKNOWN
    assert "nothing was typed" in delivery.evidence


def test_copy_mode_is_left_first(start: Start) -> None:
    agent = start()
    assert isinstance(agent.terminal, TmuxTerminal)
    agent.terminal.run("copy-mode", "-t", agent.pane)
    assert agent.deliver().result is DeliveryResult.SUBMITTED


ASKS = "printf 'Add .gitignore? (Y)es/(N)o [Yes]: '; read x; echo got $x; exec sleep 1000"


@pytest.mark.parametrize("known", [UNKNOWN, replace(SPEC, ready="^> $", waiting=None)])
def test_what_cannot_be_recognised_as_an_input_field_gets_nothing(
    tmux: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil, known: AgentSpec
) -> None:
    made = tmux.create_session(
        name="agentmux-d", uuid="u", cwd=tmp_path, size=(120, 40), argv=("sh", "-c", ASKS)
    )
    wait_until(lambda: "[Yes]:" in tmux.capture([made.pane])[made.pane].text)
    agent = Agent(tmux, made.pane, tmp_path)
    delivery = agent.deliver("hello there", spec=known, deadline_s=0.3)
    assert (delivery.result, delivery.typed) == (DeliveryResult.UNKNOWN, False)
    assert "nothing was typed" in delivery.evidence
    assert agent.text().strip().endswith("[Yes]:")


def test_typed_blind_the_cursor_tells_and_proves_nothing(
    tmux: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    made = tmux.create_session(
        name="agentmux-d",
        uuid="u",
        cwd=tmp_path,
        size=(120, 40),
        argv=("sh", "-c", "printf '? '; read x; echo got $x; exec sleep 1000"),
    )
    wait_until(lambda: "?" in tmux.capture([made.pane])[made.pane].text)
    agent = Agent(tmux, made.pane, tmp_path)
    delivery = agent.deliver("hello there", spec=BLIND)
    assert (delivery.result, delivery.typed) == (DeliveryResult.UNKNOWN, True), delivery
    assert "nothing on the screen can prove more" in delivery.evidence
    assert "got hello there" in agent.text()


def test_no_second_enter_for_an_agent_that_shows_no_work(start: Start) -> None:
    """Its text may stand while it works: Enter would answer its next question."""
    agent = start("deaf")
    still = agent.deliver(spec=replace(SPEC, busy=None), deadline_s=2)
    assert still.result is DeliveryResult.TYPED_NOT_SUBMITTED
    assert agent.read() == [framed(TEXT), "\r"]


def test_a_program_that_has_drawn_nothing_yet_gets_nothing(
    tmux: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil
) -> None:
    made = tmux.create_session(
        name="agentmux-d",
        uuid="u",
        cwd=tmp_path,
        size=(120, 40),
        argv=("sh", "-c", "while [ ! -e up ]; do :; done; printf '? '; read x; echo got $x; cat"),
    )
    agent = Agent(tmux, made.pane, tmp_path)
    delivery = agent.deliver("hello there", spec=BLIND, deadline_s=0.5)
    assert delivery.result is DeliveryResult.UNKNOWN
    assert "nothing was typed" in delivery.evidence
    assert agent.text().strip() == ""

    (tmp_path / "up").touch()
    wait_until(lambda: "?" in agent.text())
    assert agent.deliver("now", spec=BLIND).typed
    assert "got now" in agent.text()


@pytest.mark.parametrize("text", ["", " \x1b\x00\n", "x" * (LINE_MAX + 1)])
def test_a_text_that_cannot_be_typed_is_refused(fake_terminal: Flat, text: str) -> None:
    with pytest.raises(ValueError, match="a text to type"):
        Agent(fake_terminal, "%1", Path("/nowhere")).deliver(text)


@pytest.mark.parametrize(
    ("ansi", "text"),
    [
        ("> \x1b[2mTry it\x1b[0m x", ">        x"),
        ("> \x1b[7mT\x1b[0;2mry it\x1b[0m", ">       "),
        ("> \x1b[7mT\x1b[0mry it", "> Try it"),
        ("\x1b[38;5;2mgreen\x1b[38;2;2;2;2mrgb", "greenrgb"),
        ("\x1b[2ma\nb\x1b[22mc", " \n c"),
        ("\x1b[2m──\n\x1b[mx\n\x1b[2m━━", "──\nx\n━━"),
        ("\x1b[2;1mbold", "bold"),
        ("\x1b[2ma\x1b[mb", " b"),
        ("* \x1b[4mA\x1b[0;38;5;103m title\n\x1b[38;5;131m──", "*        \n──"),
        ("* \x1b[4mA\x1b[0mnd", "* And"),
        ("* an\x1b[4md\x1b[0m", "* and"),
        ("\x1b[4mlink\x1b[24;31mred\x1b[39m", "linkred"),
    ],
)
def test_placeholders_are_no_text(ansi: str, text: str) -> None:
    assert blank_placeholder(ansi) == text


def test_what_has_no_width_ends_no_text() -> None:
    """Qwen draws its cursor after the text as a zero-width character."""
    row = "* and what it says.\u200b "
    screen = Screen(ansi=row, text=row, cols=40, rows=1, cursor_row=0, cursor_col=21)
    composer = find_composer(screen, BLIND)
    assert composer is not None
    assert composer.body.endswith("whatitsays.")


@pytest.mark.parametrize(
    ("rows", "draft"),
    [
        (["> old", "answer", "> ", "", "footer"], ""),
        (["> old", "> half a", "  thought", "────", "footer"], "half a\nthought"),
        (["╭────╮", "│ > │", "╰────╯"], ""),
        (["╭────╮", "│ > hm │", "╰────╯"], "hm"),
    ],
)
def test_the_last_composer_counts(rows: list[str], draft: str) -> None:
    text = "\n".join(rows)
    screen = Screen(ansi=text, text=text, cols=80, rows=24, cursor_row=0, cursor_col=0)
    composer = find_composer(screen, replace(SPEC, ready="^(│ )?> ?"))
    assert composer is not None
    assert composer.draft == draft


@pytest.mark.parametrize("draft", ["", "half a", "half a\n\nthought"])
def test_a_pattern_can_say_which_rows_hold_what_was_typed(draft: str) -> None:
    """Needed for composers with other rows below the draft, such as opencode's mode."""
    rows = ("| old", "", "|", *(f"| {row}" for row in draft.split("\n")), "|", "| Build", "'====")
    text = "\n".join(rows).replace("|", "┃")
    screen = Screen(ansi=text, text=text, cols=80, rows=24, cursor_row=0, cursor_col=0)
    ready = r"^┃\n┃ (?P<draft>[^\n]*(?:\n┃[^\n]*)*?)\n┃\n┃ Build\n'="
    composer = find_composer(screen, replace(SPEC, ready=ready))
    assert composer is not None
    assert composer.draft == draft
    assert composer.body.endswith("Build'====")


def test_what_is_not_seen_is_taken_out_of_a_text() -> None:
    """An agent that does not show it would never be seen to have the text."""
    assert clean("turn \u202eback\u202c, \u2066a\u2069 \u200bwide\ufeff \U000e0041view") == (
        "turn back, a wide view"
    )
    joined = "\N{WOMAN}\u200d\N{PERSONAL COMPUTER} \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert clean(joined) == joined


def test_controls_are_taken_out_of_a_text() -> None:
    assert clean("\ta\r\nb\rc\x1b[200~\x07\x85 ü\x1b[201~ ") == "a\nb\nc ü"


def test_a_pane_that_goes_with_the_text_is_said(start: Start) -> None:
    agent = start("die")
    delivery = agent.deliver(deadline_s=1)
    # The pane stays with its last screen, which does not show the text: the result is unknown.
    assert delivery.result is DeliveryResult.UNKNOWN
    assert agent.read() == [framed(TEXT)]


def test_what_was_typed_before_is_only_submitted(start: Start, wait_until: WaitUntil) -> None:
    agent = start()
    agent.terminal.paste(agent.pane, TEXT)
    wait_until(lambda: len(agent.read()) == 1)
    assert agent.deliver(once=True).result is DeliveryResult.SUBMITTED
    assert agent.read() == [framed(TEXT), "\r"]


@pytest.mark.parametrize("habit", ["idle", "busy"])
def test_what_was_submitted_before_is_left_alone(
    start: Start, wait_until: WaitUntil, habit: str
) -> None:
    agent = start(habit)
    agent.terminal.paste(agent.pane, TEXT)
    wait_until(lambda: len(agent.read()) == 1)
    agent.terminal.press_enter(agent.pane)
    wait_until(lambda: len(agent.read()) == 2)
    delivery = agent.deliver(once=True)
    assert delivery.result is DeliveryResult.SUBMITTED
    assert "transcript" in delivery.evidence
    assert "nothing was typed" in delivery.evidence
    assert agent.read() == [framed(TEXT), "\r"]


def test_what_nobody_typed_before_is_typed(start: Start) -> None:
    agent = start()
    assert agent.deliver(once=True).result is DeliveryResult.SUBMITTED
    assert agent.read() == [framed(TEXT), "\r"]


def test_the_draft_of_another_stays_one(start: Start) -> None:
    agent = start("draft=please do")
    assert agent.deliver(once=True).result is DeliveryResult.REFUSED_DRAFT
    assert agent.read() == []


class Frames:
    """A pane that shows one given screen per capture; the last one stays."""

    def __init__(self, *texts: str, paste: str = "", enter: str = "") -> None:
        self._texts = list(texts)
        self._fails = {"paste": paste, "enter": enter}
        self.done: list[str] = []
        self.spec = SPEC

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        text = self._texts.pop(0) if len(self._texts) > 1 else self._texts[0]
        row = len(text.split("\n")) - 1
        screen = Screen(ansi=text, text=text, cols=80, rows=24, cursor_row=row, cursor_col=2)
        return dict.fromkeys(panes, screen)

    def paste(self, pane: str, text: str) -> None:
        self._do("paste")

    def press_enter(self, pane: str) -> None:
        self._do("enter")

    def press_keys(self, pane: str, keys: Sequence[str]) -> None:
        self._do("keys")

    def _do(self, what: str) -> None:
        if self._fails[what]:
            raise TerminalUnreachableError(self._fails[what])
        self.done.append(what)

    def deliver(self) -> TypingResult:
        typing = deliver(self, "%1", "go on", self.spec, deadline_s=0.3)  # type: ignore[arg-type]  # all it asks
        return asyncio.run(typing)


def test_a_busy_mark_proves_what_was_typed_blind() -> None:
    frames = Frames("?\n  ", "?\n  ", "?\ngo on", "go on\n* (esc to interrupt)\n  ")
    frames.spec = replace(BLIND, busy=SPEC.busy)
    delivery = frames.deliver()
    assert (delivery.result, delivery.typed) == (DeliveryResult.SUBMITTED, True), delivery
    assert frames.done == ["paste", "enter"]


def test_one_look_at_an_empty_composer_is_not_enough() -> None:
    """The user may have started to type after that look."""
    frames = Frames("> ", "> my own", "> my own")
    assert frames.deliver().result is DeliveryResult.REFUSED_DRAFT
    assert frames.done == []


@pytest.mark.parametrize(
    ("fails", "done", "says"),
    [
        ({"enter": "no answer"}, ["paste"], "no answer; the text may have been typed"),
        ({"paste": "no answer"}, [], "no answer; the text may have been typed"),
    ],
)
def test_a_server_that_goes_silent_at_the_paste_may_have_the_text(
    fails: dict[str, str], done: list[str], says: str
) -> None:
    frames = Frames("> ", "> ", "> go on", **fails)
    delivery = frames.deliver()
    assert (delivery.result, delivery.evidence) == (DeliveryResult.UNKNOWN, says)
    assert frames.done == done


def short(*texts: str) -> Frames:
    """Return an agent that is told "ok" while these characters are elsewhere on its screen."""
    frames = Frames(*(f"look ok\n{text}\n---\n ok to go on" for text in texts))
    frames.spec = replace(SPEC, ready="^>(?P<draft>.*)$")
    return frames


def test_a_short_text_is_seen_only_where_it_was_typed() -> None:
    shown = short("> ", "> ", "> ", "> ok", "ok\n> ", "ok\n> ")
    done = asyncio.run(deliver(shown, "%1", "ok", shown.spec, deadline_s=3))  # type: ignore[arg-type]  # as above
    assert (done.result, shown.done) == (DeliveryResult.SUBMITTED, ["paste", "enter"])


def test_a_short_text_that_was_there_before_proves_nothing() -> None:
    shown = short("> ", "> ", "> ok", "> ")
    done = asyncio.run(deliver(shown, "%1", "ok", shown.spec, deadline_s=0.3))  # type: ignore[arg-type]  # as above
    assert (done.result, shown.done) == (DeliveryResult.UNKNOWN, ["paste", "enter"])


def test_nothing_is_typed_after_a_refusal_at_the_last_moment() -> None:
    frames = Frames("> ", "> ")

    def refuse() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        asyncio.run(
            deliver(frames, "%1", "go on", SPEC, deadline_s=0.3, begins=refuse)  # type: ignore[arg-type]  # as above
        )
    assert frames.done == []
