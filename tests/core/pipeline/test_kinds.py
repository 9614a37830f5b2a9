"""Every kind of phase is described: for who writes a definition, and for the program."""

from agentmux.core.definitions.definition import Kind
from agentmux.core.definitions.kind_forms import FORMS, KEYS
from agentmux.core.pipeline.kinds import KINDS


def test_every_kind_has_a_form_and_a_description() -> None:
    assert set(FORMS) == set(KINDS) == set(Kind)


def test_every_key_that_a_kind_may_have_is_one_that_only_some_have() -> None:
    assert {key for form in FORMS.values() for key in form.keys} == set(KEYS)


def test_a_kind_hands_in_by_a_signal_if_agents_work_in_it() -> None:
    assert [
        kind for kind in Kind if bool(KINDS[kind].signal) != ("roles" in FORMS[kind].keys)
    ] == []
