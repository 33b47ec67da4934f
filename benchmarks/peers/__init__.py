"""The systems by name. A peer's own library is imported by its `measure` alone, in the worker's process."""

from __future__ import annotations

from benchmarks.peers.clingo import CLINGO
from benchmarks.peers.duckdb import DUCKDB
from benchmarks.peers.duckdb_rounds import DUCKDB_ROUNDS
from benchmarks.peers.everlog import EVERLOG, GENERIC
from benchmarks.peers.nemo import NEMO
from benchmarks.peers.peer import Peer
from benchmarks.peers.souffle import SOUFFLE
from benchmarks.peers.spark import SPARK

PEERS: dict[str, Peer] = {
    peer.name: peer for peer in (EVERLOG, GENERIC, DUCKDB, DUCKDB_ROUNDS, CLINGO, NEMO, SOUFFLE, SPARK)
}

ALWAYS: tuple[str, ...] = tuple(name for name in PEERS if name not in (GENERIC.name, DUCKDB_ROUNDS.name, SPARK.name))
"""Who is asked unless someone is named: Spark can do little of it, and takes longer to start than others to reason."""

__all__ = ["ALWAYS", "PEERS", "Peer"]
