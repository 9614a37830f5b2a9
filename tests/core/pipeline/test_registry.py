"""The table of the phases."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from agentmux.core.journal.events import SIGNALS
from agentmux.core.names.phase import ROLES, Phase
from agentmux.core.pipeline.registry import PHASE_REGISTRY, PIPELINE, TERMINAL, earlier

# phase: folder, seat that starts in it, signal, next phase
TABLE = {
    "product_management": (
        "01_product_management", "product-manager", "submit_pm_done", "architecting",
    ),
    "architecting": ("02_architecting", "architect", "submit_architecture", "planning"),
    "planning": ("04_planning", "planner", "submit_plan", "designing"),
    "designing": ("05_design", "designer", "submit_design", "implementing"),
    "implementing": ("06_implementation", "coder", "submit_done", "reviewing"),
    "reviewing": ("07_review", "reviewer_logic", "submit_review", "completing"),
    "fixing": ("06_implementation", "coder", "submit_done", "reviewing"),
    "completing": ("08_completion", "reviewer_logic", "submit_summary", "done"),
}  # fmt: skip

FROM_05 = {"05_design", "06_implementation", "07_review", "08_completion"}
VERDICTS = {
    "07_review/review_logic.yaml", "07_review/review_reviewer_logic.yaml",
    "07_review/review_quality.yaml", "07_review/review_reviewer_quality.yaml",
    "07_review/review_expert.yaml", "07_review/review_reviewer_expert.yaml",
    "07_review/review.yaml", "07_review/review.md", "07_review/results.yaml",
}  # fmt: skip
ARCHIVES = {
    "product_management": {"01_product_management", "02_architecting", "04_planning"} | FROM_05,
    "architecting": {"02_architecting", "04_planning"} | FROM_05,
    "planning": {"04_planning"} | FROM_05,
    "designing": FROM_05,
    "implementing": {"06_implementation", "07_review", "08_completion"},
    "reviewing": VERDICTS | {"08_completion"},
    "fixing": {"06_implementation/done_1"} | VERDICTS | {"08_completion"},
    "completing": {"08_completion"},
}


def test_the_phases_are_the_contracts_in_its_order() -> None:
    found = {
        each.phase: (each.folder, each.startup_role, each.signal, each.next)
        for each in PHASE_REGISTRY
    }
    assert found == TABLE
    assert list(found) == list(TABLE)


@pytest.mark.parametrize("phase", TABLE)
def test_entering_a_phase_archives_what_the_contract_says(phase: str) -> None:
    archives = PIPELINE[Phase(phase)].archives
    assert set(archives) == ARCHIVES[phase]
    assert len(set(archives)) == len(archives)


@pytest.mark.parametrize("phase", TABLE)
def test_research_is_never_archived(phase: str) -> None:
    assert not [p for p in PIPELINE[Phase(phase)].archives if p.startswith("03_research")]


def test_every_phase_is_in_the_table_or_terminal() -> None:
    assert {Phase.DONE, Phase.FAILED} == TERMINAL
    assert set(PIPELINE) | TERMINAL == set(Phase)


def test_roles_prompts_and_signals_exist() -> None:
    for each in PHASE_REGISTRY:
        assert set(each.prompt) == set(each.roles) <= set(ROLES)
        assert each.signal in SIGNALS


def test_archived_paths_stay_inside_the_session() -> None:
    for each in PHASE_REGISTRY:
        for path in each.archives:
            assert not PurePosixPath(path).is_absolute()
            assert ".." not in PurePosixPath(path).parts


LIFE = [
    Phase.PRODUCT_MANAGEMENT, Phase.ARCHITECTING, Phase.PLANNING, Phase.DESIGNING,
    Phase.IMPLEMENTING, Phase.FIXING, Phase.REVIEWING, Phase.COMPLETING,
]  # fmt: skip


def test_fixing_comes_before_the_review_of_the_same_iteration() -> None:
    for place, one in enumerate(LIFE):
        for other in LIFE[place:]:
            assert earlier(one, other) is one
            assert earlier(other, one) is one
