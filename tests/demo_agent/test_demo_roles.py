"""The demo agent's work in each role, and the behaviour that a scenario sets."""

import subprocess
import sys

import pytest
import yaml

from agentmux.core.documents.plan import check_plan
from agentmux.core.documents.review import check_review

SIGNAL = "agentmux submit architecture"


def _architect(world, **life):
    world.play("architect")
    world.scenario(roles={"architect": life})
    return world.prompt(SIGNAL, write=("architecture.md",))


def test_wrong_first_is_mended_after_a_refusal(world):
    prompt = _architect(world, write="wrong-first", reviewers=["logic", "expert"])
    world.refuse(1)
    done = world.run(prompt)
    assert "refused: a rule is broken" in done.stdout
    assert world.calls() == [f"|{SIGNAL[9:]}"] * 2
    assert "reviewers: [logic, expert]" in (world.session / "architecture.md").read_text()
    assert [what for did, what in world.did() if did == "signalled"] == [
        "submit architecture -> 8",
        "submit architecture -> 0",
    ]


def test_refused_twice_it_says_so_and_stops(world):
    prompt = _architect(world, write="wrong")
    world.refuse(2)
    assert "I could not submit" in world.run(prompt).stdout
    assert len(world.calls()) == 2


@pytest.mark.parametrize(
    ("life", "exists", "calls"),
    [
        ({"write": "none"}, False, 1),
        ({"submit": "no"}, True, 0),
        ({"submit": "twice"}, True, 2),
        ({"crash": "before_write", "exit": 0}, False, 0),
        ({"crash": "after_write", "exit": 3}, True, 0),
        ({"crash": "before_signal", "exit": 4}, True, 0),
        ({"crash": "after_signal", "exit": 5}, True, 1),
        ({"crash": "after_signal", "kill": 9}, True, 1),
    ],
)
def test_scripted_lives(world, life, exists, calls):
    done = world.run(_architect(world, **life))
    assert done.returncode == (-9 if "kill" in life else life.get("exit", 0))
    assert (world.session / "architecture.md").exists() is exists
    assert len(world.calls()) == calls


def test_half_writes_half(world):
    whole = _architect(world)
    world.run(whole)
    text = (world.session / "architecture.md").read_text()
    world.run(_architect(world, write="half", submit="no"))
    assert (world.session / "architecture.md").read_text() == text[: len(text) // 2]


def test_crash_once_happens_once_per_attempt(world):
    prompt = _architect(world, crash="before_signal", exit=7, once=True)
    assert [world.run(prompt).returncode for _ in range(2)] == [7, 0]
    world.env["AGENTMUX_ITERATION"] = "1"
    assert [world.run(prompt).returncode for _ in range(2)] == [7, 0]


def test_attempts_choose_by_iteration_and_launch(world):
    world.play("reviewer_logic", AGENTMUX_CYCLE="1", AGENTMUX_ITERATION="0")
    world.scenario(
        roles={
            "reviewer_logic": {
                "attempts": [{"when": {"cycle": 1, "iteration": 0}, "verdict": "fail"}],
                "commit_message": 'Add "it": all',
            }
        },
        seats={"reviewer_logic": {"attempts": [{"when": {"launch": 3}, "crash": "before_write"}]}},
    )
    prompt = world.prompt("agentmux submit review --role logic", write=("review_logic.yaml",))
    path = world.session / "review_logic.yaml"
    world.run(prompt)
    review = yaml.safe_load(path.read_text())
    assert review["verdict"] == "fail"
    assert check_review(review, "logic")[1] == ()
    world.env["AGENTMUX_ITERATION"] = "1"
    world.run(prompt)
    review = yaml.safe_load(path.read_text())
    assert check_review(review, "logic")[1] == ()
    assert (review["verdict"], review["commit_message"]) == ("pass", 'Add "it": all')
    assert world.run(prompt).returncode == 1


@pytest.mark.parametrize(
    "text",
    ["default: {thinkk: 1}", "roles: {coder: {write: maybe}}", "other: {}", "default: [1]",
     "default: {attempts: [{crash: before_write}]}", "default: {think: soon}", "{"],
)  # fmt: skip
def test_unknown_scenario_is_refused(world, text):
    path = world.root / "scenario.yaml"
    path.write_text(text)
    done = world.run("--scenario", str(path), "hello")
    assert (done.returncode, world.did()) == (1, [])
    assert f"Error: scenario {path}: " in done.stderr


def test_yaml_scenario_is_read(world):
    path = world.root / "scenario.yaml"
    path.write_text("default: {limit: true}\n")
    assert "usage limit" in world.run("--scenario", str(path), "hello").stdout


def _plan(world, **plan):
    world.play("planner")
    world.scenario(roles={"planner": {"plan": plan}})
    world.run(world.prompt("agentmux submit plan", write=("04_planning/plan.yaml",)))
    return yaml.safe_load((world.session / "04_planning/plan.yaml").read_text())


def test_default_plan_has_one_parallel_group_of_two(world):
    plan = _plan(world)
    assert plan["version"] == 2
    assert [(group["mode"], len(group["plans"])) for group in plan["groups"]] == [("parallel", 2)]
    owned = [name for part in plan["subplans"] for name in part["owned_files"]]
    assert len(set(owned)) == len(owned) == 4
    assert check_plan(plan)[1] == ()


def test_short_and_whole_plans(world):
    groups = [{"mode": "serial", "plans": [1]}, {"plans": [2, 3]}]
    plan = _plan(world, parts=3, groups=groups, needs_design=True)
    assert plan["needs_design"] is True
    assert check_plan(plan)[1] == ()
    assert [group["mode"] for group in plan["groups"]] == ["serial", "parallel"]
    assert _plan(world, version=2, subplans=[]) == {"version": 2, "subplans": []}


def test_parallel_coders_build_what_they_own_and_repeat_to_the_same_tree(world):
    _plan(world)
    trees = []
    for seat in ("1", "2", "2", "1"):
        world.play("coder", AGENTMUX_SEAT=f"coder-{seat}", AGENTMUX_SUBPLAN=seat)
        world.run(world.prompt(f"agentmux submit done --subplan {seat}"))
        trees.append(_tree(world.project))
    assert trees[1] == trees[2] == trees[3]
    stems = [f"demo_part_{number}" for number in (1, 2)]
    assert set(trees[3]) == {f"{s}.py" for s in stems} | {f"tests/test_{s}.py" for s in stems}
    assert len(trees[0]) == 2
    tests = [sys.executable, "-B", "-m", "unittest", "discover", "-s", "tests", "-t", "tests"]
    subprocess.run(tests, cwd=world.project, check=True, capture_output=True)


def test_single_coder_signals_each_sub_plan(world):
    _plan(world)
    world.play("coder", AGENTMUX_SUBPLAN="")
    world.run(world.prompt("agentmux submit done --subplan 1", "agentmux submit done --subplan 2"))
    assert world.calls()[1:] == ["|submit done --subplan 1", "|submit done --subplan 2"]
    assert len(_tree(world.project)) == 4


def test_fixing_mends_the_file_that_the_request_names(world):
    (world.session / "07_review").mkdir()
    (world.session / "07_review/fix_request.md").write_text("- `src/a.py:3`: wrong\n")
    (world.project / "src").mkdir()
    (world.project / "src/a.py").write_text("a = 1\n")
    (world.project / "b.py").write_text("b = 1\n")
    world.play("coder", AGENTMUX_ITERATION="1")
    prompt = world.prompt("agentmux submit done")
    world.run(prompt)
    tree = _tree(world.project)
    assert "fix 1.1" in tree["src/a.py"]
    assert tree["src/a.py"].startswith("a = 1\n")
    assert tree["b.py"] == "b = 1\n"
    world.run(prompt)
    assert _tree(world.project) == tree


def test_scenario_gives_the_code_itself(world):
    _plan(world)
    world.play("coder", AGENTMUX_SEAT="coder-1", AGENTMUX_SUBPLAN="1")
    world.scenario(default={"files": {"demo_part_1.py": "x = 1\n", "demo_part_2.py": "y = 2\n"}})
    world.run(world.prompt("agentmux submit done --subplan 1"))
    tree = _tree(world.project)
    assert tree["demo_part_1.py"] == "x = 1\n"
    assert "demo_part_2.py" not in tree


def _tree(root):
    return {
        str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()
    }


def test_research_is_asked_and_its_end_awaited(world, start):
    prompt = _architect(
        world, research=[{"kind": "code", "topic": "auth"}, {"kind": "web", "topic": "auth-web"}]
    )
    child = start(prompt)
    child.expect("Waiting for research: auth, auth-web")
    assert world.calls() == [
        "|research code --topic auth What must we know about auth?",
        "|research web --topic auth-web What must we know about auth-web?",
    ]
    child.send("the research on `auth-web` is done\r")
    child.expect("I heard")
    assert not (world.session / "architecture.md").exists()
    child.send("the research on `auth` is done\r")
    child.expect("Done: architecture.md")
    assert world.calls()[2:] == ["|submit architecture"]


def test_research_that_is_there_is_not_asked_again(world):
    (world.session / "03_research/code-auth").mkdir(parents=True)
    (world.session / "03_research/code-auth/done").touch()
    world.run(_architect(world, research=[{"kind": "code", "topic": "auth"}]))
    assert world.calls() == ["|submit architecture"]


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("product-manager", ("requirements.md",)),
        ("code-researcher", ("summary.md", "detail.md")),
        ("designer", ("design.md",)),
        ("reviewer_quality", ("review_quality.yaml",)),
    ],
)
def test_every_role_leaves_its_artifacts(world, role, names):
    world.play(role)
    world.run(world.prompt("agentmux submit x", write=names))
    assert all((world.session / name).read_text().strip() for name in names)
    assert world.calls() == ["|submit x"]


def test_the_form_of_a_file_is_looked_up_when_work_goes_on(world):
    world.play("security")
    full = world.root / "full instructions.md"
    full.write_text("```yaml\nthreats: []\n```\n")
    told = f"Your instructions are in\n`{full}` and still hold."
    world.run(world.prompt("agentmux submit x", write=("threats.yaml",), text=told))
    assert (world.session / "threats.yaml").read_text() == "threats: []\n"


def test_examples_with_placeholders_are_not_run(world):
    world.play("planner")
    world.run(
        world.prompt("agentmux submit done --subplan <N>", "rm -rf x", "agentmux submit plan")
    )
    assert world.calls() == ["|submit plan"]


@pytest.mark.parametrize(
    ("role", "name", "check"),
    [
        ("planner", "plan.yaml", check_plan),
        ("reviewer_logic", "review_logic.yaml", lambda value: check_review(value, "logic")),
    ],
)
def test_what_is_written_wrong_breaks_the_rules(world, role, name, check):
    world.play(role)
    world.scenario(default={"write": "wrong"})
    world.run(world.prompt("agentmux submit x", write=(name,)))
    assert check(yaml.safe_load((world.session / name).read_text()))[1] != ()
