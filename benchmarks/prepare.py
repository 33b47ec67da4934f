"""Makes a workload and writes it down for the systems that will run it.

`python -m benchmarks.prepare FOLDER WORKLOAD PARAMETERS PEERS` is a process of its own, so that the one that starts
the systems stays small: a child's peak memory starts at what its parent had in memory.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from benchmarks.encoding import NotExpressible
from benchmarks.job import Form, Job, RelationFile
from benchmarks.peers import PEERS, Peer
from benchmarks.relational import Relation, Relational, relational
from benchmarks.workload import Instance, Parameters
from benchmarks.workloads import workload
from everlog.datalog.reader import parse_program
from everlog.errors import EverlogError


def prepare(folder: Path, name: str, parameters: Parameters, peers: Sequence[Peer]) -> Job:
    """Writes the instance into `folder`, in the forms that `peers` read, and describes it."""
    instance = workload(name).instance(**parameters)
    program = parse_program(instance.program, source=name)
    refusals: dict[str, str] = {}
    texts: dict[str, str] = {}
    relations: tuple[Relation, ...] = ()
    strangers = [peer for peer in peers if peer.translate is not None]
    if strangers:
        try:
            work = relational(program, instance)
        except NotExpressible as refusal:
            refusals = {peer.name: str(refusal) for peer in strangers}
        else:
            relations = work.relations
            for peer in strangers:
                _translate(peer, work, texts, refusals)
    job = Job(
        folder=folder,
        workload=name,
        parameters=parameters,
        program=instance.program,
        facts={predicate: table.num_rows for predicate, table in instance.facts.items()},
        results=tuple(sorted({rule.head.predicate for rule in program.rules})),
        relations=tuple(RelationFile(r.name, r.arity, r.predicate, r.derived, r.rows) for r in relations),
        texts=texts,
        refusals=refusals,
    )
    _write_facts(job, instance, relations, {peer.form for peer in peers if peer.name not in refusals})
    job.save()
    return job


def _translate(peer: Peer, work: Relational, texts: dict[str, str], refusals: dict[str, str]) -> None:
    assert peer.translate is not None
    try:
        texts[peer.name] = peer.translate(work)
    except NotExpressible as refusal:
        refusals[peer.name] = str(refusal)


def _write_facts(job: Job, instance: Instance, relations: Sequence[Relation], forms: set[Form]) -> None:
    if "native" in forms:
        (job.folder / "native").mkdir()
        for predicate, table in instance.facts.items():
            _write_arrow(table, job.native_file(predicate))
    writers: dict[Form, Callable[[Relation, pa.Table, Path], None]] = {
        "arrow": lambda relation, table, path: _write_arrow(table, path),
        "csv": lambda relation, table, path: _write_lines(table, path),
        "lp": _write_atoms,
    }
    (job.folder / "relations").mkdir()
    for relation, file in zip(relations, job.relations, strict=True):
        table = pa.table({f"a{position}": column for position, column in enumerate(relation.columns)})
        for form in sorted(forms & writers.keys()) if relation.rows else ():
            writers[form](relation, table, job.relation_file(file, form))


def _write_arrow(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table.combine_chunks())


def _write_lines(table: pa.Table, path: Path) -> None:
    pacsv.write_csv(table, path, pacsv.WriteOptions(include_header=False))


def _write_atoms(relation: Relation, table: pa.Table, path: Path) -> None:
    """The facts in clingo's language, one per line."""
    arguments = [pc.cast(column, pa.string()) for column in table.columns]
    lines = pc.binary_join_element_wise(f"{relation.name}(", pc.binary_join_element_wise(*arguments, ","), ").\n", "")
    with path.open("wb") as file:
        for chunk in lines.chunks:
            file.write(chunk.buffers()[2])  # the texts of an Arrow column stand one after the other


def main(argv: Sequence[str]) -> int:
    folder, name, parameters, peers = argv
    chosen = [PEERS[peer] for peer in peers.split(",")]
    try:
        job = prepare(Path(folder), name, json.loads(parameters), chosen)
    except EverlogError as mistake:
        print(mistake, file=sys.stderr)
        return 2
    print(json.dumps({"facts": job.facts, "results": job.results, "refusals": job.refusals}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
