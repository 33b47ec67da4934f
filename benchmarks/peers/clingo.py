"""clingo, of which only the grounder works: the programs are Datalog, so grounding computes the materialisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.job import Job
from benchmarks.peers.peer import Measurement, Peer
from benchmarks.peers.stopwatch import Stopwatch
from benchmarks.relational import Relational
from benchmarks.translate import CLINGO as DIALECT
from benchmarks.translate import rule_text


def _program(work: Relational) -> str:
    return "\n".join(rule_text(rule, DIALECT) for rule in work.rules)


def _measure(job: Job, options: Mapping[str, str]) -> Measurement:
    import clingo

    control = clingo.Control(["--warn=none"])
    watch = Stopwatch()
    for relation in job.relations:
        if relation.rows:
            control.load(str(job.relation_file(relation, "lp")))
    control.add("base", [], job.texts["clingo"])
    load = watch.lap()
    control.ground([("base", [])])
    reasoning = watch.lap()
    return Measurement(
        version=clingo.__version__,
        load_seconds=load.seconds,
        reasoning_seconds=reasoning.seconds,
        processor_seconds=reasoning.processor,
        facts=_facts(job, control.symbolic_atoms),
        settings={"threads": "1"},
    )


def _facts(job: Job, atoms: Any) -> dict[str, int]:
    """With one result predicate, all atoms but the others' facts: to walk through millions of atoms takes minutes."""
    if len(job.results) == 1:
        (result,) = job.results
        others = sum(relation.rows for relation in job.relations if relation.predicate != result)
        return {result: len(atoms) - others}
    return job.by_predicate(
        {
            relation.name: sum(1 for _ in atoms.by_signature(relation.name, relation.arity))
            for relation in job.relations
            if relation.derived
        }
    )


CLINGO = Peer(
    "clingo",
    form="lp",
    timed="ground(): the parsed facts are entered and the rules instantiated; reading the text is load",
    measure=_measure,
    translate=_program,
)
