"""`python -m everlog.bench list` and `run NAME`.

Exit code 0 if the systems agree, 1 if they disagree or Everlog itself failed, 2 for a user's mistake.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from everlog.bench.peers import PEERS
from everlog.bench.report import as_json, as_text
from everlog.bench.runner import Request, run
from everlog.bench.workload import BenchmarkMistake
from everlog.bench.workloads import WORKLOADS
from everlog.errors import EverlogError


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.command == "list":
        print(_listing())
        return 0
    try:
        result = run(_request(arguments))
    except EverlogError as mistake:
        print(f"everlog bench: {mistake}", file=sys.stderr)
        return 2
    print(as_text(result))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(as_json(result), indent=2) + "\n", encoding="utf-8")
    everlog = result.system("everlog")
    failed = everlog is not None and everlog.status in ("error", "timeout")
    return 1 if result.disagreements or failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="everlog bench", description="Everlog and its peers on the same work.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the workloads with their parameters")
    runs = commands.add_parser("run", help="run one workload")
    runs.add_argument("name", metavar="NAME", help="a workload, as `list` names them")
    runs.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each system (3)")
    runs.add_argument("--peers", default=",".join(PEERS), metavar="A,B", help=f"systems to run ({','.join(PEERS)})")
    runs.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter of the workload")
    runs.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="an option of Everlog")
    runs.add_argument("--timeout", type=float, default=300.0, metavar="S", help="seconds for each process (300)")
    runs.add_argument("--json", type=Path, metavar="FILE", help="write every measurement to FILE")
    return parser


def _request(arguments: argparse.Namespace) -> Request:
    return Request(
        workload=arguments.name,
        parameters={key: _integer(key, value) for key, value in map(_assignment, arguments.set)},
        peers=tuple(peer for peer in arguments.peers.split(",") if peer),
        repeat=arguments.repeat,
        timeout=arguments.timeout,
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
    return "\n".join(lines)
