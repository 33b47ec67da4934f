"""Random graphs, and random SPARQL queries about them that say the same whatever is left open by the standard.

Left out is what systems answer differently and may: the order of solutions, LIMIT without a total order, SAMPLE, REDUCED.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from pyoxigraph import BlankNode, Literal, NamedNode, Quad

EX = "http://example.org/"
PROLOGUE = f"PREFIX : <{EX}>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
_VERBS = [":p", ":q", ":r"]
_NODES = [":a", ":b", ":c", ":d", ":missing"]
_LITERALS = ["1", "2", "1.5", '"x"', '"y"@en']
_VARIABLES = ["?v", "?w", "?x", "?y", "?z"]


def graph(seed: random.Random, named: bool) -> list[Quad]:
    """Some triples, and some of named graphs."""

    def node() -> NamedNode | BlankNode:
        return BlankNode(seed.choice("mn")) if seed.random() < 0.1 else NamedNode(EX + seed.choice("abcd"))

    def term() -> NamedNode | BlankNode | Literal:
        if seed.random() < 0.6:
            return node()
        kinds = [Literal(1), Literal(2), Literal("x"), Literal("y", language="en")]
        kinds.append(Literal("1.5", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#decimal")))
        return seed.choice(kinds)

    def quad(*graph: NamedNode) -> Quad:
        return Quad(node(), NamedNode(EX + seed.choice("pqr")), term(), *graph)

    found = [quad() for _ in range(seed.randint(4, 24))]
    if named:
        found += [quad(NamedNode(EX + seed.choice("gh"))) for _ in range(seed.randint(2, 14))]
    return found


class Queries:
    """Makes queries; `named` says that there are named graphs."""

    def __init__(self, seed: random.Random, named: bool) -> None:
        self._seed, self._named = seed, named
        self._fresh = 0

    def query(self) -> str:
        seed = self._seed
        dataset = ""
        if self._named and seed.random() < 0.15:
            dataset = "".join(f" FROM {name}" for name in seed.sample([":g", ":h"], seed.randint(0, 2)))
            dataset += "".join(f" FROM NAMED {name}" for name in seed.sample([":g", ":h"], seed.randint(0, 2)))
        form = seed.random()
        if form < 0.08:
            return f"{PROLOGUE}ASK{dataset} {self._group(2)}"
        if form < 0.16:
            template = " . ".join(self._triple(_VARIABLES) for _ in range(seed.randint(1, 2)))
            return f"{PROLOGUE}CONSTRUCT {{ {template} }}{dataset} WHERE {self._group(2)}"
        return PROLOGUE + self._select(3, dataset)

    def _select(self, depth: int, dataset: str = "") -> str:
        seed = self._seed
        distinct = "DISTINCT " if seed.random() < 0.25 else ""
        where = self._group(depth)
        if seed.random() < 0.25:
            return f"SELECT {distinct}{self._aggregated(where, dataset)}"
        chosen = " ".join(seed.sample(_VARIABLES, seed.randint(1, 4)))
        if seed.random() < 0.2:
            self._fresh += 1
            chosen += f" ({self._expression(1)} AS ?n{self._fresh})"
        values = f" {self._values()}" if seed.random() < 0.1 else ""
        return f"SELECT {distinct}{chosen if seed.random() < 0.9 else '*'}{dataset} WHERE {where}{values}"

    def _aggregated(self, where: str, dataset: str) -> str:
        seed = self._seed
        keys = seed.sample(_VARIABLES, seed.randint(0, 2))
        parts = []
        for _ in range(seed.randint(1, 2)):
            self._fresh += 1
            function = seed.choice(["COUNT", "SUM", "MIN", "MAX", "AVG", "COUNT"])
            distinct = seed.choice(["", "DISTINCT "])
            argument = "*" if function == "COUNT" and seed.random() < 0.3 else seed.choice(_VARIABLES)
            parts.append(f"({function}({distinct}{argument}) AS ?n{self._fresh})")
        groups = f" GROUP BY {' '.join(keys)}" if keys else ""
        having = f" HAVING (COUNT(*) > {seed.randint(0, 2)})" if seed.random() < 0.3 else ""
        return f"{' '.join(keys)} {' '.join(parts)}{dataset} WHERE {where}{groups}{having}"

    # ------------------------------------------------------------------------------------ patterns

    def _group(self, depth: int) -> str:
        seed = self._seed
        parts = [self._triples()] if seed.random() < 0.85 else []
        for _ in range(seed.randint(0, 2) if depth else 0):
            parts.append(self._part(depth - 1))
        if seed.random() < 0.3:
            parts.append(self._filter(depth - 1))
        return "{ " + " ".join(parts) + " }"

    def _part(self, depth: int) -> str:
        seed = self._seed
        kind = seed.random()
        if kind < 0.22:
            return f"OPTIONAL {self._group(depth)}"
        if kind < 0.36:
            return f"{self._group(depth)} UNION {self._group(depth)}"
        if kind < 0.48:
            return f"MINUS {{ {self._triples()} {self._group(depth)} }}"
        if kind < 0.58:
            return self._values()
        if kind < 0.68:
            self._fresh += 1
            return f"BIND({self._expression(1)} AS ?n{self._fresh})"
        if kind < 0.78 and self._named:
            inner, name = self._group(depth), seed.choice([":g", ":h", "?v", "?z"])
            # Whether EXISTS inside of GRAPH ?z sees ?z, and what GRAPH inside of GRAPH means, pyoxigraph sees differently.
            return inner if "GRAPH" in inner else f"GRAPH {'?g' if name in inner else name} {inner}"
        if kind < 0.9 and depth:
            return "{ " + self._select(depth) + " }"
        return self._triples()

    def _triples(self) -> str:
        triples = [self._triple(_VARIABLES, paths=True) for _ in range(self._seed.choice([1, 1, 2, 2, 3]))]
        return " . ".join(triples) + " ."

    def _triple(self, variables: Sequence[str], paths: bool = False) -> str:
        seed = self._seed
        subject, target = seed.sample(variables, 2) if seed.random() < 0.9 else (seed.choice(variables),) * 2
        verb = seed.choice(_VERBS) if seed.random() < 0.85 else seed.choice(variables)
        if paths and seed.random() < 0.25:
            verb = self._path(2)
        # Whether no step leads from a constant to itself where the graph does not have it, pyoxigraph sees differently.
        if "*" not in verb and "?" not in verb[1:]:
            subject = subject if seed.random() < 0.85 else seed.choice(_NODES)
            target = target if seed.random() < 0.85 else seed.choice(_NODES + _LITERALS)
        return f"{subject} {verb} {target}"

    def _path(self, depth: int, repeated: bool = False) -> str:
        """A path; alternatives only where they are repeated: elsewhere pyoxigraph has a pair as often as it likes."""
        seed = self._seed
        if not depth or seed.random() < 0.2:
            return seed.choice(_VERBS)
        kind = seed.randrange(5)
        if kind == 0:
            return f"({self._path(depth - 1, repeated)}/{self._path(depth - 1, repeated)})"
        if kind == 1 and repeated:
            return f"({self._path(depth - 1, repeated)}|{self._path(depth - 1, repeated)})"
        if kind == 2:
            return f"^({self._path(depth - 1, repeated)})"
        if kind == 3 and repeated:
            return seed.choice(["!:p", "!(:p|:q)", "!^:p", "!(:p|^:q)"])
        return f"({self._path(depth, True) if not repeated else self._path(depth - 1, True)}){seed.choice('*+?')}"

    def _values(self) -> str:
        seed = self._seed
        names = seed.sample(_VARIABLES, seed.randint(1, 2))
        rows = [
            "(" + " ".join(seed.choice([*_NODES, *_LITERALS, "UNDEF"]) for _ in names) + ")"
            for _ in range(seed.randint(0, 3))
        ]
        return f"VALUES ({' '.join(names)}) {{ {' '.join(rows)} }}"

    # ------------------------------------------------------------------------------------ expressions

    def _filter(self, depth: int) -> str:
        seed = self._seed
        if depth > 0 and seed.random() < 0.4:
            return f"FILTER {seed.choice(['EXISTS', 'NOT EXISTS'])} {self._group(depth - 1)}"
        return f"FILTER({self._condition(2)})"

    def _condition(self, depth: int) -> str:
        seed = self._seed
        kind = seed.randrange(7)
        if kind == 0 and depth:
            return f"({self._condition(depth - 1)} {seed.choice(['&&', '||'])} {self._condition(depth - 1)})"
        if kind == 1 and depth:
            return f"!({self._condition(depth - 1)})"
        if kind == 2:
            return f"BOUND({seed.choice(_VARIABLES)})"
        if kind == 3:
            return f"{seed.choice(['isIRI', 'isBLANK', 'isLITERAL', 'isNUMERIC'])}({seed.choice(_VARIABLES)})"
        if kind == 4:
            nodes = ", ".join(seed.choices(_NODES, k=2))
            return f"{seed.choice(_VARIABLES)} {seed.choice(['IN', 'NOT IN'])} ({nodes})"
        if kind == 5:
            other = seed.choice(["2", "2.5", *_VARIABLES[:2]])
            return f"({seed.choice(_VARIABLES)} + 1) {seed.choice('<>')} {other}"
        return f"{self._expression(1)} {seed.choice(['=', '!='])} {self._expression(1)}"

    def _expression(self, depth: int) -> str:
        seed = self._seed
        kind = seed.randrange(8) if depth else 0
        inner = seed.choice(_VARIABLES)
        if kind == 1:
            return f"({inner} + {seed.choice(['1', '2', '0.5'])})"
        if kind == 2:
            return f"STR({inner})"
        if kind == 3:
            return f"COALESCE({inner}, {seed.choice(_VARIABLES)}, 1)"
        if kind == 4:
            return f"IF({self._condition(0)}, {inner}, {seed.choice(_LITERALS[:3])})"
        if kind == 5:
            return f"DATATYPE({inner})"
        return seed.choice([*_VARIABLES, *_VARIABLES, *_LITERALS[:5], *_NODES[:2]])
