"""How many arguments a function or an aggregate takes."""

from __future__ import annotations

from everlog.errors import EverlogError


def check_count(name: str, count: int, least: int, most: int | None) -> None:
    """Refuse a call with too few or too many arguments; there may be any number of them if `most` is None."""
    if count < least or (most is not None and count > most):
        raise EverlogError(f"{name} takes {_arguments(least, most)}, not {count}")


def _arguments(least: int, most: int | None) -> str:
    count = f"at least {least}" if most is None else str(least) if most == least else f"{least} or {most}"
    return f"{count} argument{'' if count.endswith('1') else 's'}"
