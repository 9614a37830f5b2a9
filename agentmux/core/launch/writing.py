"""The contents that a launch writes: its resume record, and the files of its folder.

docs/reference/session-files.md describes the fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from agentmux.core.agents.environment import MODE
from agentmux.core.agents.spec import StrategyKind
from agentmux.core.codec.records import Json, to_fields
from agentmux.core.conversation.resume_choice import Native, PaneStart
from agentmux.core.conversation.resume_record import ResumeRecord
from agentmux.core.journal.events import LaunchChosen
from agentmux.core.journal.state import SessionState
from agentmux.core.launch.plan import PROMPT, LaunchPlan
from agentmux.core.launch.texts import INSTRUCTIONS
from agentmux.core.names import layout
from agentmux.core.names.conversations import how_it_comes_back, pane_label
from agentmux.core.names.statuses import STOPPED

GRACE_S: Final = 3.0
"""How many seconds an agent has to end after it is asked to; then it is killed."""
RESUME: Final = "resume"
FRESH: Final = "fresh"
SHELL: Final = "shell"

_SAYS: Final[Mapping[str, str]] = {
    RESUME: how_it_comes_back(PaneStart.NATIVE, ""),
    FRESH: how_it_comes_back(PaneStart.FRESH, ""),
    SHELL: "you play the role",
}


def launch_files(state: SessionState, plan: LaunchPlan, *, waits: str) -> Mapping[str, str]:
    """Return the content of each file for the launch's folder, by its name; nothing is written.

    These are ``prompt.md``, ``launch.json`` (what the pane runs), the files of
    `AgentCommand.files`, and for a resumed conversation ``instructions.md`` with the full prompt.

    Args:
        state: The state of the session at the launch.
        plan: The launch.
        waits: Why the pane waits for the user's choice before it starts an agent; empty if it does
            not wait.
    """
    fields = {
        **_runs(state, plan),
        "unset": list(plan.player.unset),
        "cwd": plan.facts.session_facts.tree,
        "grace_s": GRACE_S,
    }
    if waits or plan.rung is PaneStart.SCREEN:
        fields["gate"] = _gate(state, plan, waits=waits)
    own = {INSTRUCTIONS: plan.full_prompt} if plan.rung is PaneStart.NATIVE else {}
    text = json.dumps(fields, indent=1)
    return {**own, **plan.command.files, PROMPT: plan.prompt, "launch.json": text}


def launch_label(plan: LaunchPlan, *, waits: str) -> str:
    """Return the label of the launch's pane; ``waits`` as in `launch_files`."""
    return pane_label(plan.work.seat, plan.player.spec.name, STOPPED if waits else plan.mode)


def record_fields(plan: LaunchPlan) -> Json:
    """Return the fields of the resume record to write down for a launch; writes nothing itself.

    A resume record is what has to be known to resume the agent's conversation later. These are the
    fields of `resume_record`, without those that only a rewind or an import writes. If the launch
    starts no agent, they are those of the seat's existing record, if it has one, with ``place``
    (phase, cycle, iteration and sub-plan) from this launch and ``handed_in`` False.
    """
    record = resume_record(plan)
    fields = to_fields(record)
    del fields["rewound"]  # only a rewind writes it
    del fields["moved_from"]  # only an import writes it
    kept = None if plan.plays else plan.history.fields
    return {**kept, "place": fields["place"], "handed_in": False} if kept else fields


def resume_record(plan: LaunchPlan) -> ResumeRecord:
    """Return the resume record with which the launch's conversation can be resumed later.

    Nothing is written: `record_fields` gives the fields to record.
    """
    facts, player, command, around = plan.facts, plan.player, plan.command, plan.facts.session_facts
    kept = plan.history.deciding_record if isinstance(plan.choice, Native) else None
    return ResumeRecord(
        agent=player.name,
        strategy=kept.strategy if kept else player.strategy.kind,
        launch_argv=plan.argv,
        resume_argv=kept.resume_argv if kept else command.resume,
        latest_argv=command.latest,
        env=plan.env,
        session_ref=plan.session_ref,
        argv_ref=kept.argv_ref if kept else plan.session_ref,
        host=around.host,
        boot=around.boot,
        cwd=around.tree,
        home=player.home,
        runtime=player.runtime,
        model=player.model,
        epoch=facts.epoch,
        place={key: value for key, value in facts.epoch.items() if key != "files"},
        policy=around.resume.policy or "",
        reached=kept.reached if kept else 0,
        captured_at=facts.at,
        unsure=kept.unsure if kept else False,
        launch=plan.launch,
        checkpoint=player.checkpoint_file,
        previous=plan.history.next_previous(),
    )


def worktree_env(worktree: str | None, port: int) -> Mapping[str, str]:
    """Return the environment variables that tell a program its worktree and its ports.

    They are ``AGENTMUX_WORKTREE`` and, with a port, ``AGENTMUX_PORT_BASE``.

    Args:
        worktree: The path of the worktree in which the program runs. None means that it runs in the
            user's checkout; then no variable is returned.
        port: The first of the ports reserved for the program; 0 if there are none.
    """
    ports = {"AGENTMUX_PORT_BASE": str(port)} if port else {}
    return {"AGENTMUX_WORKTREE": worktree, **ports} if worktree else {}


# -- what the pane runs --------------------------------------------------------------------------


def _runs(state: SessionState, plan: LaunchPlan) -> dict[str, object]:
    """Return the fields that say what the pane runs, and its claim file.

    The pane locks the claim file while it runs the agent, so that other launches see that.
    """
    kinds = {StrategyKind.CONTINUE, StrategyKind.LEARN}
    # While the conversation's id is unknown, the launch claims its own id, so that others see it.
    nameless = plan.plays and plan.player.strategy.kind in kinds
    claim = plan.facts.claims.get(plan.session_ref or (plan.launch if nameless else ""))
    return {
        "argv": list(plan.argv),
        "env": _environment(state, plan),
        "claim": None if claim is None else str(claim),
        "notice": list(_notice(plan)),
    }


def _environment(state: SessionState, plan: LaunchPlan) -> Mapping[str, str]:
    work, around = plan.work, plan.facts.session_facts
    return {
        **plan.env,
        **plan.command.env,
        "PATH": around.path,
        "AGENTMUX_SESSION_DIR": around.session,
        "AGENTMUX_SESSION_ID": state.session_id,
        **worktree_env(state.worktree, state.port_base),
        "AGENTMUX_LAUNCH_ID": plan.launch,
        MODE: plan.mode,
        "AGENTMUX_ROLE": work.role,
        "AGENTMUX_SEAT": work.seat,
        "AGENTMUX_CYCLE": str(state.cycle),
        "AGENTMUX_ITERATION": str(state.iteration),
        "AGENTMUX_SUBPLAN": "" if work.subplan is None else str(work.subplan),
        "AGENTMUX_TOPIC": work.topic,
        "AGENTMUX_LEARN": plan.player.strategy.learn,
    }


def _notice(plan: LaunchPlan) -> tuple[str, ...]:
    """Return the lines that the pane shows above the agent or shell; none if nothing is special."""
    if plan.rung is PaneStart.SHELL:
        return (
            f"{plan.work.seat}: a shell, {plan.why}",
            f"what to do: {plan.facts.folder}/{plan.prompt_file}",
            f"when it is done, run: {' && '.join(plan.prompts.signals)}",
        )
    is_new = plan.rung is PaneStart.FRESH and plan.facts.is_again
    return (f"a new conversation: {plan.why}",) if is_new else ()


# -- what the pane shows before an agent runs in it, or instead of an agent ----------------------


def _gate(state: SessionState, plan: LaunchPlan, *, waits: str) -> dict[str, object]:
    """Return the fields for a pane that shows the seat's last screen.

    If the pane ``waits`` for the user, it also offers choices below the screen.
    """
    session = plan.facts.session_facts.session
    offers = _offers(plan) if waits else ()
    return {
        "title": launch_label(plan, waits=waits),
        "says": waits or plan.why,
        "snapshot": f"{session}/{layout.snapshot(plan.work.seat)}",
        "wake": f"{session}/{layout.WAKE}",
        "choices": {name: _choice(state, name, title, each) for name, title, each in offers},
    }


def _offers(plan: LaunchPlan) -> Iterator[tuple[str, str, LaunchPlan]]:
    """Yield the choices of a stopped pane: name, title, and the launch that it leads to.

    The first one is what the plan says.
    """
    if plan.rung is PaneStart.NATIVE:
        yield RESUME, "Resume", plan
        yield FRESH, "Restart fresh", plan.as_fresh()
    else:
        yield FRESH, "Start", plan
    yield SHELL, "Shell", plan.as_shell()


def planned_key(mode: str) -> str:
    """Return the letter to press in a stopped pane so that it does what its plan says.

    ``mode`` is `LaunchPlan.mode`. The letter is ``r`` (resume) for ``native``, and ``f`` (fresh)
    for every other mode.
    """
    return (RESUME if mode == PaneStart.NATIVE else FRESH)[0]


def _choice(state: SessionState, name: str, title: str, plan: LaunchPlan) -> dict[str, object]:
    """Return the fields of one choice: how it is shown, what it runs, and the fact it records."""
    # Only a new conversation needs a record of its own; the other choices use the launch's record.
    record = resume_record(plan) if name == FRESH else None
    fact = LaunchChosen(
        choice=name,
        mode=plan.mode,
        reason=plan.why,
        record=to_fields(record) if record is not None else {},
        prompt=plan.prompt_file,
        prompt_bytes=len(plan.prompt.encode()),
    )
    return {
        "key": name[0],
        "title": title,
        "says": _SAYS[name],
        **_runs(state, plan),
        "fact": to_fields(fact),
    }
