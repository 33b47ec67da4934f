"""What a request says: its parameters, and its body, which has a largest size and must come in time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from everlog.server.request_limits import Refusal, RequestLimits

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


def media_type(request: Request) -> str:
    """The content type of a request without its parameters, in small letters."""
    return str(request.headers.get("content-type", "")).partition(";")[0].strip().lower()


async def body(request: Request, limits: RequestLimits) -> bytes:
    """The body of a request, unless it is too large, or too slow."""
    found = bytearray()
    try:
        async with asyncio.timeout(limits.seconds):
            async for piece in request.stream():
                found += piece
                if len(found) > limits.body_bytes:
                    raise Refusal(413, f"a body has at most {limits.body_bytes:,} bytes")
    except TimeoutError:
        raise Refusal(408, f"the body did not come within {limits.seconds:g} seconds") from None
    except ClientDisconnect:
        raise Refusal(400, "the request ended before its body did") from None
    return bytes(found)


def text_of(data: bytes) -> str:
    """A body as text, which is UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as mistake:
        raise Refusal(400, f"the body is no UTF-8 text: {mistake.reason} at byte {mistake.start}") from None


def parameters(text: str, known: Iterable[str]) -> dict[str, list[str]]:
    """The parameters of an address, or of a form; `known` are those that there are."""
    names = list(known)
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError as mistake:
        raise Refusal(400, f"the parameters cannot be read: {mistake}") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        if name not in names:
            raise Refusal(400, f"there is no parameter {name!r}; there are: {', '.join(names)}")
        found.setdefault(name, []).append(value)
    return found


async def asked(request: Request, known: tuple[str, ...], limits: RequestLimits) -> dict[str, list[str]]:
    """The parameters of a request: those of its address, and those of its body, a form or an object of JSON."""
    found = parameters(request.url.query, known)
    if request.method == "POST":
        kind, data = media_type(request), await body(request, limits)
        if kind == FORM:
            more = parameters(text_of(data), known)
        elif kind == JSON:
            given = json_of(data)
            if not isinstance(given, dict) or any(
                name not in known or not isinstance(value, str | int) or isinstance(value, bool)
                for name, value in given.items()
            ):
                raise Refusal(400, f"the JSON is an object with texts and numbers of {', '.join(known)}")
            more = {name: [str(value)] for name, value in given.items()}
        else:
            raise Refusal(415, f"this is posted as {FORM} or {JSON}, not as {kind or 'nothing'}")
        for name, values in more.items():
            found.setdefault(name, []).extend(values)
    return found


def once(found: dict[str, list[str]], name: str) -> str | None:
    """A parameter that may be given once."""
    values = found.get(name, [])
    if len(values) > 1:
        raise Refusal(400, f"the parameter {name} is given {len(values)} times")
    return values[0] if values else None


def whole(text: str | None, name: str, least: int) -> int | None:
    """A parameter that is a whole number, if it is given."""
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 15 or int(text) < least:
        raise Refusal(400, f"{name} is a whole number from {least} on, not {text!r}")
    return int(text)


def json_of(data: bytes) -> Any:
    """A body as JSON."""
    try:
        return json.loads(text_of(data), parse_constant=_no_constant, object_pairs_hook=_distinct)
    except json.JSONDecodeError as mistake:
        raise Refusal(400, f"not JSON: {mistake.msg} at line {mistake.lineno}, column {mistake.colno}") from None
    except RecursionError:
        raise Refusal(400, "the JSON is nested too deeply") from None
    except ValueError as mistake:  # an integer with thousands of digits
        raise Refusal(400, f"not JSON that can be read: {mistake}") from None


def _no_constant(name: str) -> NoReturn:
    raise Refusal(400, f"{name} is not JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Refusal(400, "an object of the JSON has a key twice")
    return found
