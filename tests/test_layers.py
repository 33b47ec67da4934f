"""Imports point down only: cli, bench → pipeline → knowledge base → reasoning → planning → engine → datalog → errors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "everlog"

KNOWLEDGE = "knowledge base"
FACADE = "everlog"
# `rdf` knows only the language; `everlog` itself is names of the layers below it; the command `everlog bench` calls the
# benchmarks.
LAYERS = [
    ["errors"],
    ["interrupts"],
    ["datalog"],
    ["engine", "rdf"],
    ["planning"],
    ["reasoning"],
    [KNOWLEDGE],
    ["pipeline"],
    [FACADE],
    ["bench"],
    ["cli"],
]
HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer}
FILES = sorted(PACKAGE.rglob("*.py"), key=str)
NOT_FOR_ALGORITHMS = ("numpy", "numba", "pyspark", "everlog.engine.memory", "everlog.engine.spark")


def layer(module: str) -> str:
    """The layer of a module such as `everlog.datalog.reader`, or of a name in one."""
    parts = [*module.split("."), ""]
    if parts[1] in HEIGHT:
        return parts[1]
    return KNOWLEDGE if (PACKAGE / f"{parts[1]}.py").exists() else FACADE


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
            assert layer(module) == mine or HEIGHT[layer(module)] < HEIGHT[mine], f"{path} imports {module}"


def test_rdf_knows_only_the_language() -> None:
    for path in FILES:
        if layer(module_of(path)) == "rdf":
            known = {layer(module) for module in imports(path) if named(module, "everlog")}
            assert known <= {"rdf", "datalog", "errors"}, f"{path} imports {known}"


def test_algorithms_know_only_the_algebra() -> None:
    algorithms = [path for path in FILES if layer(module_of(path)) == "reasoning" and path.name != "__init__.py"]
    assert algorithms
    for path in algorithms:
        for module in imports(path):
            assert not any(named(module, package) for package in NOT_FOR_ALGORITHMS), f"{path} imports {module}"


def test_only_the_pipeline_and_above_know_spark() -> None:
    for path in FILES:
        below = HEIGHT[layer(module_of(path))] < HEIGHT["pipeline"] and "spark" not in path.parts
        for module in imports(path):
            assert not (below and named(module, "pyspark")), f"{path} imports {module}"


def test_the_package_is_there() -> None:
    """Or the tests above would say nothing."""
    assert {layer(module_of(path)) for path in FILES} >= {"datalog", "engine", "planning", "reasoning", KNOWLEDGE}
