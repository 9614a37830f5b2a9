"""The prompts of a launch, and the files that they are based on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agentmux.app.launch.seat_player import SeatPlayer
from agentmux.app.session.frozen_files import frozen_text
from agentmux.app.signals.checks import QUESTION_MAX
from agentmux.app.world import World
from agentmux.core.agents.spec import StrategyKind
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json
from agentmux.core.conversation.resume_choice import same_work
from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.definitions.definition import Kind
from agentmux.core.documents.review import review_files
from agentmux.core.journal.state import SessionState
from agentmux.core.moving.handover import DIFF, screen_file
from agentmux.core.names import layout
from agentmux.core.names.phase import RESEARCHERS, ResearchKind
from agentmux.core.names.statuses import RESEARCHED
from agentmux.core.pipeline.registry import kind_of, pipeline_of
from agentmux.core.pipeline.verified import told_lines
from agentmux.core.pipeline.work import Work
from agentmux.core.prompts import prompt
from agentmux.core.prompts.progress import handed_in
from agentmux.core.prompts.prompt import Asked, PromptInputs
from agentmux.ports.session_files import SessionFiles

INSTRUCTIONS = "instructions.md"
"""The file in a launch's folder with the full prompt, where ``prompt.md`` is a short message."""


# Bytes read of a prompt that the user may have changed.
_KEPT_MAX: Final = 1 << 20


def _research_folder(work: Work) -> str:
    return layout.research(work.role.partition("-")[0], work.topic)


class LaunchTexts:
    """Composes the prompts of one session; writes no file."""

    def __init__(
        self, world: World, files: SessionFiles, state: SessionState, ahead: Mapping[str, str]
    ) -> None:
        """Take the session and the state in which it launches; ``ahead`` is as for `Launcher`."""
        self._ahead = ahead
        self._world = world
        self._files = files
        self._state = state
        self._digests: dict[str, str] = {}  # most files are the same for all seats

    def texts(self, work: Work, inputs: PromptInputs, history: SeatHistory) -> tuple[str, str]:
        """Return the full prompt, and the short message to a conversation that comes back."""
        again = self.is_again(work, history)
        name = prompt.template_for(
            *(self._state.phase, work.role),
            single=self._is_single(work),
            pipeline=pipeline_of(self._state),
        )
        text = self._template
        full = prompt.render(text(name, again=again), inputs)
        kept = self._kept_prompt(work, history)
        if kept and kept != prompt.render(text(name), inputs):
            full = self._around(kept, inputs, again=again)
        return full, prompt.render(text(prompt.CONTINUE), inputs)

    def _template(self, name: str, *, again: bool = False) -> str:
        """Return a built-in template, or a prompt of one's own as the session froze it.

        Raises:
            DataError: The prompt is gone, or was changed.
        """
        built_in = self._world.templates.template
        if name not in self._state.pipeline_files:
            return built_in(name, again=again)
        before = [built_in("opening"), *([built_in("fresh-again")] if again else [])]
        path = layout.frozen(self._state.pipeline_files[name])
        own = self._ahead.get(path) or frozen_text(self._files, self._state, name)
        return "".join((*before, f"{own.strip()}\n\n", built_in("ending")))

    def _kept_prompt(self, work: Work, history: SeatHistory) -> str:
        """Return the researcher's earlier prompt from the topic's folder; users may edit it there.

        Empty if there is none, or if ``work`` is not research. If the project was moved since, the
        paths in the prompt are updated.
        """
        if not work.topic:
            return ""
        path = f"{_research_folder(work)}/prompt.md"
        text = (self._files.read_artifact(path, _KEPT_MAX)[0] or b"").decode("utf-8", "replace")
        record = history.record
        if record is None or len(record.cwd) < 2:
            return text
        return text.replace(f"{record.cwd}/", f"{self._world.tree}/")

    def _around(self, kept: str, inputs: PromptInputs, *, again: bool) -> str:
        """Return the prompt ``kept`` unchanged, with what this launch needs before and after it."""
        text = self._world.templates.template
        hello = inputs.hello and prompt.HELLO not in kept
        before = [text("opening"), *([text("fresh-again")] if again else [])]
        head = prompt.render("".join(before), replace(inputs, hello=hello))
        told = (*prompt.artifacts(inputs), *prompt.signals(inputs))
        ending = "" if all(each in kept for each in told) else text("ending")
        tail = prompt.render(ending, inputs)
        return "\n\n".join(part.strip() for part in (head, kept, tail) if part.strip()) + "\n"

    def is_again(self, work: Work, history: SeatHistory) -> bool:
        """Whether the seat was launched for the same work before."""
        record = history.record
        return record is not None and same_work(record.epoch, self._place(work))

    def _is_single(self, work: Work) -> bool:
        implementing = kind_of(self._state) is Kind.WORK
        return work.role not in RESEARCHERS and work.subplan is None and implementing

    def inputs(
        self, work: Work, player: SeatPlayer, paths: tuple[str, ...], launch: str
    ) -> PromptInputs:
        """Return everything that the prompt of a launch can say.

        Args:
            work: What the seat is to do.
            player: Who plays the seat.
            paths: The files that the agent is to read, relative to the session.
            launch: The id of the launch.
        """
        state, base = self._state, str(self._files.path)
        request = state.change_request
        learns = player.strategy.kind is StrategyKind.LEARN
        made = PromptInputs(
            session_dir=base,
            project_dir=str(self._world.tree),
            pipeline=pipeline_of(state),
            phase=state.phase,
            role=work.role,
            seat=work.seat,
            cycle=state.cycle,
            iteration=state.iteration,
            subplan=work.subplan,
            subplan_title=self._title(work.subplan),
            subplans=tuple((n, self._title(n)) for n in state.implementation_active_plan_ids),
            topic=work.topic,
            question=self._question(work),
            feature=state.feature,
            issue=state.issue,
            reviewed=state.reviewed,
            checks=told_lines(state),
            inputs=tuple(f"{base}/{path}" for path in paths),
            change_request_path=f"{base}/{request}" if request else None,
            hello=learns and player.strategy.learn != "hook",
            extension=self._world.templates.extension(work.role),
            submitted=handed_in(state),
            asked=tuple(self._asked(work.seat)),
            moved_from=str(state.agents.get(work.seat, {}).get("moved_from") or ""),
            handover=tuple(self._handover(work.seat)),
            instruction_file=f"{base}/{layout.launch(launch)}/{INSTRUCTIONS}",
        )
        open_items = (*prompt.artifacts(made), *prompt.signals(made))
        return replace(made, open_items=open_items, drafts=self._drafts(made))

    def _handover(self, seat: str) -> Iterator[str]:
        """Yield the absolute paths of what an import has left for this seat."""
        if self._state.agents.get(seat, {}).get("moved_from"):
            for path in (DIFF, screen_file(seat)):
                if self._files.has_file(f"{self._files.path}/{path}"):
                    yield f"{self._files.path}/{path}"

    def _drafts(self, inputs: PromptInputs) -> tuple[str, ...]:
        """Return the absolute paths of the seat's artifacts that exist already.

        They are drafts: if they were complete, the seat would not be started.
        """
        files, gone = self._files, self._state.pending_archive
        base = f"{files.path}/"
        left = (*prompt.artifacts(inputs), *(base + path for path in self._reviews(inputs)))
        there = [path for path in dict.fromkeys(left) if files.has_file(path)]
        markers = prompt.markers(inputs)
        there += [base + path for path in markers if files.read_artifact(path, 0)[1] != "missing"]
        return tuple(
            path for path in there if not any(each.takes(path.removeprefix(base)) for each in gone)
        )

    def _reviews(self, inputs: PromptInputs) -> tuple[str, ...]:
        """Return all paths, relative to the session, at which a review by this reviewer may be.

        There are none unless ``inputs`` are those of a reviewer in a review.
        """
        if kind_of(self._state) is not Kind.REVIEW or inputs.role in RESEARCHERS:
            return ()
        folder = pipeline_of(self._state)[self._state.phase].folder
        alone = self._state.reviewer_nominations == (inputs.role,)
        return tuple(f"{folder}/{name}" for name in review_files(inputs.role, alone=alone))

    def _asked(self, seat: str) -> Iterator[Asked]:
        """Yield the research that this seat has asked for."""
        for kind in ResearchKind:
            for topic, status in self._state.tasks(kind).items():
                asked = self._state.research.get(f"{kind}-{topic}")
                if asked is not None and seat in asked.owners:
                    folder = f"{self._files.path}/{layout.research(kind, topic)}"
                    answer = f"{folder}/summary.md" if status == RESEARCHED else ""
                    yield Asked(kind=kind, topic=topic, question=asked.question, answer=answer)

    def _title(self, index: int | None) -> str:
        for group in self._state.implementation_groups:
            plans = group.get("plans")
            for plan in plans if isinstance(plans, list) else ():
                if plan.get("index") == index:
                    return str(plan.get("name", ""))
        return ""

    def _question(self, work: Work) -> str:
        if not work.topic:
            return ""
        asked = self._state.research.get(f"{work.role.partition('-')[0]}-{work.topic}")
        if asked is not None and asked.question.strip():
            return asked.question
        path = f"{_research_folder(work)}/request.md"  # as an older session asked
        data = self._files.read_artifact(path, QUESTION_MAX)[0] or b""
        return data.decode("utf-8", "replace").removeprefix(f"# {work.topic}").strip()

    def epoch(self, work: Work, paths: tuple[str, ...]) -> Json:
        """Return what a conversation about ``work`` depends on; a change makes it outdated.

        That is phase, cycle, iteration and sub-plan, and the digests of the files to read.
        """
        named = (layout.CONTEXT, layout.REQUIREMENTS, *paths)
        for path in named:
            if path not in self._digests:
                self._digests[path] = self._files.digest(path)
        return {**self._place(work), "files": {path: self._digests[path] for path in named}}

    def _place(self, work: Work) -> dict[str, object]:
        state = self._state
        return {
            "phase": state.phase,
            "cycle": state.cycle,
            "iteration": state.iteration,
            "subplan": work.subplan,
        }
