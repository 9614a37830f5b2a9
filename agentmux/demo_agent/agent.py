"""One run of the offline agent, which handles prompts until it quits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from agentmux.demo_agent.conversation.conversation import (
    Conversation,
    asks_code_word,
    write_checkpoint,
)
from agentmux.demo_agent.conversation.user_interface import UserInterface
from agentmux.demo_agent.errors import QuitError, TurnCancelledError
from agentmux.demo_agent.hooks import HookRunner
from agentmux.demo_agent.options import HELP, VERSION, AgentOptions
from agentmux.demo_agent.scenario import Behaviour
from agentmux.demo_agent.seat import OwnSeat
from agentmux.demo_agent.work import commands, instructions
from agentmux.demo_agent.work.trace import Trace
from agentmux.demo_agent.work.work import SeatWork

THREAD_VARIABLE: Final = "DEMO_THREAD_ID"
"""With ``--learn``, the environment variable that tells commands the conversation's id."""
_LIMIT: Final = "You have reached your usage limit · it resets at "


class RunSettings(NamedTuple):
    """The settings of one run, which do not change while it lasts.

    Attributes:
        options: The parsed command line.
        env: The environment variables.
        cwd: The working directory, without symbolic links.
        seat: The agent's seat in a session of AgentMux.
        behaviour: How the agent behaves in this run.
        counters: The folder with the files in which the runs of a seat count launches and crashes.
    """

    options: AgentOptions
    env: Mapping[str, str]
    cwd: str
    seat: OwnSeat
    behaviour: Behaviour
    counters: Path


class Agent:
    """The offline agent in one run: handles prompts until the user or the scenario ends it."""

    def __init__(
        self,
        setting: RunSettings,
        conversation: Conversation,
        face: UserInterface,
        hooks: HookRunner,
        *,
        renew: Callable[[], Conversation],
    ) -> None:
        """Set up the agent.

        Args:
            setting: The settings of this run.
            conversation: The conversation to begin or to continue.
            face: The user interface.
            hooks: Runs the configured hooks.
            renew: Returns a new conversation; called for ``/clear``.
        """
        self._setting, self._renew, self._face, self._hooks = setting, renew, face, hooks
        self._conversation = conversation
        self._trace = Trace(setting.env.get("AGENTMUX_DEMO_TRACE"), setting.seat)
        self._held: instructions.Instructions | None = None
        self._awaited: list[tuple[str, str]] = []
        self._is_answered = False
        self._prompts = 0
        self._limit_end: datetime | None = None

    def run(self, source: str) -> NoReturn:
        """Greet the user, then handle prompts until the run ends.

        Args:
            source: Why the run began, for the hook ``SessionStart``: ``startup`` or ``resume``.

        Raises:
            QuitError: The run ends. It is always raised, because the method does not return.
        """
        self._greet()
        self._fire("SessionStart", source=source)
        if self._setting.options.prompt:
            self.take(self._setting.options.prompt)
        while True:
            self.take(self._face.next_prompt())

    def take(self, prompt: str) -> str:
        """Handle a prompt; return its outcome: ``done``, ``failed`` or ``cancelled``.

        A slash command such as ``/clear`` is done, and is no part of the conversation.

        Raises:
            QuitError: The prompt is ``/exit`` or ``/quit``, or the user or the scenario ends the
                run.
        """
        words = prompt.strip()
        if words in _SLASH:
            self._slash(words)
            return "done"
        self._prompts += 1
        self._trace.add_line("prompted", prompt)
        self._face.say("> " + words.replace("\n", "\n  "))
        self._conversation.begin(prompt)
        self._fire("UserPromptSubmit", prompt=prompt)
        self._face.busy(True)
        answer, outcome = self._turn(prompt)
        # The conversation is on disk before the screen shows that the turn is over.
        self._close_turn(answer, outcome)
        self._face.busy(False)
        self._face.say(f"● {answer}" if answer else "")
        self._fire("Stop", outcome=outcome)
        return outcome

    # one turn

    def _turn(self, prompt: str) -> tuple[str, str]:
        try:
            return self._answer(prompt)
        except TurnCancelledError:
            return "Interrupted by the user.", "cancelled"
        except OSError as error:
            return f"Error: {error}", "failed"

    def _close_turn(self, answer: str, outcome: str) -> None:
        self._conversation.end(answer, outcome)
        folder = self._setting.options.checkpoint_dir
        if folder:
            write_checkpoint(Path(folder), self._conversation)

    def _answer(self, prompt: str) -> tuple[str, str]:
        life = self._setting.behaviour
        if life.limit is True:
            return f"{_LIMIT}5pm", "failed"
        asked, text = self._read_prompt(prompt)
        if life.limit and (until := self._limited_until(life.limit)):
            self._held = asked
            return f"{_LIMIT}{until}", "failed"
        if self._is_silent(asked):
            return "", "done"
        self._face.work(life.think)
        for number in range(1, life.flood + 1):
            self._face.say(f"  line {number} of {life.flood}")
        recalled = (self._recall(),) if asks_code_word(text) else ()
        if asked is not None and asked.has_work:
            return "\n".join((self._work(asked), *recalled)), "done"
        return recalled[0] if recalled else f"I heard: {prompt.strip().splitlines()[0]}", "done"

    def _limited_until(self, seconds: float) -> str:
        """Return when the usage limit ends; empty if it has ended.

        The limit lasts for ``seconds`` from the first call.
        """
        now = datetime.now(UTC)
        self._limit_end = self._limit_end or now + timedelta(seconds=seconds)
        return "" if now >= self._limit_end else self._limit_end.isoformat()

    def _read_prompt(self, prompt: str) -> tuple[instructions.Instructions | None, str]:
        """Return the instructions to follow now, and the text in which to look for a question.

        The question is ``what is the code word?`` (docs/reference/demo-agent.md). The text is the
        prompt, with the text of the file that it names.

        If the prompt names a file, the instructions are in that file. Otherwise, they are the
        instructions that the agent has postponed until a later prompt; None if it has postponed
        none, or still waits for research.
        """
        path = instructions.named_file(prompt)
        if path is not None:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
            self._conversation.read(text)
            self._held, self._awaited, self._is_answered = None, [], False
            return _with_example(instructions.parse(text)), f"{prompt}\n{text}"
        if self._awaited and not self._is_told(prompt):
            return None, prompt
        held, self._held = self._held, None
        return held, prompt

    def _is_told(self, prompt: str) -> bool:
        """Whether all research that the agent waits for is done.

        Research counts as done if ``prompt`` names its topic, or the session has its result.
        """
        worker = self._worker()
        self._awaited = [
            (kind, topic)
            for kind, topic in self._awaited
            if not _names(prompt, topic) and not worker.is_researched(kind, topic)
        ]
        self._is_answered = not self._awaited
        return self._is_answered

    def _is_silent(self, asked: instructions.Instructions | None) -> bool:
        silent = self._setting.behaviour.silent
        if silent == "until-told" and self._prompts == 1:
            self._held = asked
            return True
        return silent is True

    def _recall(self) -> str:
        word = self._conversation.code_word()
        if word is None:
            return "I do not know a code word."
        self._trace.add_line("remembered", word)
        return f"The code word is {word}."

    def _work(self, asked: instructions.Instructions) -> str:
        waits = self._setting.behaviour.submit in _UNTIL_TOLD
        told = waits and self._prompts > 1
        worker = self._worker(only_submit=told)
        if asked.hello:
            worker.hello()
        self._awaited = [] if self._is_answered else worker.needed_research()
        if self._awaited:
            self._held = asked
            return "Waiting for research: " + ", ".join(topic for _, topic in self._awaited)
        if waits and not told:
            self._held = asked
        return worker.do(asked)

    def _worker(self, *, only_submit: bool = False) -> SeatWork:
        setting = self._setting
        life = (
            setting.behaviour._replace(submit="yes", write="none")
            if only_submit
            else setting.behaviour
        )
        return SeatWork(setting.seat, life, self._trace, run=self._run, counters=setting.counters)

    def _run(self, argv: Sequence[str]) -> commands.CommandResult:
        """Run a command and show its output.

        The user is asked for permission first, if the options or the scenario say so.

        Raises:
            TurnCancelledError: The user did not permit the command.
        """
        setting = self._setting
        if setting.options.permission_mode == "ask" or setting.behaviour.dialog == "permission":
            head = ("Bash command", "", f"  {' '.join(argv)}", "", "Do you want to proceed?")
            if self._face.choose(head, ("Yes", "No"), 0) != 0:
                raise TurnCancelledError
        env = {key: value for key, value in setting.env.items() if key != THREAD_VARIABLE}
        if setting.options.learn:
            env[THREAD_VARIABLE] = self._conversation.id
        ran = commands.run(argv, env)
        self._face.say(f"● Bash({' '.join(argv)})")
        self._face.say(
            "\n".join(f"  ⎿ {line}" for line in ran.text.splitlines() or ["(no output)"])
        )
        return ran

    # around the turns

    def _greet(self) -> None:
        setting = self._setting
        model = f" · {setting.options.model}" if setting.options.model else ""
        self._face.say(f"✻ Demo agent {VERSION}{model}\n  {setting.cwd}\n")
        turns = self._conversation.turns
        if turns:
            self._face.say(f"  (resumed, {len(turns)} turns)")
        for turn in turns[-3:]:
            prompt = turn.prompt.strip().replace("\n", "\n  ")
            self._face.say(f"> {prompt}\n● {turn.answer}")

    def _slash(self, word: str) -> None:
        if word in {"/exit", "/quit"}:
            raise QuitError(0)
        if word == "/clear":
            self._conversation = self._renew()
            self._held, self._awaited, self._is_answered = None, [], False
            self._face.say("(a new conversation)")
            self._fire("SessionStart", source="clear")
        else:
            self._face.say(HELP)

    def _fire(self, event: str, **fields: str) -> None:
        if not self._setting.options.learn:
            fields["session_id"] = self._conversation.id
        self._hooks.fire(event, cwd=self._setting.cwd, **fields)


def _names(prompt: str, topic: str) -> bool:
    """Whether ``topic`` is a whole word in ``prompt``; ``auth`` is only a part of ``auth-web``."""
    return re.search(rf"(?<![\w-]){re.escape(topic)}(?![\w-])", prompt) is not None


_UNTIL_TOLD: Final = frozenset({"when-told", "killed"})
_SLASH: Final = frozenset({"/exit", "/quit", "/clear", "/help", "?"})


def _with_example(asked: instructions.Instructions) -> instructions.Instructions:
    """Return the instructions; take a missing ``example`` from the full instructions."""
    if asked.example or not asked.full or not Path(asked.full).is_file():
        return asked
    full = Path(asked.full).read_text(encoding="utf-8", errors="replace")
    return asked._replace(example=instructions.parse(full).example)
