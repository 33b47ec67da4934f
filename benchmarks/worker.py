"""One measurement of one system, in this process: `python -m benchmarks.worker FOLDER PEER OPTIONS`.

The last line on standard output is the answer in JSON, whatever the system itself prints. An absent system is an
answer, and so is an error: the caller's table has a row for it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.job import Job, open_job
from benchmarks.peers import PEERS, Peer
from benchmarks.peers.peer import Absent


def answer(job: Job, peer: Peer, options: Mapping[str, str]) -> dict[str, Any]:
    """The measurement as JSON, with a `status`: ok, absent, not expressible, or error."""
    if peer.name in job.refusals:
        return {"status": "not expressible", "reason": job.refusals[peer.name]}
    try:
        return {"status": "ok", **asdict(peer.measure(job, options))}
    except (Absent, ImportError) as missing:
        return {"status": "absent", "reason": str(missing)}
    except Exception as error:
        return {"status": "error", "reason": f"{type(error).__name__}: {error}"}


def main(argv: Sequence[str]) -> None:
    folder, peer, options = argv
    print(json.dumps(answer(open_job(Path(folder)), PEERS[peer], json.loads(options))))


if __name__ == "__main__":
    main(sys.argv[1:])
