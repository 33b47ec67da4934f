"""What pyoxigraph says about a mistake, in our words."""

from __future__ import annotations

import re

NESTED = "a triple inside a triple is not supported"

_POSITION = re.compile(
    r"^Parser error (?:at|between) line \d+ "
    r"(?:column (?P<at>\d+)|between columns? (?P<from>\d+) and (?:column )?\d+|column (?P<first>\d+) and line .*?): "
)


def reason_of(mistake: Exception) -> str:
    """The reason without the line, which callers know better; columns count from 1."""
    message = mistake.msg if isinstance(mistake, SyntaxError) else str(mistake)
    match = _POSITION.match(message)
    if match is None:
        return message
    return f"column {match['at'] or match['from'] or match['first']}: {message[match.end() :]}"
