"""Which form of an answer somebody wants who says which ones they accept (RFC 9110, section 12.5.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from everlog.server.request_limits import Refusal

SOLUTIONS: Final = {
    "application/sparql-results+json": "json",
    "application/json": "json",
    "application/sparql-results+xml": "xml",
    "application/xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
}
GRAPHS: Final = {"text/turtle": "ttl", "application/n-triples": "nt", "text/plain": "nt"}


def chosen(accept: Sequence[str], offered: Mapping[str, str]) -> tuple[str, str]:
    """The content type and the format that fit best, the first of those that fit alike; 406 if none does."""
    ranges = [one for header in accept for one in header.split(",") if one.strip()]
    if not ranges:
        return next(iter(offered.items()))
    wanted = [_range(text) for text in ranges]
    best, found = 0.0, None
    for name in offered:
        fitting = [(exact, quality) for pattern, quality in wanted if (exact := _exactness(pattern, name))]
        quality = max(fitting)[1] if fitting else 0.0
        if quality > best:
            best, found = quality, name
    if found is None:
        raise Refusal(406, f"the answer can be had as one of {', '.join(offered)}")
    return found, offered[found]


def _range(text: str) -> tuple[str, float]:
    """A pattern such as `text/*`, and how welcome it is."""
    pattern, *options = (part.strip().lower() for part in text.split(";"))
    quality = 1.0
    for option in options:
        name, _, value = option.partition("=")
        if name.strip() == "q":
            try:
                quality = float(value)
            except ValueError:
                raise Refusal(400, f"the header Accept has the quality {value!r}, which is no number") from None
    return pattern, quality if 0.0 <= quality <= 1.0 else 0.0


def _exactness(pattern: str, name: str) -> int:
    """How closely a pattern names a content type: 3 by itself, 2 by its kind, 1 by any, 0 not at all."""
    if pattern == name:
        return 3
    if pattern == f"{name.partition('/')[0]}/*":
        return 2
    return 1 if pattern == "*/*" else 0
