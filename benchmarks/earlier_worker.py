"""Materialises a prepared workload some times: `python earlier_worker.py FOLDER RUNS`, with one Everlog on the path.

It uses what every version has. The last line on standard output is the answer in JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

import pyarrow as pa

import everlog
from everlog import KnowledgeBase, parse_program


def measured(folder: Path, runs: int) -> dict[str, Any]:
    """Seconds of the processor for each run, without planning, and the facts that there are in the end."""
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    files = {name: folder / "native" / f"{name}.arrow" for name in job["facts"]}
    facts = {name: pa.ipc.open_file(pa.memory_map(str(path))).read_all() for name, path in files.items()}
    seconds, counts = [], {}
    for _ in range(runs):
        kb = KnowledgeBase(parse_program(job["program"]), engine="memory")
        kb.add(facts)
        begun = process_time()
        kb.materialise()
        seconds.append(process_time() - begun)
        counts = {name: kb.size(name) for name in job["results"]}
    return {"processor": seconds, "facts": counts, "source": everlog.__file__}


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1]), int(sys.argv[2]))))
