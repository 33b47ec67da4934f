"""The systems by name. A peer's own library is imported by its `measure` alone, in the worker's process."""

from __future__ import annotations

from everlog.bench.peers.clingo import CLINGO
from everlog.bench.peers.duckdb import DUCKDB
from everlog.bench.peers.everlog import EVERLOG
from everlog.bench.peers.nemo import NEMO
from everlog.bench.peers.peer import Peer
from everlog.bench.peers.souffle import SOUFFLE

PEERS: dict[str, Peer] = {peer.name: peer for peer in (EVERLOG, DUCKDB, CLINGO, NEMO, SOUFFLE)}

__all__ = ["PEERS", "Peer"]
