"""How messages say numbers of things."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "") -> str:
    """A number with its noun, which is one or several.

    >>> counted(1, "fact"), counted(2_000, "fact"), counted(0, "class", "classes")
    ('1 fact', '2,000 facts', '0 classes')
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"
