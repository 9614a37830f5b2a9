"""Each rule that decides whether a conversation is resumed, with real files and configuration.

Each case changes one thing between launch and resume. It names the seats that therefore start
fresh, and the reason; the other seats are resumed with their conversation.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.app.commands.resume.resume import pane_fields, plan_fields, plan_resume
from agentmux.app.world import World
from agentmux.core.agents.spec import AgentSpec, ProbeResult
from agentmux.core.conversation.resume_choice import Fresh, Guard
from agentmux.core.journal.events import (
    AgentExited,
    CodeDone,
    ConversationLearned,
    PromptReached,
    Resumed,
    ReviewDone,
)
from agentmux.core.journal.state import Options
from agentmux.core.names.layout import SESSIONS_DIR
from agentmux.core.names.phase import Phase
from agentmux.wiring import build
from tests.app.driver import git, make_project
from tests.app.on_disk import OnDisk
from tests.app.programs import Answer, AnsweringPrograms
from tests.app.staging import Stage, check
from tests.conftest import trust

BOTH = ("coder-1", "coder-2")
HELD = "every check passed"
PROGRAM = "agentmux-demo-agent"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for all tests, so that the demo agent is probed once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def stage(tmp_path: Path, cache: Path, request: pytest.FixtureRequest) -> Stage:
    made = Stage(tmp_path, getattr(request, "param", "demo"), cache=cache)
    made.launch()
    return made


def expect(stage: Stage, fresh: tuple[str, ...], reason: str, world: Any = None) -> None:
    panes = stage.panes(world)
    assert tuple(panes) == BOTH
    for seat, plan in panes.items():
        check(plan, "fresh" if seat in fresh else "native", reason if seat in fresh else HELD)


def guards(stage: Stage, world: Any = None, **options: Any) -> set[Guard]:
    plans = stage.panes(world, **options).values()
    return {each.choice.guard for each in plans if isinstance(each.choice, Fresh)}


def test_where_nothing_changed_both_conversations_come_back(stage: Stage) -> None:
    expect(stage, (), "")
    world = stage.world()
    for seat, plan in stage.panes(world).items():
        fields = pane_fields(plan, world.tree)
        assert (fields["seat"], fields["mode"], fields["agent"]) == (seat, "native", "demo")
        assert fields["prompt_bytes"] == len(plan.prompt.encode())
        assert fields["fresh_prompt_bytes"] == len(plan.full_prompt.encode())


# -- each guard ----------------------------------------------------------------------------------


def test_switch(stage: Stage) -> None:
    for flags, fresh in (({"*"}, BOTH), ({"coder-2"}, ("coder-2",)), ({"coder-3"}, ())):
        for seat, plan in stage.panes(fresh=frozenset(flags)).items():
            if seat in fresh:
                check(plan, "fresh", "a fresh start was asked for")
            else:
                check(plan, "native", HELD)
    assert guards(stage, fresh=frozenset({"*"})) == {Guard.SWITCH}
    for setting, why in (
        ("native: false", "`resume.native` is off"),
        ("policy: never", "the resume policy is `never`"),
    ):
        stage.config(f"roles: {{coder: {{agent: demo}}}}\nresume: {{{setting}}}")
        expect(stage, BOTH, why)
        assert guards(stage) == {Guard.SWITCH}


def test_record_where_no_prompt_ever_arrived(tmp_path: Path, cache: Path) -> None:
    stage = Stage(tmp_path, "demo", cache=cache)
    stage.launch(reached=False)
    expect(stage, BOTH, "no prompt had reached its last conversation")
    assert guards(stage) == {Guard.RECORD}


@pytest.mark.parametrize("stage", ["demo-none"], indirect=True)
def test_record_where_there_is_no_conversation(stage: Stage) -> None:
    expect(stage, BOTH, "no conversation was recorded")
    assert guards(stage) == {Guard.RECORD}


def test_record_where_the_agent_left_its_conversation(stage: Stage) -> None:
    stage.learn("coder-1", "")
    expect(stage, ("coder-1",), "the id of its conversation is unsure")
    stage.learn("coder-1", "moved-on-1")
    expect(stage, ("coder-1",), "no prompt had reached its last conversation")
    stage.tell("coder-1", PromptReached(evidence="seen"))
    expect(stage, (), "")
    assert stage.panes()["coder-1"].session_ref == "moved-on-1"


@pytest.mark.parametrize("stage", ["demo-checkpoint"], indirect=True)
def test_record_with_checkpoints(stage: Stage) -> None:
    expect(stage, BOTH, "is missing")
    stage.disk.leave("checkpoints/coder-1/session-latest.json", "{}")
    stage.disk.leave("checkpoints/coder-2/session-latest.json", "{")
    expect(stage, ("coder-2",), "is corrupt")
    assert guards(stage) == {Guard.RECORD}


@pytest.mark.parametrize("stage", ["demo-checkpoint"], indirect=True)
def test_a_checkpoint_that_cannot_be_used_is_warned_about(stage: Stage) -> None:
    stage.disk.leave("checkpoints/coder-1/session-latest.json", "{}")
    stage.disk.leave("checkpoints/coder-2/session-latest.json", "{")
    (warning,) = stage.plan().warnings
    assert warning.startswith("coder-2 starts a new conversation: the checkpoint ")
    assert warning.endswith("is corrupt")
    assert stage.plan(fresh=frozenset({"*"})).warnings == ()
    (stage.path / "checkpoints/coder-1/session-latest.json").unlink()
    assert "is missing" in stage.plan().warnings[0]


def test_agent(stage: Stage) -> None:
    stage.config("roles: {coder: {agent: demo-paste}}")
    panes = stage.panes()
    for plan in panes.values():
        assert plan.why == "the seat was played by `demo`, now it is `demo-paste`"
        assert not {"--resume", "--continue"} & set(plan.argv)
        assert plan.prompt == plan.full_prompt
    assert guards(stage) == {Guard.AGENT}


@pytest.mark.parametrize(
    ("stage", "fresh"), [("demo", ()), ("demo-checkpoint", BOTH)], indirect=["stage"]
)
def test_agent_with_another_model(stage: Stage, fresh: tuple[str, ...]) -> None:
    """A conversation is bound to its model only if the registry says so."""
    for number in (1, 2):
        stage.disk.leave(f"checkpoints/coder-{number}/session-latest.json", "{}")
    agent = stage.panes()["coder-1"].player.name
    stage.config(f"roles: {{coder: {{agent: {agent}, model: large}}}}")
    expect(stage, fresh, "the conversation belongs to model `the default`, now it is `large`")


def test_host(stage: Stage) -> None:
    world = stage.world()
    world = replace(world, machine=replace(world.machine, host="elsewhere"))
    expect(stage, BOTH, "this is `elsewhere`", world)
    assert guards(stage, world) == {Guard.HOST}


def test_another_boot_changes_nothing(stage: Stage) -> None:
    world = stage.world()
    machine = replace(world.machine, boot="another")
    expect(stage, (), "", replace(world, machine=machine))


def test_cwd(stage: Stage) -> None:
    moved = stage.project.with_name("moved")
    stage.project.rename(moved)
    before, stage.project = stage.project, moved
    trust(moved, stage.environ)
    expect(stage, BOTH, f"recorded in the directory `{before}`, this is `{moved}`")
    assert guards(stage) == {Guard.CWD}
    for plan in stage.panes().values():  # nothing names the old path
        assert str(before) not in plan.prompt
        assert str(before) not in " ".join(plan.argv)
    # A link at the old path does not help: the real path is another one.
    before.symlink_to(moved)
    expect(stage, BOTH, "recorded in the directory")
    # At its old path again, everything is as before.
    before.unlink()
    moved.rename(before)
    stage.project = before
    expect(stage, (), "")


def test_home(stage: Stage, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    world = stage.world({"AGENTMUX_DEMO_HOME": str(other)})
    expect(stage, BOTH, f"now it is `{other}`", world)
    assert guards(stage, world) == {Guard.HOME}
    stage.home.rmdir()
    expect(stage, BOTH, f"the config home `{stage.home}` is gone")
    assert guards(stage) == {Guard.HOME}


@pytest.mark.parametrize("stage", ["demo-home"], indirect=True)
def test_home_of_the_seat_alone(stage: Stage) -> None:
    expect(stage, (), "")
    shutil.rmtree(stage.path / "checkpoints" / "coder-2")
    expect(stage, ("coder-2",), "is gone")


def test_home_that_is_a_file(stage: Stage, tmp_path: Path) -> None:
    """Some agents take the path of a settings file instead of a home folder."""
    file = tmp_path / "settings.json"
    file.write_text("{}")
    stage.config("agents: {amp2: {like: demo, home_env: AMP2_FILE}}\nroles: {coder: {agent: amp2}}")
    world = stage.world({"AMP2_FILE": str(file)})
    stage.launch(world=world)
    expect(stage, (), "", world)
    file.unlink()
    expect(stage, BOTH, f"the config home `{file}` is gone", world)


class Robot:
    """An agent like the demo agent, started through a link that an update points elsewhere."""

    def __init__(self, root: Path, cache: Path) -> None:
        self.root = root
        self.link = root / "bin" / "robot"
        self.link.parent.mkdir()
        self.install("1.0/robot")
        self.stage = Stage(root, "robot", cache=cache)
        self.configure(self.link)

    def configure(self, command: Path, more: str = "") -> None:
        self.stage.config(
            f"agents: {{robot: {{like: demo, command: {command}{more}}}}}\n"
            "roles: {coder: {agent: robot}}"
        )

    def install(self, path: str, shows: str = "--session-id ID  --resume ID  --continue") -> Path:
        """Write a program to ``ver/PATH``, and point the link to it."""
        made = self.root / "ver" / path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(f"#!/bin/sh\necho ' {shows}'\n")
        made.chmod(0o755)
        self.link.unlink(missing_ok=True)
        self.link.symlink_to(made)
        return made


@pytest.fixture
def robot(tmp_path: Path, cache: Path) -> Robot:
    made = Robot(tmp_path, cache)
    made.stage.launch()
    return made


def check_noted(stage: Stage, noted: str) -> None:
    for plan in stage.panes().values():
        check(plan, "native", f"{HELD}{noted}")
        assert plan.why.endswith(f"{HELD}{noted}")


def test_runtime_that_was_updated(robot: Robot) -> None:
    check_noted(robot.stage, "")
    made = robot.install("1.1/robot")
    check_noted(robot.stage, " (robot 1.0 → 1.1)")
    robot.stage.launch_resumed()
    check_noted(robot.stage, "")
    os.utime(made, (1, 1))
    check_noted(robot.stage, " (robot was updated)")
    robot.stage.launch_resumed()
    robot.install("2.1.330")
    check_noted(robot.stage, " (robot 1.1 → 2.1.330)")
    robot.stage.launch_resumed()
    robot.install("2.1.331")
    check_noted(robot.stage, " (robot 2.1.330 → 2.1.331)")


def test_runtime_as_the_first_release_recorded_it(robot: Robot) -> None:
    """The first release recorded the program's real path, size and modification time."""
    session = robot.stage.session(robot.stage.world())
    for seat, fields in session.state.agents.items():
        file = f"{robot.link.resolve()}:1:2"
        agents = {**session.state.agents, seat: {**fields, "runtime": file}}
        session.state = replace(session.state, agents=agents)
    session.files.save(session.state, after=None)
    robot.install("1.1/robot")
    check_noted(robot.stage, " (robot 1.0 → 1.1)")


def test_runtime_that_is_another_program(robot: Robot) -> None:
    robot.install("1.1/other")
    expect(robot.stage, BOTH, "another program answers: `robot` then, `other` now")
    assert guards(robot.stage) == {Guard.RUNTIME}


def test_runtime_with_other_strategies(robot: Robot) -> None:
    robot.configure(robot.link, ", strategies: [{kind: continue, resume: [--continue]}]")
    expect(robot.stage, BOTH, "`robot` is not resumed by `assign` any more")
    assert guards(robot.stage) == {Guard.RUNTIME}


def test_runtime_that_was_updated_and_cannot_resume(robot: Robot) -> None:
    robot.install("1.1/robot", "--session-id ID")
    expect(robot.stage, BOTH, "the installed program does not show that it can resume")
    assert guards(robot.stage) == {Guard.RUNTIME}


def test_runtime_that_cannot_resume_any_more(stage: Stage) -> None:
    world = stage.world()
    probe = world.agents.programs.probe

    def forgets(spec: Any) -> Any:
        return replace(probe(spec), strategies={"assign": False}, missing={"assign": ("resume",)})

    changed = answering(world, forgets)
    expect(stage, BOTH, "the installed program does not show that it can resume", changed)
    assert guards(stage, changed) == {Guard.RUNTIME}


def test_a_program_that_does_not_answer_says_nothing_against_its_conversations(
    stage: Stage,
) -> None:
    world = stage.world()
    shown = world.agents.programs.probe

    def hangs(spec: AgentSpec) -> ProbeResult:
        return replace(shown(spec), strategies={}, problem="`demo --help` did not end within 1 s")

    changed = answering(world, hangs)
    assert {plan.mode for plan in stage.panes(changed).values()} == {"native"}
    # New conversations are not affected either: they get an id.
    anew = stage.panes(changed, fresh=frozenset({"*"}))
    assert {(plan.mode, "--session-id" in plan.argv) for plan in anew.values()} == {("fresh", True)}


def test_a_program_that_cannot_be_asked_is_named_as_the_reason(stage: Stage) -> None:
    world = stage.world()
    shown = world.agents.programs.probe

    def broken(spec: AgentSpec) -> ProbeResult:
        known = shown(spec)
        unseen = dict.fromkeys(known.strategies, False)
        return replace(known, strategies=unseen, problem="`demo` cannot be run: Exec format error")

    changed = answering(world, broken)
    expect(stage, BOTH, "can resume: `demo` cannot be run: Exec format error", changed)


def answering(world: World, probe: Answer) -> World:
    """Return the world in which this is the probe of every program."""
    programs = AnsweringPrograms(world.agents.programs, probe=probe)
    return replace(world, agents=replace(world.agents, programs=programs))


def test_no_program_at_all_gives_a_shell(stage: Stage) -> None:
    world = stage.world()
    probe = world.agents.programs.probe
    gone = answering(world, lambda spec: replace(probe(spec), installed=False, path=None))
    for plan in stage.panes(gone).values():
        assert (plan.mode, plan.prompt) == ("shell", plan.full_prompt)
        assert plan.why == "no program `agentmux-demo-agent`"
        assert plan.argv == (world.agents.programs.shell,)


@pytest.mark.parametrize(
    ("path", "fresh"),
    [
        ("04_planning/plan_2.md", ("coder-2",)),
        ("04_planning/tasks_1.md", ("coder-1",)),
        ("02_architecting/architecture.md", BOTH),
        ("context.md", BOTH),
        ("requirements.md", BOTH),
        # No prompt names these files.
        ("02_architecting/notes.md", ()),
        ("04_planning/plan_3.md", ()),
        ("../../../calc.py", ()),
        ("../../../README.md", ()),
    ],
)
def test_epoch_follows_the_files_that_the_prompt_named(
    stage: Stage, path: str, fresh: tuple[str, ...]
) -> None:
    stage.disk.leave(path, "# Changed by hand\n")
    expect(stage, fresh, f"{path} changed since the prompt")
    assert guards(stage) == ({Guard.EPOCH} if fresh else set())


def test_epoch_does_not_mind_a_touch(stage: Stage) -> None:
    for path in stage.path.rglob("*.md"):
        path.write_bytes(path.read_bytes())
    expect(stage, (), "")


@pytest.mark.parametrize(
    ("stage", "fresh"),
    [("demo-continue", BOTH), ("demo-home", ()), ("demo-learn", BOTH)],
    indirect=["stage"],
)
def test_ambiguous_side_by_side(stage: Stage, fresh: tuple[str, ...]) -> None:
    expect(stage, fresh, "ran beside it or since in the same directory and home")
    assert guards(stage) == ({Guard.AMBIGUOUS} if fresh else set())


@pytest.mark.parametrize("stage", ["demo-learn"], indirect=True)
def test_ambiguous_ends_when_the_id_is_learned(stage: Stage) -> None:
    for seat in BOTH:
        stage.learn(seat, f"id-of-{seat}")
    expect(stage, (), "")
    for seat, plan in stage.panes().items():
        assert plan.argv[-3:-1] == ("--resume", f"id-of-{seat}")


@pytest.mark.parametrize("stage", ["demo-continue"], indirect=True)
def test_ambiguous_with_one_seat_left(stage: Stage) -> None:
    """It ran beside the other coder, whose conversation may be the latest one, handed in or not."""
    stage.tell("coder-1", CodeDone(subplan_index=1))
    fields = stage.plan(phase="implementing")
    assert [each.work.seat for each in fields.panes] == ["coder-2"]
    check(fields.panes[0], "fresh", "ran beside it or since")
    # Alone, its conversation is the latest, until an agent of another session runs there.
    (made,) = stage.launch_resumed().values()
    (plan,) = stage.plan().panes
    check(plan, "native", "the latest conversation got 1 prompt")
    cast = made.plan.player
    world = stage.world()
    cwd = str(world.project)
    world.agents.claims.note_latest(cast.program, cast.home, cwd, (made.plan.launch, "another"))
    (plan,) = stage.plan().panes
    check(plan, "fresh", "ran beside it or since")


def reviewing(tmp_path: Path, cache: Path, *agents: str) -> Stage:
    """Return a stage on which two reviewers work; ``agents`` play them."""
    stage = Stage(tmp_path, "demo", cache=cache)
    linked = tmp_path / "linked"
    linked.symlink_to(str(stage.world().agents.programs.find(PROGRAM)))
    logic, quality = agents
    stage.config(
        "agents:\n  c2: {like: demo-continue}\n"
        f"  c3: {{like: demo-continue, command: {linked}}}\n"
        f"roles: {{reviewer_logic: {{agent: {logic}}}, reviewer_quality: {{agent: {quality}}}}}"
    )
    session = stage.session(stage.world())
    session.take_over()
    both = ("reviewer_logic", "reviewer_quality")
    session.record(Resumed(phase="reviewing", cycle=1, found={"reviewer_nominations": both}))
    for number in (1, 2):
        stage.disk.leave(f"06_implementation/done_{number}", "")
    return stage


@pytest.mark.parametrize(
    ("agents", "modes"),
    [
        (("demo-continue", "c2"), ("fresh", "fresh")),
        (("demo-continue", "c3"), ("fresh", "fresh")),
        ((PROGRAM, "c2"), ("native", "fresh")),
        (("demo-continue", "demo"), ("fresh", "native")),
        (("demo-continue", "demo-checkpoint"), ("native", "fresh")),  # has no checkpoint
        (("demo-home", "c2"), ("native", "native")),
    ],
)
def test_ambiguous_under_two_names(
    tmp_path: Path, cache: Path, agents: tuple[str, str], modes: tuple[str, str]
) -> None:
    stage = reviewing(tmp_path, cache, *agents)
    stage.launch()
    panes = stage.panes()
    assert tuple(each.mode for each in panes.values()) == modes, [p.why for p in panes.values()]
    if modes[0] == "fresh" and agents[0] == "demo-continue":
        assert "ran beside it or since" in panes["reviewer_logic"].why


def test_ambiguous_after_one_with_an_id(tmp_path: Path, cache: Path) -> None:
    """That one has handed in and is not resumed, but the latest conversation may still be its."""
    stage = reviewing(tmp_path, cache, "demo-continue", "demo")
    stage.launch()
    verdict = {"verdict": "pass", "summary": "good"}
    stage.disk.leave("07_review/review_quality.yaml", verdict)
    given = ReviewDone(role="reviewer_quality", verdict="pass", review=verdict)
    stage.tell("reviewer_quality", given)
    (plan,) = stage.plan().panes
    assert plan.work.seat == "reviewer_logic"
    assert plan.mode == "fresh"
    assert "ran beside it or since" in plan.why


@pytest.fixture
def held() -> Iterator[Callable[[Path], None]]:
    """Return a function that holds a claim, as another pane does."""
    with ExitStack() as stack:

        def hold(path: Path) -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(path.open("w"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

        yield hold


def test_claim(stage: Stage, held: Callable[[Path], None]) -> None:
    world = stage.world()
    plan = stage.panes(world)["coder-2"]
    assert plan.session_ref is not None
    held(world.agents.claims.path(plan.player.program, plan.player.home, plan.session_ref))
    expect(stage, ("coder-2",), "the conversation is in use by process")
    assert guards(stage) == {Guard.CLAIM}


def test_age(stage: Stage) -> None:
    now = stage.world().now
    for days, fresh in ((6.9, ()), (7.1, BOTH)):
        world = stage.world(now=lambda days=days: now() + timedelta(days=days))
        expect(stage, fresh, "`resume.max_age` is 7 days", world)
    stage.config("roles: {coder: {agent: demo}}\nresume: {max_age: 30d}")
    expect(stage, (), "", stage.world(now=lambda: now() + timedelta(days=8)))


def test_health(stage: Stage) -> None:
    stage.launch()  # as a resume does
    stage.tell("coder-1", AgentExited(cause="rejected", status=1))
    expect(stage, ("coder-1",), "the agent has rejected this conversation before")
    assert guards(stage) == {Guard.HEALTH}


# -- from one resume to the next -----------------------------------------------------------------


def test_a_failed_attempt_does_not_erase_the_last_good_record(stage: Stage) -> None:
    first = {seat: plan.session_ref for seat, plan in stage.panes().items()}
    stage.launch(reached=False, fresh=frozenset({"coder-1"}))
    panes = stage.panes()
    check(panes["coder-1"], "native", "a later attempt, which no prompt reached, does not count")
    check(panes["coder-2"], "native", HELD)
    assert {seat: plan.session_ref for seat, plan in panes.items()} == first


def test_a_conversation_that_moved_on_is_followed_at_every_resume(stage: Stage) -> None:
    """The recorded resume command still has the conversation's first id."""
    stage.learn("coder-1", "moved-on-1")
    check(stage.panes()["coder-1"], "fresh", "no prompt had reached its last conversation")
    stage.tell("coder-1", PromptReached(evidence="seen"))
    for _ in range(3):
        expect(stage, (), "")
        assert stage.panes()["coder-1"].argv[-2] == "moved-on-1"
        stage.launch()
    stage.learn("coder-1", "moved-on-2")
    check(stage.panes()["coder-1"], "fresh", "no prompt had reached its last conversation")
    stage.tell("coder-1", PromptReached(evidence="seen"))
    stage.launch()
    assert stage.panes()["coder-1"].argv[-2] == "moved-on-2"


@pytest.mark.parametrize("stage", ["demo-learn"], indirect=True)
def test_an_id_that_is_learned_late_is_resumed_by(stage: Stage) -> None:
    stage.launch()
    stage.tell("coder-1", ConversationLearned(conversation="late", source="environment"))
    for _ in range(2):
        check(stage.panes()["coder-1"], "native", "conversation late")
        assert stage.panes()["coder-1"].argv[-2] == "late"
        stage.launch()


def test_what_was_recorded_is_resumed_whatever_the_registry_says_later(stage: Stage) -> None:
    strategy = (
        "{kind: assign, launch: [--session-id, '{session_id}'], resume: [--other, '{session_id}']}"
    )
    changed = f"agents: {{demo: {{env: {{COLOUR: red}}, strategies: [{strategy}]}}}}"
    stage.config(f"roles: {{coder: {{agent: demo}}}}\n{changed}")
    world = stage.world()
    for plan in stage.panes(world).values():
        assert plan.mode == "native"
        assert "--resume" in plan.argv
        assert "--other" not in plan.argv
        assert pane_fields(plan, world.tree)["env"] == {}
    for made in stage.launch().values():
        folder = stage.path / "launches" / made.plan.launch
        assert "COLOUR" not in json.loads((folder / "launch.json").read_text())["env"]
    for plan in stage.panes(fresh=frozenset({"*"})).values():
        assert pane_fields(plan, world.tree)["env"] == {"COLOUR": "red"}


def test_an_earlier_phase_is_entered_anew(stage: Stage) -> None:
    """The artifacts that were left there no longer count, so they do not complete the phase."""
    plan = stage.plan(phase="planning")
    assert plan.inference.phase == "implementing"
    assert plan.resumed.phase == plan.phase == "planning"
    fields = plan_fields(plan, stage.world())
    assert fields["phase"] == "planning"
    said = f"chosen by --phase; otherwise it would be implementing: {plan.inference.because}"
    assert fields["because"] == f"{said}; {plan.inference.evidence[-1].because}"
    (planner,) = plan.panes
    assert planner.work.seat == "planner"
    assert "04_planning/plan.md" not in planner.prompt


def test_planning_writes_nothing(stage: Stage) -> None:
    def tree() -> dict[Path, tuple[float, bytes]]:
        files = (path for path in stage.project.rglob("*") if path.is_file())
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before = tree()
    stage.plan()
    stage.plan(fresh=frozenset({"*"}))
    stage.plan(phase="planning")
    assert tree() == before


class Counting:
    """A session that records which files it digests."""

    def __init__(self, files: FileSession) -> None:
        self._files = files
        self.digested: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def digest(self, path: str) -> str:
        self.digested.append(Path(path).name)
        return self._files.digest(path)


def test_a_plan_digests_a_file_once_for_all_seats(stage: Stage) -> None:
    files: Any = Counting(FileSession(stage.path))
    assert len(plan_resume(stage.world(), files).panes) == 2
    assert {"context.md", "architecture.md", "plan_1.md", "plan_2.md"} <= {*files.digested}
    assert sorted(files.digested) == sorted(set(files.digested))


def test_a_plan_needs_neither_tmux_nor_a_lock(stage: Stage) -> None:
    """It imports neither tmux's library nor that of the locks."""
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from agentmux.wiring import build\n"
        "from agentmux.app.commands.resume.resume import plan_resume\n"
        "import os\n"
        "world = build.world(Path(sys.argv[1]), environ=dict(os.environ))\n"
        "plan_resume(world, world.files(Path(sys.argv[2])))\n"
        "bad = {'libtmux', 'filelock', 'watchfiles', 'mcp'} & set(sys.modules)\n"
        "assert not bad, bad\n"
    )
    words = [sys.executable, "-c", script, str(stage.project), str(stage.path)]
    subprocess.run(words, check=True, env=stage.environ, timeout=60)


# -- configured resume commands for recorded conversations ---------------------------------------


def words_for(stage: Stage, agent: str, words: str) -> None:
    stage.config(
        f"roles: {{coder: {{agent: {agent}}}}}\nresume: {{commands: {{{PROGRAM}: {words}}}}}"
    )


def one_coder_left(stage: Stage) -> None:
    """Resume only the coder that has not handed in."""
    stage.tell("coder-1", CodeDone(subplan_index=1))
    stage.launch_resumed()


def test_the_configured_words_resume_what_was_recorded_before(stage: Stage) -> None:
    refs = {seat: plan.session_ref for seat, plan in stage.panes().items()}
    words_for(stage, "demo", "[--model, zz, --resume, '{session_id}']")
    for _ in range(2):  # the second time, the record has these words
        for seat, plan in stage.panes().items():
            check(plan, "native", HELD)
            assert plan.argv[:-1] == (PROGRAM, "--model", "zz", "--resume", refs[seat])
        stage.launch()
    words_for(stage, "demo", "[--resume, '{session_id}', --verbose]")
    for seat, plan in stage.panes().items():
        assert plan.argv[:-1] == (PROGRAM, "--resume", refs[seat], "--verbose")


def test_the_configured_words_may_ask_for_the_latest_conversation(stage: Stage) -> None:
    one_coder_left(stage)
    words_for(stage, "demo", "[--continue]")
    for _ in range(2):
        (plan,) = stage.plan().panes
        assert (plan.mode, plan.argv[:-1]) == ("native", (PROGRAM, "--continue"))
        assert "the latest conversation got" in plan.why
        stage.launch_resumed()


def test_the_configured_words_reach_the_record_behind_a_failed_attempt(stage: Stage) -> None:
    stage.launch(reached=False, fresh=frozenset({"coder-1"}))
    words_for(stage, "demo", "[--resume, '{session_id}', --verbose]")
    plan = stage.panes()["coder-1"]
    check(plan, "native", "a later attempt, which no prompt reached, does not count")
    assert plan.argv[-2] == "--verbose"


def test_no_configured_words_resume_nothing(stage: Stage) -> None:
    words_for(stage, "demo", "[]")
    expect(stage, BOTH, f"`resume.commands.{PROGRAM}` is empty, so nothing is resumed")
    assert guards(stage) == {Guard.SWITCH}
    stage.launch()
    expect(stage, BOTH, f"`resume.commands.{PROGRAM}` is empty")


@pytest.mark.parametrize("stage", ["demo-continue"], indirect=True)
def test_configured_words_with_an_id_for_an_agent_without_one(stage: Stage) -> None:
    words_for(stage, "demo-continue", "[--resume, '{session_id}']")
    expect(
        stage,
        BOTH,
        f"`resume.commands.{PROGRAM}` needs a conversation id, and `demo-continue` has none",
    )


def test_configured_words_for_another_program_change_nothing(stage: Stage) -> None:
    before = {seat: plan.argv[:-1] for seat, plan in stage.panes().items()}
    stage.config("roles: {coder: {agent: demo}}\nresume: {commands: {claude: []}}")
    expect(stage, (), "")
    assert {seat: plan.argv[:-1] for seat, plan in stage.panes().items()} == before


def test_another_branch_is_named(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p")
    base = git(project, "rev-parse", "HEAD").strip()
    options = Options(base=base, commit=True, agents={"*": "demo"})
    path = project / SESSIONS_DIR / "20260101-101500-x"
    disk = OnDisk(path, Phase.ARCHITECTING, feature="x", branch="main", options=options)
    world = build.world(project, environ={**os.environ, "HOME": str(tmp_path)})
    assert plan_resume(world, disk.files).warnings == ()
    git(project, "switch", "-qc", "other")
    (said,) = plan_resume(world, disk.files).warnings
    assert said.startswith("your checkout is on branch other now, but the session began on branch")
    assert said.endswith("; go back: git switch --no-recurse-submodules --no-overwrite-ignore main")
    git(project, "commit", "-q", "--allow-empty", "-m", "more")
    editor = ("-c", "sequence.editor=sed -i s/pick/edit/")
    git(project, *editor, "rebase", "-q", "-i", "--keep-empty", "HEAD~1")
    (said,) = plan_resume(world, disk.files).warnings
    assert said == (
        "a rebase is in progress in your checkout; see what is left to resolve: git status;"
        " finish it: git rebase --continue"
    )
    git(project, "rebase", "--continue")
    git(project, "branch", "-qD", "main")
    (said,) = plan_resume(world, disk.files).warnings
    assert "on branch main, which is gone: agents would" in said
    _, found, way = said.partition("; go back: ")
    assert found
    subprocess.run(way, shell=True, check=True, cwd=project, capture_output=True)
    assert plan_resume(world, disk.files).warnings == ()
