"""Imports point down only, from the command line to the errors; and no two files share a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "everlog"

FACADE = "everlog"
LAYERS = [
    ["errors", "clock", "wording"],
    ["interrupts"],
    ["garbage"],
    ["datalog", "expressions"],
    ["engine", "rdf", "souffle"],  # of the engine, what all engines share: the algebra
    ["planning"],
    ["engine.memory"],
    ["spark", "sources", "store"],
    ["engine.backend"],  # what a knowledge base asks of an engine; and the memory engine's answers
    [f"engine.memory.{name}" for name in ("memory_backend", "kept_relations", "names", "shelf")] + ["engine.spark"],
    ["reasoning", "sparql"],
    ["explaining"],
    ["knowledge"],
    ["streaming"],
    [FACADE],  # names of the layers below it
    ["server"],
    ["cli", "__main__"],
]
HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer}
FILES = sorted(PACKAGE.rglob("*.py"), key=str)
NOT_FOR_ALGORITHMS = ("numpy", "numba", "pyspark", "everlog.engine.memory", "everlog.engine.spark")


def layer(module: str) -> str:
    """The layer of a module such as `everlog.datalog.reader`, or of a name in one."""
    parts = module.split(".")[1:]
    known = (".".join(parts[:depth]) for depth in (3, 2, 1))
    return next((name for name in known if name in HEIGHT), FACADE)


def module_of(path: Path) -> str:
    parts = ("everlog", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """The modules that a file imports anywhere, also inside functions and for types only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports by a relative name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def named(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_imports_point_down(path: Path) -> None:
    mine = layer(module_of(path))
    for module in imports(path):
        if named(module, "everlog"):
            assert HEIGHT[layer(module)] <= HEIGHT[mine], f"{path} imports {module}"


def test_rdf_and_souffle_know_only_the_language() -> None:
    for path in FILES:
        if (mine := layer(module_of(path))) in ("rdf", "souffle"):
            known = {layer(module) for module in imports(path) if named(module, "everlog")}
            assert known <= {mine, "datalog", "errors", "wording"}, f"{path} imports {known}"


def test_expressions_know_only_the_language() -> None:
    for path in FILES:
        if layer(module_of(path)) == "expressions":
            known = {layer(module) for module in imports(path) if named(module, "everlog")}
            assert known <= {"expressions", "datalog", "errors", "wording"}, f"{path} imports {known}"


def test_queries_know_nothing_of_reasoning() -> None:
    for path in FILES:
        if layer(module_of(path)) == "sparql":
            known = {layer(module) for module in imports(path) if named(module, "everlog")}
            assert known <= {
                "sparql",
                "expressions",
                "datalog",
                "engine",
                "engine.memory",
                "interrupts",
                "clock",
                "errors",
            }


def test_algorithms_know_only_the_algebra() -> None:
    algorithms = [path for path in FILES if layer(module_of(path)) == "reasoning" and path.name != "__init__.py"]
    assert algorithms
    for path in algorithms:
        for module in imports(path):
            assert not any(named(module, package) for package in NOT_FOR_ALGORITHMS), f"{path} imports {module}"


def test_files_and_stores_know_nothing_of_reasoning() -> None:
    for path in FILES:
        if layer(module_of(path)) in ("sources", "store", "spark"):
            known = {layer(module) for module in imports(path) if named(module, "everlog")}
            assert not known & {"planning", "reasoning"}, f"{path} imports {known}"


def test_what_lies_below_spark_knows_nothing_of_it() -> None:
    for path in FILES:
        below = HEIGHT[layer(module_of(path))] < HEIGHT["spark"]
        for module in imports(path):
            assert not (below and named(module, "pyspark")), f"{path} imports {module}"


def test_no_two_files_share_a_name() -> None:
    """But those of the two engines, which are a pair if they are in the same room of both."""
    places: dict[str, list[str]] = {}
    for path in FILES:
        if path.name not in ("__init__.py", "__main__.py"):
            places.setdefault(path.name, []).append(path.relative_to(PACKAGE).parent.as_posix())
    for name, rooms in places.items():
        if len(rooms) > 1:
            within = {room.removeprefix("engine/memory").removeprefix("engine/spark") for room in rooms}
            assert len(rooms) == 2 and len(within) == 1, f"{name} is in {rooms}"


def test_the_package_is_there() -> None:
    """Or the tests above would say nothing."""
    assert {layer(module_of(path)) for path in FILES} == set(HEIGHT)
