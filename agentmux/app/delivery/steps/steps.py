"""The table of the steps after the commit. A new step also needs a way in `core` that uses it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.app.delivery.steps.merge import MergeStep
from agentmux.app.delivery.steps.push import PushStep
from agentmux.app.delivery.steps.request import RequestStep
from agentmux.app.delivery.steps.work import Step
from agentmux.core.names.statuses import MERGE, PUSH, REQUEST

STEPS_BY_NAME: Final[Mapping[str, Step]] = {
    MERGE: MergeStep(),
    PUSH: PushStep(),
    REQUEST: RequestStep(),
}
"""The object that performs each step of `core.pipeline.delivery.STEPS`, except the commit."""
