"""One workload in a folder, as files that any system's process can read.

`job.json` describes it, with the program in each language; `native/` holds Everlog's Arrow tables, `relations/` the
peers' relations in the forms that were asked for. Whoever prepares writes once, every run only reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from benchmarks.workload import Parameters

Form: TypeAlias = Literal["native", "arrow", "csv", "lp"]


@dataclass(frozen=True)
class RelationFile:
    """A relation as `relational.Relation` has it, without its facts."""

    name: str
    arity: int
    predicate: str
    derived: bool
    rows: int


@dataclass(frozen=True)
class Job:
    folder: Path
    workload: str
    parameters: Parameters
    program: str
    facts: Mapping[str, int]
    """How many explicit facts each predicate has."""
    results: tuple[str, ...]
    """The predicates that rules derive."""
    relations: tuple[RelationFile, ...]
    texts: Mapping[str, str]
    """The program in each peer's language."""
    refusals: Mapping[str, str]
    """Why a peer cannot be given the program."""

    def relation_file(self, relation: RelationFile, form: Form) -> Path:
        return self.folder / "relations" / f"{relation.name}.{form}"

    def native_file(self, predicate: str) -> Path:
        return self.folder / "native" / f"{predicate}.arrow"

    def by_predicate(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Facts per result predicate, from those of the derived relations; the others have what they were given."""
        totals = dict.fromkeys(self.results, 0)
        for relation in self.relations:
            if relation.predicate in totals:
                totals[relation.predicate] += counts[relation.name] if relation.derived else relation.rows
        return totals

    def save(self) -> None:
        content = {key: value for key, value in asdict(self).items() if key != "folder"}
        (self.folder / "job.json").write_text(json.dumps(content), encoding="utf-8")


def open_job(folder: Path) -> Job:
    content = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    content["results"] = tuple(content["results"])
    content["relations"] = tuple(RelationFile(**relation) for relation in content["relations"])
    return Job(folder=folder, **content)
