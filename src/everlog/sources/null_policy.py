"""What becomes of nulls. A fact holds none, so a row with one is a mistake, is left out, or has the empty string there.

The empty string would join with itself, which a null never does, so that it is only taken for one on demand.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from everlog.errors import EverlogError

Nulls: TypeAlias = Literal["error", "skip", "empty"]

LEFT_OUT: Final = "a null"
"""The reason of rows that are left out for a null, and are no problem."""


def check_nulls(nulls: str) -> None:
    """Refuses what is no policy."""
    if nulls not in get_args(Nulls):
        raise EverlogError(f"nulls={nulls!r} is not supported; choose one of: {', '.join(get_args(Nulls))}")


def null_reason(nulls: Nulls, what: str) -> str:
    """Why a row holds no fact: where its null is and what to do about it, or that it is left out."""
    if nulls == "skip":
        return LEFT_OUT
    return (
        f'{what}, and a fact holds no nulls; fill it in, or leave such rows out with --nulls skip (nulls="skip"), or '
        'have the empty string instead with --nulls empty (nulls="empty")'
    )


def left_out(predicate: str, count: int) -> str:
    """The warning about rows that were left out."""
    return f"{predicate}: {count:,} {'row was' if count == 1 else 'rows were'} left out for a null"
