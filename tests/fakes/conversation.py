"""A person to whom an operation speaks, as a double."""

from agentmux.app.person import Person


class Conversation:
    """What a command says to a person, in order, and what they answer."""

    def __init__(self, *, agrees: bool) -> None:
        self.agrees = agrees
        self.lines: list[str] = []

    def person(self, *, is_there: bool = True, has_agreed: bool = False) -> Person:
        return Person(
            is_there=is_there,
            has_agreed=has_agreed,
            note=self.lines.append,
            consents=self.answer,
            trust=lambda world, _: world,
        )

    def answer(self, question: str) -> bool:
        self.lines.append(question)
        return self.agrees
