"""``agentmux pipelines``: lists the pipelines, draws one, and says what is wrong with it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.app.commands.look.pipelines import PipelineView, all_pipelines, one_pipeline
from agentmux.app.result import SCHEMA
from agentmux.app.session.configuration.pipeline_choice import PipelineError
from agentmux.cli import render
from agentmux.cli.commands.group import GroupJsonOpt, group
from agentmux.core.definitions.drawing import WIDTH, draw_pipeline
from agentmux.core.names.words.counts import format_count
from agentmux.errors import ExitCode

if TYPE_CHECKING:
    from agentmux.cli.invocation import Invocation
    from agentmux.core.definitions.definition import PipelineDefinition

app: Final = group()


NameArg = Annotated[str, typer.Argument(metavar="PIPELINE", help="The name of a pipeline.")]


@app.callback(invoke_without_command=True)
def pipelines(ctx: typer.Context, json: GroupJsonOpt = False) -> int:
    """List the pipelines that a start can take."""
    if ctx.invoked_subcommand is not None:
        return 0
    invocation: Invocation = ctx.obj
    world = invocation.world(
        invocation.unchecked_project()
    ).consent.preview()  # looking at a file needs no trust
    views, hidden = all_pipelines(world), world.texts.pipelines.list_shadowed()
    warnings = [f"{path} has no effect: another pipeline has this name" for path in hidden]
    if json:
        render.as_json(_answer(views, warnings))
        return ExitCode.OK
    for line in render.table([_row(each) for each in views]):
        render.out(line)
    for warning in warnings:
        render.note(f"warning: {warning}")
    render.note("* default · a drawing: agentmux pipelines show NAME")
    return ExitCode.OK


def _answer(views: tuple[PipelineView, ...], warnings: list[str]) -> dict[str, object]:
    fields = [each.as_json() for each in views]
    return {"schema": SCHEMA, "pipelines": fields, "warnings": warnings, "problems": []}


def _row(view: PipelineView) -> tuple[str, str, str]:
    count = len(view.problems)
    wrong = f"cannot be used: {format_count(count, 'problem')}"
    mark = "*" if view.is_default else " "
    return f"{mark} {view.name}", view.origin.value, wrong if count else view.says


@app.command()
def show(
    ctx: typer.Context,
    name: NameArg,
    yaml: Annotated[bool, typer.Option("--yaml", help="Print its file, to be edited.")] = False,
    json: GroupJsonOpt = False,
) -> int:
    """Draw a pipeline, and check it."""
    invocation: Invocation = ctx.obj
    view = one_pipeline(invocation.world(invocation.unchecked_project()).consent.preview(), name)
    if json:
        render.as_json(_answer((view,), []))
    elif yaml and view.text:
        render.out(view.text.removesuffix("\n"), verbatim=True)
    elif view.pipeline is not None:
        render.out("\n".join(page(view, view.pipeline)))
    if not view.problems:
        return ExitCode.OK
    if not json:
        render.error(PipelineError(view.name, view.path, view.problems, is_shown=True))
    return ExitCode.CONFIG


def page(view: PipelineView, pipeline: PipelineDefinition) -> list[str]:
    """Return the lines of `pipelines show` for a pipeline whose definition has no problems.

    Args:
        view: The report on the pipeline.
        pipeline: Its definition.
    """
    head = textwrap.wrap(f"{view.name} ({view.origin}): {view.says or view.path}", WIDTH)
    lines = [*head, "", *draw_pipeline(pipeline)]
    left_out = [each.phase for each in pipeline.phases if each.phase not in view.takes_part]
    if left_out:
        why = "without commands in `verify`, a session leaves out " + ", ".join(left_out)
        lines += ["", *textwrap.wrap(why, WIDTH)]
    return lines
