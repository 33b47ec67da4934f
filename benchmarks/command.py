"""`script/bench list`, `run NAME`, `report` and `lubm`.

Exit code 0 if the systems agree, 1 if they disagree or Everlog itself failed, 2 for a user's mistake.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from benchmarks.peers import ALWAYS, PEERS
from benchmarks.report import as_json, as_text
from benchmarks.runner import Request, run
from benchmarks.workload import BenchmarkMistake
from benchmarks.workloads import WORKLOADS
from everlog.errors import EverlogError, Failure

RESULTS: Final = Path("bench-results")


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.command == "list":
        print(_listing())
        return 0
    try:
        if arguments.command == "lubm":
            print(_lubm(arguments))
            return 0
        if arguments.command == "report":
            return _report(arguments)
        if arguments.command == "run" and arguments.scale is not None:
            return _experiments(arguments)
        if arguments.command == "run" and arguments.name == "updates":
            return _updates(arguments)
        if arguments.command == "run" and arguments.name in ("modules", "complex"):
            return _modules(arguments)
        if arguments.command == "run" and arguments.name == "datalog":
            return _datalog(arguments)
        if arguments.command == "run" and arguments.name == "equality":
            return _equality(arguments)
        if arguments.command == "run" and arguments.name == "spark":
            return _spark(arguments)
        if arguments.command == "run" and arguments.name == "pipeline":
            return _pipeline(arguments)
        if arguments.command == "run" and arguments.name == "compute":
            return _compute(arguments)
        if arguments.command == "run" and arguments.name == "explain":
            return _explain(arguments)
        if arguments.command == "run" and arguments.name == "earlier":
            return _earlier(arguments)
        if arguments.command == "run" and arguments.name == "rounds":
            return _rounds(arguments)
        if arguments.command == "run" and arguments.name == "rules":
            return _rules(arguments)
        if arguments.command == "run" and arguments.name == "shapes":
            return _shapes(arguments)
        if arguments.command == "run" and arguments.name == "sparql":
            return _sparql(arguments)
        if arguments.command == "run" and arguments.name == "server":
            return _server(arguments)
        if arguments.command == "run" and arguments.name == "streams":
            return _streams(arguments)
        if arguments.command == "run" and arguments.name == "ontologies":
            return _ontologies(arguments)
        result = run(_request(arguments))
    except EverlogError as mistake:
        print(f"script/bench: {mistake}", file=sys.stderr)
        return 1 if isinstance(mistake, Failure) else 2
    except KeyboardInterrupt:
        print("script/bench: interrupted", file=sys.stderr)
        return 130
    print(as_text(result))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(as_json(result), indent=2) + "\n", encoding="utf-8")
    everlog = result.system("everlog")
    failed = everlog is not None and everlog.status in ("error", "timeout")
    return 1 if result.disagreements or failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="script/bench", description="Everlog and its peers on the same work.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the workloads with their parameters")
    runs = commands.add_parser("run", help="run one workload")
    runs.add_argument(
        "name", metavar="NAME", help="a workload, as `list` names them; with --scale, an experiment or all"
    )
    runs.add_argument("--scale", metavar="S", help="run an experiment of the papers: tiny, small or medium")
    runs.add_argument(
        "--results",
        type=Path,
        default=RESULTS,
        metavar="DIR",
        help=f"where experiments write what they measure ({RESULTS})",
    )
    runs.add_argument(
        "--repeat",
        type=int,
        metavar="N",
        help="runs of each system (3), of equality at least; samples for each algorithm of updates, and of rules (30);"
        " updates and queries of each client of server (1000); batches of streams, at the most (1000)",
    )
    runs.add_argument(
        "--peers",
        default=",".join(ALWAYS),
        metavar="A,B",
        help=f"systems to run, of {', '.join(PEERS)} (all but spark)",
    )
    runs.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter of the workload")
    runs.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="an option of Everlog")
    runs.add_argument("--timeout", type=float, metavar="S", help="seconds for each process (300; updates: 3600)")
    runs.add_argument(
        "--rows",
        metavar="A,B",
        help="datalog, updates, rules, rounds, earlier, modules, complex, equality, spark, pipeline, compute, explain,"
        " sparql, shapes, server, streams: what to run (all); ontologies: sizes",
    )
    runs.add_argument("--algorithms", metavar="A,B", help="updates: the algorithms to run (all)")
    runs.add_argument("--changed", metavar="N,M", help="updates: how many facts to delete and add again (100,1000)")
    runs.add_argument("--json", type=Path, metavar="FILE", help="write every measurement to FILE")
    report = commands.add_parser("report", help="a page and Markdown of what experiments measured")
    report.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help=f"what they measured ({RESULTS})")
    report.add_argument("--out", type=Path, metavar="DIR", help="a folder for report.html and report.md (the same)")
    data = commands.add_parser("lubm", help="write generated universities in LUBM's proportions as N-Triples")
    data.add_argument("--universities", type=int, default=1, metavar="N", help="how many, of some 130,000 triples (1)")
    data.add_argument("--seed", type=int, default=0, metavar="S", help="another seed is other data (0)")
    data.add_argument("--out", type=Path, metavar="DIR", help="a new or empty folder (lubm-N)")
    data.add_argument("--master", metavar="URL", help="Spark's master (local[*])")
    return parser


def _lubm(arguments: argparse.Namespace) -> str:
    from benchmarks.lubm_data import write_lubm

    folder = arguments.out or Path(f"lubm-{arguments.universities}")
    return write_lubm(arguments.universities, arguments.seed, folder, arguments.master)


def _pipeline(arguments: argparse.Namespace) -> int:
    from benchmarks.pipeline import ROWS, Request, run_pipeline

    asked = dict(map(_assignment, arguments.set))
    sizes = [_integer("universities", text) for text in asked.get("universities", "10,50").split(",")]
    rows = ROWS if arguments.rows is None else tuple(filter(None, arguments.rows.split(",")))
    data = Path(asked["data"]) if "data" in asked else None
    run_pipeline(Request(rows, sizes, arguments.repeat or 3, data), lambda line: print(line, flush=True))
    return 0


def _compute(arguments: argparse.Namespace) -> int:
    from benchmarks.compute import ROWS, Request, run_compute

    asked = dict(map(_assignment, arguments.set))
    size, groups = (
        _integer(name, asked.get(name, most)) for name, most in (("size", "10000000"), ("groups", "100000"))
    )
    rows = ROWS if arguments.rows is None else tuple(filter(None, arguments.rows.split(",")))
    engine = asked.get("engine", "memory")
    if engine not in ("memory", "spark"):
        raise BenchmarkMistake(f"engine={engine}: it is memory or spark")
    clock = asked.get("clock", "wall")
    if clock not in ("wall", "processor"):
        raise BenchmarkMistake(f"clock={clock}: it is wall or processor")
    repeat, on_spark = arguments.repeat or 3, engine == "spark"
    request = Request(rows, size, groups, repeat, on_spark, asked.get("master"), clock == "processor")
    run_compute(request, lambda line: print(line, flush=True))
    return 0


def _explain(arguments: argparse.Namespace) -> int:
    from benchmarks.explain import Request, run_explain

    asked = dict(map(_assignment, arguments.set))
    facts, scale = (_integer(name, asked.get(name, most)) for name, most in (("facts", "1000"), ("scale", "1")))
    rows = Request.rows if arguments.rows is None else tuple(filter(None, arguments.rows.split(",")))
    run_explain(Request(rows, facts, scale), lambda line: print(line, flush=True))
    return 0


def _earlier(arguments: argparse.Namespace) -> int:
    from benchmarks.earlier import Request, run_earlier

    asked = dict(map(_assignment, arguments.set))
    if "commit" not in asked:
        raise BenchmarkMistake("which commit? --set commit=REV")
    rows = Request.rows if arguments.rows is None else tuple(filter(None, arguments.rows.split(",")))
    request = Request(asked["commit"], rows, arguments.repeat or Request.repeat)
    run_earlier(request, lambda line: print(line, flush=True))
    return 0


def _rounds(arguments: argparse.Namespace) -> int:
    from benchmarks.rounds import ROWS, run_rounds

    rows = tuple(ROWS) if arguments.rows is None else tuple(filter(None, arguments.rows.split(",")))
    run_rounds(rows, arguments.repeat or 3, lambda line: print(line, flush=True))
    return 0


def _rules(arguments: argparse.Namespace) -> int:
    from benchmarks.rule_changes import Request, run_rules

    scale = _integer("scale", dict(map(_assignment, arguments.set)).get("scale", "1"))
    rows = Request.rows if arguments.rows is None else tuple(filter(None, arguments.rows.split(",")))
    run_rules(Request(rows, arguments.repeat or Request.repeat, scale), lambda line: print(line, flush=True))
    return 0


def _shapes(arguments: argparse.Namespace) -> int:
    from benchmarks.shapes import ROWS, Request, run_shapes

    asked = dict(map(_assignment, arguments.set))
    sizes = (("peer", "13"), ("k", "100"), ("changed", "1000"))
    beside, copies, changed = (_integer(name, asked.get(name, usual)) for name, usual in sizes)
    rows = ROWS if arguments.rows is None else tuple(filter(None, arguments.rows.split(",")))
    request = Request(rows, beside, copies, changed, arguments.repeat or 15)
    run_shapes(request, lambda line: print(line, flush=True))
    return 0


def _sparql(arguments: argparse.Namespace) -> int:
    from benchmarks.sparql import QUERIES, Request, run_sparql

    asked = dict(map(_assignment, arguments.set))
    copies = _integer("k", asked.get("k", str(Request.copies)))
    rows = tuple(QUERIES) if arguments.rows is None else tuple(filter(None, arguments.rows.split(",")))
    limit = _integer("limit", asked.get("limit", str(Request.limit)))
    request = Request(rows, copies, arguments.repeat or 3, asked.get("peer", Request.peer), limit)
    run_sparql(request, lambda line: print(line, flush=True))
    return 0


def _server(arguments: argparse.Namespace) -> int:
    from benchmarks.server import ROWS, Request, run_server

    copies = _integer("k", dict(map(_assignment, arguments.set)).get("k", "13"))
    rows = ROWS if arguments.rows is None else tuple(filter(None, arguments.rows.split(",")))
    run_server(Request(rows, copies, arguments.repeat or 1000), lambda line: print(line, flush=True))
    return 0


def _streams(arguments: argparse.Namespace) -> int:
    from benchmarks.streams import ROWS, Request, run_streams

    asked = dict(map(_assignment, arguments.set))
    copies, seconds = _integer("k", asked.get("k", "13")), _integer("seconds", asked.get("seconds", "60"))
    rows = ROWS if arguments.rows is None else tuple(filter(None, arguments.rows.split(",")))
    request = Request(rows, copies, seconds, arguments.repeat or 1000)
    run_streams(request, lambda line: print(line, flush=True))
    return 0


def _experiments(arguments: argparse.Namespace) -> int:
    from benchmarks.experiments.experiment import EXPERIMENTS, experiment
    from benchmarks.experiments.instances import SCALES
    from benchmarks.experiments.records import Results

    if arguments.scale not in SCALES:
        raise BenchmarkMistake(f"no scale {arguments.scale!r}; there are {', '.join(SCALES)}")
    if arguments.repeat is not None and arguments.repeat < 1:
        raise BenchmarkMistake("a run is repeated at least once: --repeat 1")
    chosen = EXPERIMENTS if arguments.name == "all" else (experiment(arguments.name),)
    results = Results(arguments.results)
    for each in chosen:
        begun = perf_counter()
        count = sum(1 for _ in results.write(each.name, arguments.scale, each.run(arguments.scale, arguments.repeat)))
        print(f"{each.name}: {count} records in {perf_counter() - begun:.0f} s", flush=True)
    print(f"script/bench report --results {arguments.results} makes a page of them")
    return 0


def _report(arguments: argparse.Namespace) -> int:
    from benchmarks.experiments.page import write_report
    from benchmarks.experiments.records import Results

    for path in write_report(Results(arguments.results), arguments.out or arguments.results):
        print(path)
    return 0


def _updates(arguments: argparse.Namespace) -> int:
    from benchmarks import updates, updates_report

    given: dict[str, Any] = {
        name: tuple(filter(None, getattr(arguments, name).split(",")))
        for name in ("rows", "algorithms", "changed")
        if getattr(arguments, name) is not None
    }
    if "changed" in given:
        given["changed"] = tuple(_integer("changed", text) for text in given["changed"])
    given |= {name: value for name in ("repeat", "timeout") if (value := getattr(arguments, name)) is not None}
    request = updates.Request(**given)
    request = replace(request, options={**request.options, **dict(map(_assignment, arguments.option))})
    rows = updates.run_updates(request, lambda row: print(f"{updates_report.row_text(row)}\n", flush=True))
    print(updates_report.conclusions(rows))
    if arguments.json is not None:
        content = json.dumps(updates_report.as_json(request, rows), indent=2)
        arguments.json.write_text(f"{content}\n", encoding="utf-8")
    return 1 if any(row.disagreements() for row in rows) else 0


def _modules(arguments: argparse.Namespace) -> int:
    from benchmarks import modules, modules_report

    given: dict[str, Any] = {name: value for name in ("repeat", "timeout") if (value := getattr(arguments, name))}
    if arguments.rows is not None:
        given["rows"] = tuple(filter(None, arguments.rows.split(",")))
    if arguments.peers != ",".join(ALWAYS):
        named = set(arguments.peers.split(","))
        given["systems"] = (modules.ON, modules.OFF, *([modules.DUCKDB] if modules.DUCKDB in named else []))
    request = modules.Request(arguments.name, **given, options=dict(map(_assignment, arguments.option)))
    rows = modules.run_modules(request, lambda row: print(f"{modules_report.row_text(row)}\n", flush=True))
    print("\n".join(modules_report.growth(rows)))
    if arguments.json is not None:
        content = json.dumps(modules_report.as_json(request, rows), indent=2)
        arguments.json.write_text(f"{content}\n", encoding="utf-8")
    failed = any(
        one.system != modules.DUCKDB and one.status != "ok" and not one.over for row in rows for one in row.measured
    )
    return 1 if failed or any(row.disagreements() for row in rows) else 0


def _datalog(arguments: argparse.Namespace) -> int:
    from benchmarks import datalog, datalog_report

    given: dict[str, Any] = {name: value for name in ("repeat", "timeout") if (value := getattr(arguments, name))}
    assigned = dict(map(_assignment, arguments.set))
    if "minutes" in assigned:
        given["minutes"] = _integer("minutes", assigned["minutes"])
    chosen = {"rows": arguments.rows, "sizes": assigned.get("size"), "systems": None}
    if arguments.peers != ",".join(ALWAYS):
        chosen["systems"] = arguments.peers
    given |= {name: tuple(filter(None, text.split(","))) for name, text in chosen.items() if text is not None}
    request = datalog.DatalogRequest(**given)
    found = datalog.run_datalog(request, lambda one: print(datalog_report.line_text(one), flush=True))
    print(f"\n{datalog_report.tables(found)}")
    if missing := datalog.left_out(request, found):
        print(f"\nNot run: {'; '.join(missing)}.")
    if arguments.json is not None:
        arguments.json.write_text(f"{json.dumps(datalog_report.as_json(found), indent=2)}\n", encoding="utf-8")
    failed = any(runs.system in datalog.OWN and runs.status == "error" for one in found for runs in one.result.systems)
    return 1 if failed or any(one.result.disagreements for one in found) else 0


def _equality(arguments: argparse.Namespace) -> int:
    from benchmarks import equality

    given: dict[str, Any] = {name: value for name in ("repeat", "timeout") if (value := getattr(arguments, name))}
    if arguments.rows is not None:
        given["rows"] = tuple(filter(None, arguments.rows.split(",")))
    rows = equality.run_equality(
        equality.Request(**given), lambda name, measured: print(f"{equality.row_text(name, measured)}\n", flush=True)
    )
    if arguments.json is not None:
        content = {name: [asdict(one) for one in measured] for name, measured in rows.items()}
        arguments.json.write_text(f"{json.dumps(content, indent=2)}\n", encoding="utf-8")
    return 1 if any("DISAGREE" in equality.row_text(name, measured) for name, measured in rows.items()) else 0


def _spark(arguments: argparse.Namespace) -> int:
    from benchmarks.spark import run_spark
    from benchmarks.spark_files import Files

    rows = None if arguments.rows is None else list(filter(None, arguments.rows.split(",")))
    asked = dict(map(_assignment, arguments.set))
    sizes = [_integer("universities", text) for text in asked.get("universities", "10").split(",")]
    files = Files(sizes, Path(asked["data"]) if "data" in asked else None)
    run_spark(rows, arguments.repeat or 3, files, lambda line: print(line, flush=True), asked.get("heap"))
    return 0


def _ontologies(arguments: argparse.Namespace) -> int:
    from benchmarks import ontologies

    sizes = [_integer("universities", text) for text in (arguments.rows or "").split(",") if text]
    asked = [peer for peer in arguments.peers.split(",") if peer in ontologies.SYSTEMS]
    systems = ontologies.SYSTEMS if arguments.peers == ",".join(ALWAYS) else asked
    found = ontologies.run_ontologies(
        sizes or ontologies.SIZES,
        systems,
        arguments.repeat or 3,
        arguments.timeout or 1800.0,
        lambda line: print(line, flush=True),
    )
    if arguments.json is not None:
        arguments.json.write_text(f"{json.dumps(ontologies.as_json(found), indent=2)}\n", encoding="utf-8")
    return 1 if any(each.system == "everlog" and each.outcome for each in found) else 0


def _request(arguments: argparse.Namespace) -> Request:
    return Request(
        workload=arguments.name,
        parameters={key: _integer(key, value) for key, value in map(_assignment, arguments.set)},
        peers=tuple(peer for peer in arguments.peers.split(",") if peer),
        repeat=3 if arguments.repeat is None else arguments.repeat,
        timeout=300.0 if arguments.timeout is None else arguments.timeout,
        options=dict(map(_assignment, arguments.option)),
    )


def _assignment(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise BenchmarkMistake(f"{text!r} is not KEY=VALUE")
    return key, value


def _integer(key: str, text: str) -> int:
    try:
        return int(text.replace("_", ""))
    except ValueError:
        raise BenchmarkMistake(f"{key}={text}: the parameters of workloads are whole numbers") from None


def _listing() -> str:
    lines = []
    for each in WORKLOADS:
        lines.append(f"{each.name}: {each.about}")
        lines.append(f"    {', '.join(f'{name}={value}' for name, value in each.defaults.items())}")
    from benchmarks.experiments.experiment import EXPERIMENTS

    lines.append("updates: deletions and additions by every algorithm, on several programs with data")
    lines.append("rules: an axiom leaves a program and comes back, beside facts and beside computing everything anew")
    lines.append("rounds: what rounds cost that derive next to nothing, by rules alone")
    lines.append("earlier: the peers' workloads by this Everlog and by that of a commit, in turns (--set commit=REV)")
    lines.append("modules: materialisation and updates with modules on and off, beside DuckDB")
    lines.append("complex: rules with cyclic and wide bodies, with decompositions and without, beside DuckDB")
    lines.append(
        "datalog: the benchmarks of papers about Datalog engines, at three sizes (--set size=small,medium,large), "
        "all rows at one before the next, until time is up (--set minutes=40)"
    )
    lines.append("equality: owl:sameAs by rewriting and by rules, materialisation and deletions (Table 1 of Equality)")
    lines.append("ontologies: univ-bench.owl over universities (--rows 1,10,50), against reasonable and owlrl")
    lines.append("spark: the Spark engine by itself: what rounds cost, components, a hub, and Spark's recursive CTE")
    lines.append("server: a served store, changed and asked over HTTP (--set k=13 --repeat 1000)")
    lines.append("experiments of the papers, with --scale tiny, small or medium; all of them: all")
    lines += [f"    {each.name}: {each.about}" for each in EXPERIMENTS]
    return "\n".join(lines)
