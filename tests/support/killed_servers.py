"""Servers that are killed in the middle of updates, again and again: what was acknowledged must be in the store.

`python tests/support/killed_servers.py 100` does so a hundred times.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path
from threading import Timer

import httpx

import everlog

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from support.servers import started

RULES = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."


def kill_servers(folder: Path, times: int, seed: int) -> int:
    """How many updates were acknowledged by servers of which so many were killed; nothing of them is lost."""
    store, chance = folder / "killed.store", random.Random(seed)
    kb = everlog.KnowledgeBase(RULES)
    kb.add({"edge": [(0, 1)]})
    kb.materialise()
    kb.save(store)
    sure, asked, version, acknowledged = {(0, 1)}, {(0, 1)}, 1, 0
    for _ in range(times):
        server, killing = started(store), None
        try:
            while True:
                edge = (chance.randrange(30), chance.randrange(30))
                asked.add(edge)
                found = server.update(add={"edge": [list(edge)]})
                assert found.status_code == 200, found.text
                assert found.json()["version"] > version
                version = found.json()["version"]
                sure.add(edge)
                acknowledged += 1
                if killing is None:  # after a first update, for which kernels are loaded
                    killing = Timer(chance.uniform(0.0, 0.5), server.process.kill)
                    killing.start()
        except httpx.TransportError:
            pass
        finally:
            if killing is not None:
                killing.join()
            server.process.kill()
            server.client.close()
            server.process.wait(30)
            assert server.process.stdout is not None
            server.process.stdout.close()
        kept = everlog.open(store)
        there = set(kept.rows("edge"))
        assert sure <= there <= asked, (sure - there, there - asked)
        assert kept.stored is not None and kept.stored[1].version >= version
        again = everlog.KnowledgeBase(RULES)
        again.add({"edge": sorted(there)})
        again.materialise()
        assert set(kept.rows("reach")) == set(again.rows("reach"))
        sure = there
    return acknowledged


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        number = int(sys.argv[1]) if len(sys.argv) > 1 else 100
        print(f"{kill_servers(Path(place), number, seed=number)} updates, {number} servers killed, nothing lost")
