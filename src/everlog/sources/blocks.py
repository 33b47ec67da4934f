"""Facts on their way out of Spark's tasks, a block at a time: numbers, and the terms that they stand for.

A task gives every distinct term of a block once, and each fact as places among these terms. So the texts of facts, which
are most of what there is to move, cross from task to Spark, and from Spark to whoever encodes them, only once for each
block they occur in. A row of a DataFrame is a block, or some problems: `SCHEMA` has the columns.

Where tasks run on the machine of whoever asks, a task writes its blocks and problems to files of a folder, and a row says
which (`filed`): then they do not cross to Spark at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.datalog.values import RDF_TYPE
from everlog.rdf.owl.axiom_triples import AXIOM_PROPERTIES, AXIOM_TYPES
from everlog.sources.null_policy import LEFT_OUT
from everlog.sources.parsed_rows import Given
from everlog.sources.problems import OPEN_QUOTE, Problem, problems_from_json, problems_to_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SOURCE: Final = "source"
BLOCK: Final = "block"
"""The number of a block, where blocks are numbered."""

FILE: Final = "file"
"""The file of problems."""

COUNTS: Final = ("facts", "in_graphs", "axioms", "terms", "characters", "problems", "open_quotes", "left_out")
"""What a row counts: facts; of RDF those in named graphs, and those of axioms; distinct terms and their bytes; problems,
quotes among them that do not end, and rows that were left out for a null."""

PROBLEM: Final = "problem"
FILED: Final = "filed"
"""Where the content of a row is, or its problems, if they are in files."""

CONTENT: Final = ("numbers", "texts", FILED)
SCHEMA: Final = ", ".join(
    [
        f"{SOURCE} int",
        f"{FILE} string",
        *(f"{name} bigint" for name in COUNTS),
        "numbers binary",
        "texts binary",
        f"{FILED} string",
        f"{PROBLEM} string",
    ]
)
GRAPH: Final = 3
"""The column of RDF that has graphs; facts of the default graph have no number there."""

_NUMBERS, _TEXTS, _PROBLEMS = ".numbers", ".texts", ".problems"
_LARGE: Final = 1 << 25
_FACTS: Final = 50_000

Numbers: TypeAlias = NDArray[np.int32]
Task: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[Given]]


@dataclass(frozen=True)
class Block:
    """Facts: a row of numbers for each column, which are places among texts, or -1 where there is nothing."""

    numbers: Numbers
    texts: pa.Array

    @property
    def facts(self) -> int:
        return int(self.numbers.shape[1])

    @staticmethod
    def of(columns: Sequence[pa.Array]) -> Block:
        """Columns of texts, which may come with dictionaries. Facts without arguments come as a column of true."""
        if pa.types.is_boolean(columns[0].type):
            return Block(np.empty((0, len(columns[0])), np.int32), pa.array([], pa.string()))
        if not any(isinstance(column, pa.DictionaryArray) for column in columns):
            joint = pa.concat_arrays(columns).dictionary_encode()
            return Block(joint.indices.fill_null(-1).to_numpy().reshape(len(columns), -1), joint.dictionary)
        blocks = [_one_column(column) for column in columns]
        if len({_place(block.texts) for block in blocks}) == 1:
            return Block(np.concatenate([block.numbers for block in blocks]), blocks[0].texts)
        return _unified([block.compact() for block in blocks])

    def compact(self) -> Block:
        """The same facts without texts that none of them has."""
        used = np.zeros(len(self.texts), np.bool_)
        used[self.numbers[self.numbers >= 0]] = True
        if used.all():
            return self
        places = np.cumsum(used, dtype=np.int32) - 1
        return Block(_moved(self.numbers, places), self.texts.filter(pa.array(used)))

    def where(self, rows: NDArray[np.bool_], width: int) -> Block:
        """Some of the facts, and of their columns the first ones."""
        return Block(self.numbers[:width, rows], self.texts)

    def columns(self) -> Iterator[list[pa.Array]]:
        """The texts of the facts, column by column, some facts at a time."""
        for first in range(0, self.facts, _FACTS):
            numbers = self.numbers[:, first : first + _FACTS]
            if not len(numbers):
                yield [pa.array([True] * numbers.shape[1], pa.bool_())]
            else:
                yield [self.texts.take(pa.array(column, mask=column < 0)) for column in numbers]


def _one_column(column: pa.Array) -> Block:
    encoded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    numbers = encoded.indices.fill_null(-1).to_numpy().astype(np.int32, copy=False)
    return Block(numbers.reshape(1, -1), encoded.dictionary)


def _place(texts: pa.Array) -> tuple[int, ...]:
    """The same for arrays that are one in memory."""
    return len(texts), texts.offset, *(0 if buffer is None else buffer.address for buffer in texts.buffers())


def _unified(blocks: Sequence[Block]) -> Block:
    """The columns of some blocks beside each other, whose texts are those of all."""
    joint = pa.concat_arrays([block.texts for block in blocks]).dictionary_encode()
    places, begin, numbers = joint.indices.to_numpy(), 0, []
    for block in blocks:
        numbers.append(_moved(block.numbers, places[begin : begin + len(block.texts)]))
        begin += len(block.texts)
    return Block(np.concatenate(numbers), joint.dictionary)


def _moved(numbers: Numbers, places: Numbers) -> Numbers:
    """Numbers for which others stand now; those of nothing stay."""
    if not len(places):
        return numbers
    found: Numbers = places[numbers]
    found[numbers < 0] = -1
    return found


@dataclass(frozen=True)
class InBlocks:
    """The task of a task: what it gives, in rows of `SCHEMA`, with their content in a `folder` if there is one."""

    task: Task
    folder: str | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting: dict[int, list[Sequence[pa.Array]]] = {}
        size = 0
        for given in self.task(batches):
            if given.problems:
                yield self._problems(given.source, given.problems)
            if not given.columns or not len(given.columns[0]):
                continue
            if any(isinstance(column, pa.DictionaryArray) for column in given.columns):
                yield self._row(given.source, Block.of(given.columns))
                continue
            waiting.setdefault(given.source, []).append(given.columns)
            size += sum(column.nbytes for column in given.columns)
            if size > _LARGE:
                yield from self._joined(waiting)
                waiting, size = {}, 0
        yield from self._joined(waiting)

    def _joined(self, waiting: dict[int, list[Sequence[pa.Array]]]) -> Iterator[pa.RecordBatch]:
        for source, pieces in waiting.items():
            yield self._row(source, Block.of([pa.concat_arrays(column) for column in zip(*pieces, strict=True)]))

    def _row(self, source: int, block: Block) -> pa.RecordBatch:
        in_graphs = np.count_nonzero(block.numbers[GRAPH] >= 0) if len(block.numbers) > GRAPH else 0
        counts = [block.facts, in_graphs, _axioms(block), len(block.texts), block.texts.nbytes, 0, 0, 0]
        if (place := self._place()) is not None:
            block.numbers.tofile(place + _NUMBERS)
            with pa.OSFile(place + _TEXTS, "wb") as file:
                _write_texts(file, block.texts)
            return _batch(source, None, counts, place)
        sink = pa.BufferOutputStream()
        _write_texts(sink, block.texts)
        return _batch(source, None, counts, place, [block.numbers.tobytes(), sink.getvalue().to_pybytes()])

    def _problems(self, source: int, given: Sequence[Problem]) -> pa.RecordBatch:
        problems = [problem for problem in given if problem.reason != LEFT_OUT]
        open_quotes = sum(problem.reason == OPEN_QUOTE for problem in problems)
        counts = [0, 0, 0, 0, 0, len(problems), open_quotes, len(given) - len(problems)]
        if not problems:
            return _batch(source, given[0].file, counts)
        text = problems_to_json(problems)
        if (place := self._place()) is not None:
            Path(place + _PROBLEMS).write_text(text, encoding="utf-8")
        return _batch(source, given[0].file, counts, place, problem=text if place is None else None)

    def _place(self) -> str | None:
        """Where the next files go; tasks that are run again have others."""
        return None if self.folder is None else f"{self.folder}/{uuid4().hex}"


def _write_texts(sink: pa.NativeFile, texts: pa.Array) -> None:
    table = pa.table({"text": texts})
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)


def _axioms(block: Block) -> int:
    """How many triples are, or begin, axioms of an ontology."""
    if len(block.numbers) <= GRAPH:
        return 0
    properties, types = (
        pc.is_in(block.texts, pa.array([f"<{iri}>" for iri in sorted(iris)])).to_numpy(zero_copy_only=False)
        for iris in (AXIOM_PROPERTIES, AXIOM_TYPES)
    )
    is_type = pc.equal(block.texts, str(RDF_TYPE)).to_numpy(zero_copy_only=False)
    verbs, objects = block.numbers[1], block.numbers[2]
    return int(np.count_nonzero(properties[verbs] | (is_type[verbs] & types[objects])))


def _batch(
    source: int,
    file: str | None,
    counts: Sequence[int],
    filed: str | None = None,
    content: Sequence[bytes | None] = (None, None),
    problem: str | None = None,
) -> pa.RecordBatch:
    columns = {
        SOURCE: pa.array([source], pa.int32()),
        FILE: pa.array([file], pa.string()),
        **{name: pa.array([count], pa.int64()) for name, count in zip(COUNTS, counts, strict=True)},
        **{name: pa.array([one], pa.binary()) for name, one in zip(("numbers", "texts"), content, strict=True)},
        FILED: pa.array([filed], pa.string()),
        PROBLEM: pa.array([problem], pa.string()),
    }
    return pa.RecordBatch.from_pydict(columns)


def block_in(row: Any) -> Block:
    """The block of a row of `SCHEMA`."""
    facts: int = row["facts"]
    if row[FILED] is None:
        numbers = np.frombuffer(row["numbers"], np.int32)
    else:
        numbers = np.fromfile(row[FILED] + _NUMBERS, np.int32)
    return Block(numbers.reshape(numbers.size // facts, facts), _texts_in(row))


def _texts_in(row: Any) -> pa.Array:
    content = row["texts"] if row[FILED] is None else pa.memory_map(row[FILED] + _TEXTS)
    return pa.ipc.open_stream(content).read_all().column("text").combine_chunks()


def problems_in(row: Any) -> Iterator[Problem]:
    """The problems of a row of `SCHEMA`."""
    if row[PROBLEM] is not None:
        yield from problems_from_json(row[PROBLEM])
    elif row["problems"]:
        yield from problems_from_json(Path(row[FILED] + _PROBLEMS).read_text(encoding="utf-8"))


def chosen(block: Block, width: int, in_graphs: bool | None) -> Block:
    """The facts of a block of RDF that are in named graphs, or those that are not; of other blocks all."""
    return block if in_graphs is None else block.where((block.numbers[GRAPH] >= 0) == in_graphs, width)


# In Spark


@dataclass(frozen=True)
class Part:
    """The facts of a predicate that are in the blocks of a table: of RDF those in named graphs, or the others."""

    predicate: str
    source: int
    width: int
    in_graphs: bool | None = None


def terms_of_blocks(blocks: DataFrame) -> DataFrame:
    """The terms of numbered blocks: `block`, `place` and `text`."""
    return blocks.select(BLOCK, "texts", FILED).mapInArrow(_terms, f"{BLOCK} bigint, place int, text string")


def _terms(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            texts = _texts_in(row)
            numbers = pa.repeat(pa.scalar(row[BLOCK], pa.int64()), len(texts))
            places = pa.array(np.arange(len(texts), dtype=np.int32))
            yield pa.RecordBatch.from_arrays([numbers, places, texts], names=[BLOCK, "place", "text"])


def facts_of_blocks(blocks: DataFrame, parts: Sequence[Part], number: str) -> DataFrame:
    """The facts of blocks in id form: the place of their predicate in a column `number`, and `a0`, `a1`, …

    The blocks have a column `ids`, with the id of each of their terms or null; facts with a null are left out.
    """
    width = max((part.width for part in parts), default=0)
    schema = ", ".join([f"{number} int", *(f"a{place} bigint" for place in range(width))])
    return blocks.select(SOURCE, "facts", *CONTENT, "ids").mapInArrow(_Facts(tuple(parts), width, number), schema)


@dataclass(frozen=True)
class _Facts:
    """The task: blocks with ids become facts."""

    parts: tuple[Part, ...]
    width: int
    number: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        predicates = list(dict.fromkeys(part.predicate for part in self.parts))
        for batch in batches:
            for at, row in enumerate(batch.select([SOURCE, "facts", *CONTENT]).to_pylist()):
                ids = batch.column("ids")[at].values
                known = np.empty(0, np.int64) if ids is None else ids.fill_null(-1).to_numpy(zero_copy_only=False)
                block = block_in(row)
                for part in (part for part in self.parts if part.source == row[SOURCE]):
                    yield from self._rows(
                        chosen(block, part.width, part.in_graphs), known, predicates.index(part.predicate)
                    )

    def _rows(self, block: Block, ids: NDArray[np.int64], predicate: int) -> Iterator[pa.RecordBatch]:
        columns = ids[block.numbers] if len(block.numbers) else block.numbers[:, :1].astype(np.int64)
        columns = columns[:, (columns >= 0).all(axis=0)]
        for first in range(0, columns.shape[1], _FACTS):
            piece = columns[:, first : first + _FACTS]
            size = piece.shape[1]
            arrays = [pa.repeat(pa.scalar(predicate, pa.int32()), size), *map(pa.array, piece)]
            arrays += [pa.nulls(size, pa.int64())] * (self.width - len(piece))
            yield pa.RecordBatch.from_arrays(arrays, names=[self.number, *(f"a{n}" for n in range(self.width))])
