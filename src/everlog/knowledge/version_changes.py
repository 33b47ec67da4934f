"""What differs between two versions of a store: rules, explicit facts, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from everlog.datalog.ntriples import read_term, write_term
from everlog.datalog.program_changes import rules_between
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Rule
from everlog.datalog.values import Value
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.stores import open_store
from everlog.store.version_diff import Rows, SectionDiff, section_diff
from everlog.store.versions import Store


@dataclass(frozen=True)
class VersionDiff:
    """Facts that came and went from one version to another. One that was derived and is given now is in both sections.

    So did rules.
    """

    explicit: SectionDiff
    derived: SectionDiff
    rules_added: tuple[Rule, ...] = ()
    rules_deleted: tuple[Rule, ...] = ()

    def rows(
        self, predicate: str, change: Literal["added", "deleted"], which: Literal["explicit", "derived"]
    ) -> list[tuple[Value, ...]]:
        """The facts of a predicate that came or went, as Python values."""
        section = self.explicit if which == "explicit" else self.derived
        found = (section.added if change == "added" else section.deleted).get(predicate, [])
        return [tuple(map(read_term, row)) for row in found]


def diff(path: str | Path, first: int, second: int, only: str | None = None) -> VersionDiff:
    """What differs between two versions of a store; nothing is computed, and what they share is not read.

    Where equal names are rewritten, derived facts are compared in all names, and both versions are read for that. Facts
    may be those of one predicate `only`.
    """
    before, after = Store.open(path, first), Store.open(path, second)
    explicit = section_diff(after.path, before.manifest, after.manifest, "explicit", only)
    rules = map(tuple, _rules(before.manifest.program, after.manifest.program))
    if before.is_rewritten or after.is_rewritten:
        return VersionDiff(explicit, _in_all_names(open_store(path, first), open_store(path, second)), *rules)
    return VersionDiff(explicit, section_diff(after.path, before.manifest, after.manifest, "derived", only), *rules)


def _rules(before: str, after: str) -> tuple[list[Rule], list[Rule]]:
    """The rules that came from one text of a program to another, and those that went."""
    return ([], []) if before == after else rules_between(parse_program(before), parse_program(after))


def _in_all_names(before: KnowledgeBase, after: KnowledgeBase) -> SectionDiff:
    added: dict[str, Rows] = {}
    deleted: dict[str, Rows] = {}
    for predicate in sorted({*before.predicates(), *after.predicates()}):
        old, new = (
            {tuple(map(write_term, row)) for row in kb.rows(predicate, "derived")} if predicate in kb.arities else set()
            for kb in (before, after)
        )
        added.update({predicate: sorted(new - old)} if new - old else {})
        deleted.update({predicate: sorted(old - new)} if old - new else {})
    return SectionDiff(added, deleted)
