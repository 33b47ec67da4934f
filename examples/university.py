"""Materialises a small university, changes it, and asks it questions: what Everlog is for, in one file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

import everlog

U = "http://example.org/university#"
DATA = "http://example.org/data/"


def triples(departments: int, seed: int = 1) -> pa.Table:
    """Departments with staff, students and courses, as text in N-Triples form."""
    random = np.random.default_rng(seed)
    rows: list[tuple[str, str, str]] = []

    def add(subject: str, predicate: str, value: str) -> None:
        rows.append((f"<{DATA}{subject}>", f"<{U}{predicate}>", f"<{DATA}{value}>"))

    for d in range(departments):
        department = f"dept{d}"
        add(department, "partOf", f"faculty{d % 5}")
        add(f"faculty{d % 5}", "partOf", "university")
        for p in range(10):
            add(f"{department}/prof{p}", "memberOf", department)
            add(f"{department}/prof{p}", "teaches", f"{department}/course{p}")
        for s in range(120):
            student = f"{department}/student{s}"
            add(student, "memberOf", department)
            for course in random.choice(10, size=2, replace=False):
                add(student, "takes", f"{department}/course{course}")
            if s % 3 == 0:
                add(student, "advisor", f"{department}/prof{s % 10}")
    marked = pa.schema([pa.field(f"a{i}", pa.string(), metadata={"everlog": "ntriples"}) for i in range(3)])
    return pa.table([pa.array(column) for column in zip(*rows, strict=True)], schema=marked)


def show(title: str, report: everlog.Report) -> None:
    print(
        f"{title:<32} {report.facts['explicit']:>9,} explicit {report.facts['total']:>10,} facts "
        f"{sum(report.derivations.values()):>11,} derivations {report.seconds['reasoning']:>7.3f} s"
    )


def main() -> None:
    program = everlog.parse_program((Path(__file__).parent / "university.dlog").read_text(), "university.dlog")
    kb = everlog.KnowledgeBase(program)
    kb.add({"triple": triples(departments=100)})
    show("materialised", kb.materialise())

    who = f"<{DATA}dept0/student1>"
    print("  takes:        ", *(course.value for (course,) in kb.query(f"[{who}, u:takes, ?c]")))
    print("  member of:    ", *(place.value for (place,) in kb.query(f"[{who}, u:memberOf, ?where]")))
    print("  unsupervised: ", f"{len(kb.query('[?x, u:unsupervised, _]')):,} students")

    found = everlog.parse_program(f"@prefix u: <{U}> . [{who}, u:advisor, <{DATA}dept0/prof1>] .").facts
    gained = [tuple(term.value for term in fact.terms) for fact in found]
    show("one student found an advisor", kb.update(add={"triple": gained}))
    print("  unsupervised: ", f"{len(kb.query('[?x, u:unsupervised, _]')):,} students")


if __name__ == "__main__":
    main()
