"""Shows the pipelines of a project: all of them, or one with everything that is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.session.configuration.pipeline_choice import (
    check_pipeline,
    commands_of,
    no_pipeline,
)
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import Json
from agentmux.core.codec.shape import replace_invisible
from agentmux.core.definitions.definition import PipelineDefinition, definition_fields
from agentmux.core.definitions.drawing import draw_pipeline
from agentmux.core.definitions.located import Problem
from agentmux.core.definitions.source import Origin, Source, is_name, resolve_pipeline

if TYPE_CHECKING:
    from agentmux.app.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineView:
    """A pipeline, as shown to people.

    Attributes:
        name: The name of the pipeline, which is also that of its file.
        origin: Where it comes from: built in, or from the user's or the project's files.
        path: The path of its file.
        says: The comment in the first line of the file; empty if there is none.
        is_default: Whether a start uses this pipeline unless it names another.
        text: The content of the file.
        pipeline: The pipeline that the file defines; None if there are problems.
        takes_part: The names of the phases that a session would go through now.
        problems: The mistakes in the file, each with its line; empty if the pipeline can be used.
    """

    name: str
    origin: Origin
    path: str
    says: str
    is_default: bool
    text: str
    pipeline: PipelineDefinition | None
    takes_part: tuple[str, ...]
    problems: tuple[Problem, ...]

    def as_json(self) -> dict[str, object]:
        """Return this pipeline as one entry of a JSON answer.

        Its keys are ``name``, ``origin``, ``path``, ``says``, ``default``, ``takes_part``,
        ``problems``, and from the definition ``result``, ``phases`` and ``drawing`` (lines of
        text). If there are problems, ``result`` is None and the other two are empty.
        """
        fields: Json = {}
        drawing: tuple[str, ...] = ()
        if self.pipeline is not None:
            fields, drawing = definition_fields(self.pipeline), draw_pipeline(self.pipeline)
        return {
            "name": self.name,
            "origin": self.origin.value,
            "path": self.path,
            "says": self.says,
            "default": self.is_default,
            "result": fields.get("result"),
            "phases": fields.get("phases", []),
            "takes_part": list(self.takes_part),
            "drawing": list(drawing),
            "problems": [{"line": each.line, "message": each.what} for each in self.problems],
        }


def all_pipelines(world: World) -> tuple[PipelineView, ...]:
    """Return every usable pipeline, and unusable ones from files of the user or the project.

    A built-in pipeline that this version cannot run is left out.
    """
    views = (
        _view(world, world.texts.pipelines.source(name)) for name in world.texts.pipelines.names()
    )
    return tuple(
        each
        for each in views
        if each is not None and (not each.problems or each.origin is not Origin.BUILT_IN)
    )


def usable_pipelines(world: World) -> tuple[tuple[str, str], ...]:
    """Return name and purpose of each pipeline that can build a feature, the default one first.

    Pipelines that only review are left out: they also need a branch.
    """
    views = all_pipelines(world)
    pipelines = [each for each in views if each.pipeline and not each.pipeline.only_reviews]
    pipelines.sort(key=lambda each: not each.is_default)
    return tuple((each.name, each.says) for each in pipelines)


def one_pipeline(world: World, name: str) -> PipelineView:
    """Return the pipeline ``name``, also if it has problems.

    Raises:
        UsageError: There is no pipeline of this name.
    """
    view = _view(world, world.texts.pipelines.source(name) if is_name(name) else None)
    if view is None:
        raise no_pipeline(world, name)
    return view


def _view(world: World, source: Source | None) -> PipelineView | None:
    if source is None:
        return None
    definition = check_pipeline(source, world.settings)
    pipeline = definition.pipeline
    first = source.text.partition("\n")[0]
    return PipelineView(
        name=replace_invisible(source.name),
        origin=source.origin,
        path=source.path,
        says=first.removeprefix("#").strip() if first.startswith("# ") else "",
        is_default=source.name == world.settings.defaults.pipeline,
        text=source.text,
        pipeline=pipeline,
        takes_part=_phases(pipeline, commands_of(world.settings)),
        problems=definition.problems,
    )


def _phases(pipeline: PipelineDefinition | None, commands: tuple[str, ...]) -> tuple[str, ...]:
    phases = resolve_pipeline(pipeline, commands).phases if pipeline else ()
    return tuple(each.phase for each in phases)
