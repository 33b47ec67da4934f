"""`doop`: what variables of Java programs point to, without contexts, while the methods that are called are found out.

Fourteen relations depend on each other, most of them with three or four columns: objects with their types move through
variables, fields, arrays and statics, arguments, results and exceptions; a call goes to the method that the type of its
receiver has for a signature. A generated program has classes below each other, methods that override those above, and
statements that are drawn inside methods; classes have to do with others of their package.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from benchmarks.workload import BenchmarkMistake, Instance, Workload

RULES: Final = """
below(?t, ?t) :- type(?t) .
below(?t, ?u) :- below(?t, ?s), extends(?s, ?u) .
lookup(?t, ?s, ?m) :- declares(?t, ?s, ?m) .
lookup(?t, ?s, ?m) :- extends(?t, ?u), lookup(?u, ?s, ?m), not own(?t, ?s) .
own(?t, ?s) :- declares(?t, ?s, _) .

reachable(?m) :- main(?m) .
reachable(?m) :- called(_, _, ?m) .
points(?v, ?h, ?t) :- alloc(?v, ?h, ?m), reachable(?m), heapType(?h, ?t) .
points(?to, ?h, ?t) :- assigned(?to, ?from, _), points(?from, ?h, ?t) .
points(?to, ?h, ?t) :- cast(?to, ?from, ?u, ?m), reachable(?m), points(?from, ?h, ?t), below(?t, ?u) .
points(?to, ?h, ?t) :- loaded(?base, ?f, ?to, _), fieldPoints(?base, ?f, ?h, ?t) .
points(?to, ?h, ?t) :- loadArray(?to, ?a, ?m), reachable(?m), points(?a, ?base, _), arrayPoints(?base, ?h, ?t) .
points(?to, ?h, ?t) :- loadStatic(?to, ?f, ?m), reachable(?m), staticPoints(?f, ?h, ?t) .
points(?this, ?h, ?t) :- dispatched(_, ?h, ?t, ?m), thisOf(?m, ?this) .
points(?to, ?h, ?t) :- called(?i, _, ?m), result(?i, ?to), returned(?m, ?h, ?t) .
points(?to, ?h, ?t) :- caught(?m, ?u, ?to), thrown(?m, ?h, ?t), below(?t, ?u) .
assigned(?to, ?from, ?m) :- move(?to, ?from, ?m), reachable(?m) .
assigned(?to, ?from, ?m) :- called(?i, _, ?m), actual(?i, ?n, ?from), formal(?m, ?n, ?to) .
loaded(?h, ?f, ?to, ?m) :- load(?to, ?base, ?f, ?m), reachable(?m), points(?base, ?h, _) .
stored(?h, ?f, ?from, ?m) :- store(?base, ?f, ?from, ?m), reachable(?m), points(?base, ?h, _) .
fieldPoints(?base, ?f, ?h, ?t) :- stored(?base, ?f, ?from, _), points(?from, ?h, ?t) .
arrayPoints(?base, ?h, ?t) :- storeArray(?a, ?from, ?m), reachable(?m), points(?a, ?base, _), points(?from, ?h, ?t) .
staticPoints(?f, ?h, ?t) :- storeStatic(?f, ?from, ?m), reachable(?m), points(?from, ?h, ?t) .
dispatched(?i, ?h, ?t, ?to) :- virtual(?i, ?base, ?s, ?m), reachable(?m), points(?base, ?h, ?t), lookup(?t, ?s, ?to) .
called(?i, ?m, ?to) :- direct(?i, ?to, ?m), reachable(?m) .
called(?i, ?m, ?to) :- dispatched(?i, _, _, ?to), virtual(?i, _, _, ?m) .
returned(?m, ?h, ?t) :- returns(?m, ?v), reachable(?m), points(?v, ?h, ?t) .
thrown(?m, ?h, ?t) :- throws(?m, ?v), reachable(?m), points(?v, ?h, ?t) .
thrown(?m, ?h, ?t) :- called(_, ?m, ?to), thrown(?to, ?h, ?t), not catches(?m) .
escapes(?h, ?t, ?m) :- thrown(?m, ?h, ?t), main(?m) .
"""

_COLUMNS: Final = {
    "type": 1, "extends": 2, "declares": 3, "main": 1, "alloc": 3, "heapType": 2, "move": 3, "cast": 4, "load": 4,
    "store": 4, "loadArray": 3, "storeArray": 3, "loadStatic": 3, "storeStatic": 3, "virtual": 4, "direct": 3,
    "actual": 3, "formal": 3, "thisOf": 2, "result": 2, "returns": 2, "throws": 2, "caught": 3, "catches": 1,
}  # fmt: skip
_PACKAGE: Final = 48
"""Classes that have to do with each other; work grows with the number of packages."""
_METHODS: Final = 4
"""Methods that a class declares."""
_VARIABLES: Final = 10
"""Variables of a method: the receiver, two parameters, and locals."""


def _program(classes: int, near: int, seed: int) -> Instance:
    if classes < 4 or near < 1:
        raise BenchmarkMistake("doop wants four classes or more, and types that are at least one away")
    rows: dict[str, list[tuple[int, ...]]] = {name: [] for name in _COLUMNS}
    _Maker(np.random.default_rng(seed), classes, near, rows).make()
    return Instance(
        RULES,
        {
            name: pa.table(
                {
                    f"a{at}": pa.array(column, pa.int64())
                    for at, column in enumerate(np.array(sorted(set(found)), np.int64).reshape(-1, _COLUMNS[name]).T)
                }
            )
            for name, found in rows.items()
        },
    )


class _Maker:
    """Draws a program; kinds of things are numbered apart, since numbers of different kinds never meet."""

    def __init__(
        self, random: np.random.Generator, classes: int, near: int, rows: dict[str, list[tuple[int, ...]]]
    ) -> None:
        self._random = random
        self._classes = classes
        self._near = near
        self._rows = rows
        self._calls = self._heaps = 0
        # Signatures are shared by classes that are near each other, so that a call has several targets.
        self._signatures = [
            [(kind // 8) * _METHODS * 2 + self._below(_METHODS * 2) for _ in range(_METHODS)] for kind in range(classes)
        ]

    def make(self) -> None:
        for kind in range(self._classes):
            self._rows["type"].append((kind,))
            if kind % _PACKAGE:
                self._rows["extends"].append((kind, kind - 1 - self._below(min(kind % _PACKAGE, 6))))
            for number in range(_METHODS):
                method = kind * _METHODS + number
                self._rows["declares"].append((kind, self._signatures[kind][number], method))
                self._method(kind, method)
        self._rows["main"] += [(kind * _METHODS,) for kind in range(0, self._classes, 16)]

    def _method(self, kind: int, method: int) -> None:
        first = method * _VARIABLES
        this, one, two = first, first + 1, first + 2
        self._rows["thisOf"].append((method, this))
        self._rows["formal"] += [(method, 0, one), (method, 1, two)]
        for to in (first + 3, first + 4):
            self._alloc(to, kind, method)
        draw = self._variable
        add = self._rows
        for _ in range(3):
            add["move"].append((draw(first, 3), draw(first), method))
        field = kind * 2 + self._below(2)
        add["store"].append((this, field, draw(first), method))
        add["load"].append((draw(first, 3), this, field, method))
        add["store"].append((draw(first), self._close(kind) * 2, draw(first), method))
        add["load"].append((draw(first, 3), draw(first), field, method))
        if self._chance(0.3):
            add["cast"].append((draw(first, 3), draw(first), kind, method))
        if self._chance(0.2):
            add["storeArray"].append((draw(first), draw(first), method))
            add["loadArray"].append((draw(first, 3), draw(first), method))
        if self._chance(0.1):
            add["storeStatic"].append((kind, draw(first), method))
            add["loadStatic"].append((draw(first, 3), self._close(kind), method))
        for _ in range(2):
            self._call(first, kind, method)
        add["returns"].append((method, draw(first)))
        if self._chance(0.1):
            add["throws"].append((method, draw(first)))
        if self._chance(0.3):
            add["caught"].append((method, self._close(kind), draw(first, 3)))
            add["catches"].append((method,))

    def _call(self, first: int, kind: int, method: int) -> None:
        call, self._calls = self._calls, self._calls + 1
        if self._chance(0.75):
            signature = self._signatures[self._close(kind)][self._below(_METHODS)]
            self._rows["virtual"].append((call, first + (0, 3, 4)[self._below(3)], signature, method))
        else:
            target = self._close(kind) * _METHODS + self._below(_METHODS)
            self._rows["direct"].append((call, target, method))
        self._rows["actual"] += [(call, 0, self._variable(first)), (call, 1, self._variable(first))]
        self._rows["result"].append((call, self._variable(first, 3)))

    def _alloc(self, to: int, kind: int, method: int) -> None:
        heap, self._heaps = self._heaps, self._heaps + 1
        self._rows["alloc"].append((to, heap, method))
        self._rows["heapType"].append((heap, self._close(kind)))

    def _close(self, kind: int) -> int:
        """A type near another, in the same package."""
        first = kind - kind % _PACKAGE
        last = min(first + _PACKAGE, self._classes) - 1
        return int(np.clip(kind + self._below(2 * self._near + 1) - self._near, first, last))

    def _variable(self, first: int, least: int = 0) -> int:
        return first + least + self._below(_VARIABLES - least)

    def _below(self, bound: int) -> int:
        return int(self._random.integers(bound))

    def _chance(self, of: float) -> bool:
        return bool(self._random.random() < of)


DOOP: Final = Workload(
    "doop",
    "what variables of Java programs point to, without contexts",
    {"classes": 400, "near": 4, "seed": 1},
    _program,
)
