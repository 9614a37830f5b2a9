"""Says what a pipeline costs at least: the agents that it runs, and the bytes of our prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.definition import Kind, PhaseDefinition, PipelineDefinition, When
from agentmux.core.documents.review import DEFAULT_NOMINATIONS
from agentmux.core.names import layout
from agentmux.core.names.phase import CODER
from agentmux.core.names.words.counts import format_count
from agentmux.core.pipeline.artifacts import reviewing
from agentmux.core.pipeline.registry import Pipeline, pipeline_for
from agentmux.core.prompts.prompt import CONTEXT, REQUEST, PromptInputs, launch_line, render

_PROJECT: Final = "/home/user/projects/shop"
_SESSION: Final = f"{_PROJECT}/{layout.SESSIONS_DIR}/20260101-101500-a-small-feature"
"""Paths of the usual length: prompts repeat them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineCost:
    """The cost of a feature that needs one coder and one reviewer, and in which nothing fails.

    Attributes:
        agents: How many agents run, one for each piece of work.
        prompt_bytes: The size of what AgentMux itself gives them to read: the lines that it types,
            the prompts, and for each agent the rules of the session.
    """

    agents: int
    prompt_bytes: int


def describe_cost(
    definition: PipelineDefinition, template: Callable[[str], str], *, product_manager: bool = False
) -> str:
    """Return `estimate_cost` in words, such as ``5 agents or more, 33 kB of prompts``.

    Args:
        definition: The pipeline, without the phases that the session leaves out.
        template: Returns the text of a prompt template, by its name.
        product_manager: Whether the user asks for the product manager.
    """
    cost = estimate_cost(definition, template, product_manager=product_manager)
    agents = format_count(cost.agents, "agent")
    return f"{agents} or more, {round(cost.prompt_bytes / 1000)} kB of prompts"


def estimate_cost(
    definition: PipelineDefinition, template: Callable[[str], str], *, product_manager: bool = False
) -> PipelineCost:
    """Return what a session with this pipeline costs at least: agents, and bytes of prompts.

    Args:
        definition: The pipeline, without the phases that the session leaves out.
        template: Returns the text of a prompt template, by its name, as `Templates.template` does.
        product_manager: Whether the user asks for the product manager.
    """
    pipeline = pipeline_for(definition)
    sizes = [
        len(_read_text(pipeline, phase, role, template).encode())
        for phase in definition.walk
        for role in _list_roles(phase, product_manager=product_manager)
    ]
    return PipelineCost(agents=len(sizes), prompt_bytes=sum(sizes))


def _list_roles(phase: PhaseDefinition, *, product_manager: bool) -> Iterator[str]:
    """Yield the role of each agent that runs in a phase."""
    if phase.when is When.NEEDS_DESIGN or (phase.when is When.REQUESTED and not product_manager):
        return
    if phase.kind is Kind.REVIEW:
        yield from reviewing(DEFAULT_NOMINATIONS, phase.roles)
    else:
        yield from phase.roles[:1]


def _read_text(
    pipeline: Pipeline, phase: PhaseDefinition, role: str, template: Callable[[str], str]
) -> str:
    """Return all that AgentMux gives an agent to read."""
    inputs = PromptInputs(
        session_dir=_SESSION,
        project_dir=_PROJECT,
        pipeline=pipeline,
        phase=phase.phase,
        role=role,
        subplan=1 if phase.kind is Kind.WORK else None,
    )
    name = phase.prompt or (role if role != CODER or pipeline.is_planned else REQUEST)
    prompt, rules = render(template(name), inputs), render(template(CONTEXT), inputs)
    return launch_line(f"{_SESSION}/{layout.LAUNCHES}/0123456789ab/prompt.md") + prompt + rules
