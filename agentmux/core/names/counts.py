"""A number of things in words."""


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: ``1 file``, ``4 files``.

    Args:
        count: How many there are.
        one: The words for one of them.
        many: The words for several; empty: ``one`` with an s.
    """
    return f"1 {one}" if count == 1 else f"{count} {many or f'{one}s'}"
