"""`everlog serve` as a process of its own, on a free port."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx


@dataclass(frozen=True)
class Server:
    """A server that listens, and somebody who asks it."""

    process: subprocess.Popen[str]
    client: httpx.Client

    def goal(self, text: str, **more: object) -> object:
        found = self.client.get("/goal", params={"goal": text, **more})
        assert found.status_code == 200, found.text
        return found.json()

    def update(self, **change: object) -> httpx.Response:
        return self.client.post("/update", json=change)


def started(store: Path, *options: str) -> Server:
    """A server; it listens."""
    command = [sys.executable, "-m", "everlog", "serve", str(store), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("listening on http://"), line
    client = httpx.Client(base_url=line.removeprefix("listening on ").strip(), timeout=60)
    return Server(process, client)


@contextmanager
def serving(store: Path, *options: str) -> Iterator[Server]:
    """A server for a while."""
    server = started(store, *options)
    try:
        yield server
    finally:
        server.client.close()
        server.process.terminate()
        server.process.wait(30)
        assert server.process.stdout is not None
        server.process.stdout.close()
