"""`everlog serve`: a store over HTTP."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from everlog.cli import options
from everlog.errors import EverlogError


def serve(
    store: options.StoreArgument,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; other machines are let in with a token alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="0 is any that is free.")] = 7878,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse updates.")] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with the token that requests have to bring: Authorization: Bearer …"),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long a request may take.")] = 60.0,
    rows: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="How many rows an answer, or what a query finds on its way, may have."),
    ] = 10_000_000,
    query_memory: Annotated[
        str, typer.Option(metavar="SIZE", help="What solutions of a query may take on its way, such as 800m.")
    ] = "2g",
    body_mib: Annotated[int, typer.Option(min=1, metavar="MIB", help="How large the body of a request may be.")] = 64,
    engine: options.StoredEngineOption = None,
    memory: options.MemoryOption = None,
) -> None:
    """Answer queries, and make updates, over HTTP: /sparql, /goal, /explain, /update, /changes, /info, /metrics.

    A browser shows a page at /. The store is opened once. An update is a new version, and is answered when it is durable.
    """
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise EverlogError(f"`everlog serve` needs {' and '.join(missing)}: pip install 'everlog[server]'")
    options.reasoning_options(engine=engine or "auto")
    from everlog.knowledge.engine_choice import budget_bytes
    from everlog.server.http_process import read_token
    from everlog.server.http_process import serve as serve_store
    from everlog.server.request_limits import RequestLimits

    token = None if token_file is None else read_token(token_file)
    budget_bytes(query_memory)  # refuses what is no size
    limits = RequestLimits(seconds=seconds, rows=rows, memory=query_memory, body_bytes=body_mib << 20)
    serve_store(store, host, port, limits, typer.echo, read_only=read_only, token=token, engine=engine, memory=memory)
