"""Which policy a resume has, by the settings and the options."""

import pytest

from agentmux.core.config.settings import Policy, policy_of


@pytest.mark.parametrize(
    ("configured", "asked", "yes", "policy"),
    [
        (None, True, False, Policy.CONFIRM),
        (None, False, False, Policy.AUTO),
        (None, True, True, Policy.AUTO),
        (Policy.CONFIRM, False, False, Policy.CONFIRM),
        (Policy.CONFIRM, True, True, Policy.AUTO),
        (Policy.AUTO, True, False, Policy.AUTO),
        (Policy.NEVER, True, False, Policy.NEVER),
        (Policy.NEVER, False, True, Policy.NEVER),
    ],
)
def test_the_policy_of_a_resume(
    configured: Policy | None, asked: bool, yes: bool, policy: Policy
) -> None:
    assert policy_of(configured, asked=asked, yes=yes) is policy
