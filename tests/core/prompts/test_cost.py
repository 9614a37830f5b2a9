"""What a pipeline is said to cost is what the benchmark has measured."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.config.pipeline_files import pipeline_folders, read_source
from agentmux.adapters.config.prompt_files import template
from agentmux.app.session.configuration.pipeline_choice import check_pipeline
from agentmux.core.config.settings import Settings
from agentmux.core.definitions.definition import Kind, PipelineDefinition
from agentmux.core.prompts.cost import describe_cost, estimate_cost
from benchmarks.cost import DATA

MEASURED = json.loads(DATA.read_text("utf-8"))


def built_in(name: str) -> PipelineDefinition:
    source = read_source(pipeline_folders(Path("/"), None)[0], name)
    assert source is not None
    pipeline = check_pipeline(source, Settings()).pipeline
    assert pipeline is not None
    return pipeline


@pytest.mark.parametrize("name", MEASURED)
def test_it_is_what_a_small_feature_has_cost(name: str) -> None:
    cost, measured = estimate_cost(built_in(name), template), MEASURED[name]["small"]
    assert cost.agents == measured["agents"]
    assert cost.prompt_bytes == pytest.approx(measured["prompt_bytes"], rel=0.1)


def test_the_words_count_agents_and_kilobytes() -> None:
    assert describe_cost(built_in("quick"), template) == "3 agents or more, 17 kB of prompts"


def test_the_product_manager_is_one_more_if_asked_for() -> None:
    feature = built_in("feature")
    without = estimate_cost(feature, template)
    asked = estimate_cost(feature, template, product_manager=True)
    assert asked.agents == without.agents + 1
    assert asked.prompt_bytes > without.prompt_bytes + len(template("product-manager"))


def test_all_reviewers_that_nobody_has_to_nominate_are_counted() -> None:
    quick = built_in("quick")
    phases = tuple(
        replace(each, roles=("security", "style"), prompt="summary")
        if each.kind in {Kind.REVIEW, Kind.COMPLETE}
        else each
        for each in quick.phases
    )
    assert estimate_cost(replace(quick, phases=phases), template).agents == 4
