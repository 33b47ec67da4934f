"""`script/bench run spark`: the Spark engine by itself, in one session, with medians.

* `dag`: the closure of a random acyclic graph against Spark's own recursive CTE. That has `UNION ALL` only, so it makes a
  row for every path; it is given a limit of rows, and where it meets it, it has lost.
* `chain`: many rounds with little to do: what a round costs.
* `long`: two hundred rounds: whether the last cost what the first did, and how the driver's memory grows.
* `lubm`: rules about universities: seconds by round and by fact, at two sizes.
* `dbpedia`: thousands of rules over generated triples: seconds by round, shapes of rules, and joins in the largest plan.
* `components` and `hub`: see `spark_graphs.py`.
* `many`: a million and ten million triples of this process, with the memory engine beside it; see `spark_many.py`.
* `files`: generated universities from files, all of it by jobs, at sizes that are asked for; see `spark_files.py`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from random import Random
from statistics import median
from time import perf_counter, sleep, time
from typing import TYPE_CHECKING, Any, Final

from benchmarks.data import data_file
from benchmarks.driver_memory import DriverMemory
from benchmarks.spark_files import Files, run_files
from benchmarks.spark_graphs import nothing_on_the_driver, run_components, run_hub
from benchmarks.spark_many import run_many
from benchmarks.workload import BenchmarkMistake
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Constant, Program
from everlog.datalog.values import RDF_TYPE
from everlog.engine.spark.joins.rules import SparkRules
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.report import Report
from everlog.reasoning.change import Progress
from everlog.spark.metrics import event_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REACH: Final = parse_program("reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")
_ROWS: Final = 20_000_000
"""The rows that the recursive CTE may make."""

Line = Callable[[str], None]
Row = Callable[["SparkSession", int, Line], None]


def run_spark(rows: Sequence[str] | None, repeat: int, files: Files, say: Line, heap: str | None = None) -> None:
    """Runs some rows of the benchmark, or all, and says what was measured. Java has a `heap` of that size, as `2g`."""
    from everlog.spark.session import start_session

    known: dict[str, Row] = {**ROWS, "files": partial(run_files, files)}
    unknown = set(rows or ()) - set(known)
    if unknown:
        raise BenchmarkMistake(f"there is no row {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as blocks:
        conf = {"spark.local.dir": blocks, **({"spark.driver.memory": heap} if heap else {})}
        spark = start_session(master="local[*]", events=True, conf=conf)
        say(f"Spark {spark.version}, {spark.conf.get('spark.master')}, medians of {repeat} runs after one to warm up")
        try:
            _materialised(spark, REACH, {"edge": [(number, number + 1) for number in range(4)]})
            for name in rows or known:
                known[name](spark, repeat, say)
        finally:
            spark.stop()


def _materialised(
    spark: SparkSession, program: Program, facts: dict[str, Any], progress: Progress | None = None
) -> tuple[float, Report]:
    """The seconds of a materialisation, facts given, and its report."""
    kb = KnowledgeBase(program, engine="spark", spark=spark, modules="off")
    kb.add(facts)
    begun = perf_counter()
    report = kb.materialise(progress)
    return perf_counter() - begun, report


def _rounds(report: Report) -> list[float]:
    assert report.spark is not None
    return [one["seconds"] for one in report.spark["rounds"] if one["round"]]


def _work(report: Report) -> str:
    assert report.spark is not None
    work = report.spark
    shuffled = work["shuffled_bytes"] / 2**20
    return f"{report.rounds} rounds, {work['jobs']} jobs, {work['tasks']} tasks, {shuffled:,.1f} MiB shuffled"


def acyclic(nodes: int, edges: int, seed: int = 0) -> list[tuple[int, int]]:
    """The edges of a random acyclic graph, each from a smaller number to a larger one."""
    random = Random(seed)
    found: set[tuple[int, int]] = set()
    while len(found) < edges:
        x, y = random.sample(range(nodes), 2)
        found.add((min(x, y), max(x, y)))
    return sorted(found)


def _dag(spark: SparkSession, repeat: int, say: Line) -> None:
    for nodes, edges in ((1_000, 1_200), (1_000, 10_000)):
        graph = acyclic(nodes, edges)
        runs = [_materialised(spark, REACH, {"edge": graph}) for _ in range(repeat)]
        ours, report = median(seconds for seconds, _ in runs), runs[-1][1]
        derived = report.facts["total"] - report.facts["explicit"]
        say(f"dag {nodes:,} nodes, {edges:,} edges: {derived:,} facts in {ours:.2f} s ({_work(report)})")
        theirs = [_recursive_cte(spark, graph) for _ in range(repeat)]
        if any(found is None for _, found in theirs):
            seconds = median(seconds for seconds, _ in theirs)
            say(f"  recursive CTE: gave up after {_ROWS:,} rows, {seconds:.1f} s")
            continue
        assert all(found == derived for _, found in theirs), "the recursive CTE finds something else"
        seconds = median(seconds for seconds, _ in theirs)
        say(f"  recursive CTE: {seconds:.2f} s, {seconds / ours:.1f} times ours")


def _recursive_cte(spark: SparkSession, graph: Sequence[tuple[int, int]]) -> tuple[float, int | None]:
    """The seconds of Spark's own closure, and how many facts it found; None if it made too many rows."""
    session = spark.newSession()
    session.conf.set("spark.sql.cteRecursionRowLimit", str(_ROWS))
    session.conf.set("spark.sql.cteRecursionLevelLimit", "2000")
    session.createDataFrame(list(graph), "x bigint, y bigint").createOrReplaceTempView("edge")
    query = """
        WITH RECURSIVE reach(x, y) AS (
            SELECT x, y FROM edge UNION ALL SELECT reach.x, edge.y FROM reach JOIN edge ON reach.y = edge.x
        ) SELECT count(DISTINCT x, y) FROM reach
    """
    begun = perf_counter()
    try:
        ((found,),) = session.sql(query).collect()
    except Exception as failure:
        # What Java reports here is no PySparkException.
        if "RECURSION_ROW_LIMIT_EXCEEDED" not in str(failure):
            raise
        return perf_counter() - begun, None
    return perf_counter() - begun, int(found)


def _chain(spark: SparkSession, repeat: int, say: Line) -> None:
    edges = {"edge": [(number, number + 1) for number in range(60)]}
    for where, how in (("by Spark", nothing_on_the_driver()), ("with small sets on the driver", nullcontext())):
        with how:
            rounds = [one for _ in range(repeat) for one in _rounds(_materialised(spark, REACH, edges)[1])]
        say(f"chain of 60, {where}: a round takes {median(rounds):.3f} s (median of {len(rounds)})")


def _long(spark: SparkSession, repeat: int, say: Line) -> None:
    with nothing_on_the_driver():
        _long_by_spark(spark, say)


def _long_by_spark(spark: SparkSession, say: Line) -> None:
    edges = {"edge": [(number, number + 1) for number in range(200)]}
    seconds, report = _materialised(spark, REACH, edges)
    rounds = _rounds(report)
    first, last = median(rounds[10:20]), median(rounds[-10:])
    say(
        f"{len(rounds)} rounds in {seconds:.1f} s: the last ten take {last:.3f} s each, {last / first:.2f} times those "
        f"after the first ten ({first:.3f} s)"
    )
    # Once more for the memory: to ask for it takes longer than a round.
    found = DriverMemory(spark, len(rounds))
    _materialised(spark, REACH, edges, found)
    say(f"  {found.summary()}")


def _lubm(spark: SparkSession, repeat: int, say: Line) -> None:
    from benchmarks.generators.universities import universities

    program = parse_program(data_file("programs/LUBM_L.dlog").read_text(encoding="utf-8"))
    for count in (10, 50):
        triples = universities(spark, count).persist()
        size = triples.count()
        runs = [_loaded(spark, program, triples)[:2] for _ in range(repeat)]
        seconds, report = median(one for one, _ in runs), runs[-1][1]
        derived = report.facts["total"] - report.facts["explicit"]
        say(
            f"lubm {count}: {size:,} triples, {derived:,} derived in {seconds:.1f} s, "
            f"{seconds / report.rounds:.2f} s a round, {1e6 * seconds / derived:.1f} s a million ({_work(report)})"
        )
        triples.unpersist()


def _loaded(spark: SparkSession, program: Program, triples: Any) -> tuple[float, Report, KnowledgeBase]:
    """The same for triples that Spark has, in text form; and the knowledge base."""
    from benchmarks.generators.generation import as_terms
    from everlog.sources.read_facts import read_frames

    kb = KnowledgeBase(program, engine="spark", spark=spark, modules="off")
    kb.load_read(read_frames(spark, {"triple": as_terms(triples)}))
    begun = perf_counter()
    report = kb.materialise()
    return perf_counter() - begun, report, kb


def _dbpedia(spark: SparkSession, repeat: int, say: Line) -> None:
    program = parse_program(data_file("programs/DBpedia_L.dlog").read_text(encoding="utf-8"))
    triples = generated_triples(spark, program, 1_000_000).persist()
    size = triples.count()
    begun = time()
    seconds, report, kb = _loaded(spark, program, triples)
    derived = report.facts["total"] - report.facts["explicit"]
    strata = kb.reasoner.materialisation.strata if kb.reasoner.materialisation is not None else ()
    shapes = [len(stratum.rules.shapes) for stratum in strata if isinstance(stratum.rules, SparkRules)]
    say(
        f"dbpedia: {len(program.rules):,} rules in {sum(shapes)} shapes, {size:,} triples, {derived:,} derived in "
        f"{seconds:.1f} s, {seconds / report.rounds:.2f} s a round ({_work(report)}); "
        f"at most {joins_in_a_plan(spark, begun)} joins in a plan"
    )
    triples.unpersist()


def joins_in_a_plan(spark: SparkSession, since: float) -> int:
    """The joins of the largest plan that Spark has executed since some time."""
    file = event_log(spark)
    assert file is not None, "the session logs its events"
    sleep(0.5)  # Spark writes its log a moment later
    most = 0
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            if "SparkListenerSQLExecutionStart" in line[:120]:
                event = json.loads(line)
                if event["time"] / 1000 >= since:
                    most = max(most, _joins(event["sparkPlanInfo"]))
    return most


def _joins(plan: dict[str, Any]) -> int:
    return ("Join" in plan["nodeName"]) + sum(map(_joins, plan["children"]))


def generated_triples(spark: SparkSession, program: Program, size: int) -> Any:
    """Triples over the classes and properties of a program, a fifth of them with `rdf:type`; Spark makes them."""
    from pyspark.sql.functions import array, col, concat, element_at, lit, pmod, when, xxhash64

    atoms = [atom for rule in program.rules for atom in (rule.head, *rule.positive) if len(atom.terms) == 3]
    kind = str(RDF_TYPE)
    properties, classes = set[str](), set[str]()
    for atom in atoms:
        _, middle, last = atom.terms
        if isinstance(middle, Constant):
            if str(middle.value) != kind:
                properties.add(str(middle.value))
            elif isinstance(last, Constant):
                classes.add(str(last.value))

    def chosen(names: set[str], salt: int) -> Any:
        texts = array(*(lit(name) for name in sorted(names)))
        return element_at(texts, (pmod(xxhash64(col("id"), lit(salt)), lit(len(names))) + 1).cast("int"))

    def individual(salt: int) -> Any:
        number = pmod(xxhash64(col("id"), lit(salt)), lit(max(size // 5, 1)))
        return concat(lit("<http://example.org/i"), number.cast("string"), lit(">"))

    is_typed = col("id") % 5 == 0
    return spark.range(size).select(
        individual(1).alias("a0"),
        when(is_typed, lit(kind)).otherwise(chosen(properties, 2)).alias("a1"),
        when(is_typed, chosen(classes, 3)).otherwise(individual(4)).alias("a2"),
    )


ROWS: Final[dict[str, Row]] = {
    "dag": _dag,
    "chain": _chain,
    "long": _long,
    "lubm": _lubm,
    "dbpedia": _dbpedia,
    "components": run_components,
    "hub": run_hub,
    "many": run_many,
}
