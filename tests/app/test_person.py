"""An operation goes on only with a person's consent."""

import pytest

from agentmux.errors import DeclinedError, UsageError
from tests.fakes.conversation import Conversation


def test_a_yes_lets_the_operation_go_on() -> None:
    talk = Conversation(agrees=True)
    talk.person().agree("Go on?")
    assert talk.lines == ["Go on?"]


def test_a_no_ends_it_and_says_that_nothing_was_done() -> None:
    talk = Conversation(agrees=False)
    with pytest.raises(DeclinedError, match=r"^nothing was done$"):
        talk.person().agree("Go on?")
    assert talk.lines == ["Go on?"]


@pytest.mark.parametrize("is_there", [True, False])
def test_who_agreed_beforehand_is_not_asked(is_there: bool) -> None:
    talk = Conversation(agrees=False)
    person = talk.person(is_there=is_there, has_agreed=True)
    person.agree("Go on?")
    assert (talk.lines, person.is_asked) == ([], False)


def test_where_nobody_can_be_asked_the_question_is_named() -> None:
    talk = Conversation(agrees=True)
    with pytest.raises(UsageError, match=r"cannot ask without a terminal: Go on\?") as caught:
        talk.person(is_there=False).agree("Go on?")
    assert (talk.lines, caught.value.hints) == ([], ("to agree beforehand, add --yes",))
