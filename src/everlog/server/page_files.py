"""The page: `/` and the files that it needs, which are read once, so that nothing of a request becomes a file name.

The page needs no token, as it holds nothing of the store: what it shows, it asks for, with the token that is entered there.
Its policy lets a browser run and load nothing but these files, and lets no other page put it into a frame.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from everlog.server.request_limits import Refusal

START: Final = "/"
FOLDER: Final = "/page/"
_FIRST: Final = "index.html"
_KINDS: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_FILES: Final = {
    file.name: (file.read_bytes(), _KINDS[file.name.rpartition(".")[2]])
    for file in files("everlog.server").joinpath("page").iterdir()
    if file.name.rpartition(".")[2] in _KINDS
}


async def page(request: Request) -> Response:
    """The page itself, or one of its files."""
    name = request.path_params.get("name", _FIRST)
    if name not in _FILES:
        raise Refusal(404, "the page has no such file")
    data, kind = _FILES[name]
    return Response(data, media_type=kind, headers=_HEADERS)


def is_of_page(path: str) -> bool:
    """Whether a path is of the page, which anybody may have."""
    return path == START or path.startswith(FOLDER)
