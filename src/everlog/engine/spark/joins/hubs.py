"""Hubs: values that very many facts share. A join by such a value would give all of them to one task.

Where both sides of a join are too large to be broadcast, the rows with a hub on one side are dealt out to *shares*, a few
for each partition, and the rows that they meet on the other side are in every share. Which values are hubs is found
from a sample of each run, once; runs without hubs are joined as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from everlog.engine.spark import tuning
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.fact_schema import RELATION
from everlog.engine.spark.facts.runs import Run
from everlog.engine.spark.facts.sets import SparkFacts
from everlog.engine.spark.facts.sql_text import Table, select, union

Hubs = frozenset[int]
SHARE: Final = "share"


def hubs(engine: SparkEngine, facts: SparkFacts, relations: frozenset[int], column: str) -> Hubs:
    """The values that very many facts of some relations have in a column."""
    found = set[int]()
    for run in facts.sources():
        if run.rows > tuning.BROADCAST_JOIN_FACTS and run.name is not None:
            found.update(id for relation, one, id in hubs_of(engine, run) if one == column and relation in relations)
    return frozenset(found)


def hubs_of(engine: SparkEngine, run: Run) -> frozenset[tuple[int, str, int]]:
    """The hubs of a run: relation, column and value."""
    if run.hubs is None:
        columns = [name for name in run.columns if name in fact_schema.arguments(engine.width)]
        step = max(1, run.rows // tuning.HUB_SAMPLE_FACTS)
        sample = select(["*"], run.view(), [f"pmod(xxhash64({RELATION}, {', '.join(columns)}), {step}) = 0"])
        places = ", ".join(f"'{name}', {name}" for name in columns)
        pairs = f"(SELECT {RELATION}, stack({len(columns)}, {places}) AS (place, id) FROM {sample})"
        grouped = f"SELECT {RELATION}, place, id FROM {pairs} WHERE id >= 0 GROUP BY {RELATION}, place, id"
        many = run.rows / step * tuning.HUB_SHARE
        rows = engine.spark.sql(f"{grouped} HAVING count(*) >= {many}").collect() if columns else []
        run.hubs = frozenset((row[0], row[1], row[2]) for row in rows)
    return run.hubs


def shared(
    rows: Table, value: str, columns: Sequence[str], dealt: Iterable[int], everywhere: Iterable[int], partitions: int
) -> Table:
    """Rows with the share that they are in: those with a value that is `dealt` out in one, those `everywhere` in all."""
    shares = tuning.SHARES_PER_PARTITION * partitions
    hashed = f"array(pmod(xxhash64({', '.join(columns)}), {shares}L))"
    cases = [(dealt, hashed), (everywhere, f"sequence(0L, {shares - 1}L)")]
    told = " ".join(f"WHEN {value} IN ({_listed(ids)}) THEN {array}" for ids, array in cases if ids)
    return select(["*", f"explode(CASE {told} ELSE array(0L) END) AS {SHARE}"], rows)


def least(rows: Table, among: Hubs) -> Table:
    """Rows `u`, `v`, … with the least `v` of their `u` as `m`, which is broadcast for those `among` the hubs."""
    if not among:
        return select(["*", "min(v) OVER (PARTITION BY u) AS m"], rows)
    ids = _listed(among)
    others = select(["*", "min(v) OVER (PARTITION BY u) AS m"], rows, [f"u NOT IN ({ids})"])
    of_hubs = f"(SELECT u AS hub, min(v) AS m FROM {rows} WHERE u IN ({ids}) GROUP BY u)"
    met = select(["r.*", "h.m"], f"{rows} r CROSS JOIN {of_hubs} h", ["r.u = h.hub"], "BROADCAST(h)")
    return union([others, met])


def _listed(ids: Iterable[int]) -> str:
    return ", ".join(f"{id}L" for id in sorted(ids))
