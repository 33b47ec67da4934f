"""A server as a process: its socket, its signals, and the line that says where it listens."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from everlog.errors import EverlogError
from everlog.server.request_limits import RequestLimits
from everlog.server.served_store import ServedStore
from everlog.server.web_application import application

_LEAST_TOKEN = 16


def is_local(host: str) -> bool:
    """Whether only this machine can reach a host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_token(file: Path) -> bytes:
    """The token in a file, without what surrounds it."""
    try:
        token = file.read_bytes().strip()
    except OSError as failure:
        raise EverlogError(f"--token-file {file}: {failure.strerror}") from None
    if len(token) < _LEAST_TOKEN or len(token.split()) != 1 or not token.isascii():
        raise EverlogError(
            f"--token-file {file} holds no token, which is a word of at least {_LEAST_TOKEN} letters and digits; make one "
            "with: openssl rand -hex 32"
        )
    return token


def serve(
    path: Path,
    host: str,
    port: int,
    limits: RequestLimits,
    say: Callable[[str], None],
    *,
    read_only: bool = False,
    token: bytes | None = None,
    engine: str | None = None,
    memory: str | None = None,
) -> None:
    """Serves a store until a signal ends it."""
    if token is None and not is_local(host):
        raise EverlogError(f"--host {host} lets other machines in: that needs a token, in a file given as --token-file")
    listening = listening_socket(host, port)
    with listening:
        store = ServedStore(path, limits, engine, memory)
        hosts = frozenset({"localhost", "127.0.0.1", "[::1]", host.lower()}) if token is None else None
        config = uvicorn.Config(
            application(store, read_only=read_only, token=token, hosts=hosts),
            log_level="warning",
            lifespan="off",
            limit_concurrency=limits.connections,
            timeout_graceful_shutdown=5,
            server_header=False,
        )
        name = f"[{host}]" if ":" in host else host
        say(f"listening on http://{name}:{listening.getsockname()[1]}")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that takes connections."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        made = socket.create_server((host, port), family=family, backlog=128)
        # Connections take it over. Without it the body of an answer waits for word that its head has arrived, 40 ms.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made
    except OSError as failure:
        raise EverlogError(f"cannot listen on {host}, port {port}: {failure.strerror or failure}") from None
