"""Files cut into splits give what others' parsers find in the whole file."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, parse

from everlog.sources import line_blocks
from everlog.sources.blocks import Block, InBlocks
from everlog.sources.csv_fields import csv_field, field_term
from everlog.sources.csv_lines import CsvLines
from everlog.sources.facts_lines import FactsLines
from everlog.sources.line_blocks import Lines, Split, line_count, splits_of
from everlog.sources.parsed_rows import Parsed
from everlog.sources.problems import problems_from_json
from everlog.sources.rdf_lines import RdfLines
from everlog.sources.text_lines import LineFile, LineParser, _ParseSplits

END = st.sampled_from(["\n", "\n", "\r\n", "\r"])
SIZES = st.integers(1, 60)


def rows(parsed: Parsed) -> list[tuple[str | None, ...]]:
    return [
        row for columns in Block.of(parsed[0]).columns() for row in zip(*(c.to_pylist() for c in columns), strict=True)
    ]


def read(file: Path, size: int, parser: LineParser) -> tuple[list[tuple[str | None, ...]], list[tuple[int, str]]]:
    """The facts of a file in splits of a size, and its mistakes with the numbers of their lines, from 1."""
    facts, mistakes = [], []
    for split in splits_of([str(file)], size):
        before = split.lines_before()
        for data in split.blocks():
            parsed = parser(Lines(data), "f00")
            facts += rows(parsed)
            mistakes += [(before + row + 1, reason) for row, reason in parsed[1]]
            before += line_count(data)
    return facts, sorted(mistakes)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.text("ab é", max_size=5), END), max_size=12), st.booleans(), SIZES)
def test_splits_are_the_file(tmp_path_factory, lines, last, size) -> None:  # type: ignore[no-untyped-def]
    text = "".join(line + end for line, end in lines)
    data = b"\xef\xbb\xbf" + (text if last else text.rstrip("\r\n")).encode()
    file = tmp_path_factory.mktemp("split") / "a.nt"
    file.write_bytes(data)
    blocks = [block for split in splits_of([str(file)], size) for block in split.blocks()]
    assert b"".join(blocks) == data.removeprefix(b"\xef\xbb\xbf")
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    for split in splits_of([str(file)], size):
        start = b"".join(Split(str(file), 0, split.begin).blocks()) if split.begin else b""
        assert split.lines_before() == len(start.splitlines())


TERMS = st.sampled_from(
    [
        "<http://a>",
        "<http://a/b#c>",
        "_:x",
        "_:y1",
        '"a b"',
        '"é\\n"',
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
    ]
)
LINES = st.one_of(
    st.builds("{} <http://p> {} .".format, st.sampled_from(["<http://s>", "_:x", "<http://s2>"]), TERMS),
    st.sampled_from(["", "# comment", "  <http://s>   <http://p> <http://o>. "]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(LINES, END), max_size=14), SIZES)
def test_ntriples_in_splits_are_those_of_pyoxigraph(tmp_path_factory, lines, size) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path_factory.mktemp("split") / "a.nt"
    file.write_text("".join(line + end for line, end in lines), encoding="utf-8", newline="")
    found, mistakes = read(file, size, RdfLines("nt", few=0))
    expected = parse("\n".join(line for line, _ in lines), format=RdfFormat.N_TRIPLES)
    texts = [tuple(str(term).replace("_:", "_:f00") for term in quad.triple) for quad in expected]
    assert mistakes == []
    assert sorted(row[:3] for row in found) == sorted(texts)


FIELDS = st.one_of(
    st.sampled_from(
        ["5", "-0", "007", "1.5", "-12", "a", "two words", "x-1", "1e5", "é", "<a", "a>", "9" * 30, "<http://a>"]
    ),
    st.text("ab ,;\"'\\é-0.", min_size=1, max_size=5),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(FIELDS, FIELDS, END), max_size=12), SIZES, st.booleans())
def test_csv_in_splits_is_that_of_python(tmp_path_factory, records, size, header) -> None:  # type: ignore[no-untyped-def]
    """As far as both agree on what CSV is: fields with a quote in them are quoted."""
    file = tmp_path_factory.mktemp("split") / "a.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        for *fields, end in records:
            csv.writer(out, lineterminator=end).writerow(fields)
    text = file.read_text(encoding="utf-8")
    first = text.splitlines()[0] if header and text else None
    found, mistakes = read(file, size, CsvLines(",", 2, first, few=0))
    expected = []
    for line in file.read_bytes().splitlines():
        if line.decode() == first:
            continue
        expected.append(next(csv.reader(io.StringIO(line.decode()))))
    assert mistakes == []
    assert sorted(found) == sorted(
        tuple(field_term(field, quoted) for field, quoted in zip(fields, _quoted(fields), strict=True))
        for fields in expected
    )


def _quoted(fields: list[str]) -> list[bool]:
    """Which fields Python's writer has quoted."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(fields)
    found, line = [], out.getvalue()
    for field in fields:
        whole = '"' + field.replace('"', '""') + '"'
        found.append(line.startswith(whole))
        line = line[len(whole if found[-1] else field) + 1 :]
    return found


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(FIELDS, FIELDS), max_size=12), SIZES)
def test_what_we_write_as_csv_is_read_again(tmp_path_factory, records, size) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path_factory.mktemp("split") / "a.csv"
    texts = [tuple(field_term(field, quoted=True) for field in record) for record in records]
    file.write_text("".join(",".join(map(csv_field, row)) + "\n" for row in texts), encoding="utf-8", newline="")
    found, mistakes = read(file, size, CsvLines(",", 2, few=0))
    assert (sorted(found), mistakes) == (sorted(texts), [])


MALFORMED = [b"1", b"1,2,3", b'"a"b,1', b'"open,1', b"\xff,1", b",1", b"<http://a b>,1", b'a"b,1', b"1e", b""]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([b"1,2", b"a,b", b'"x ""y""",1', *MALFORMED]), max_size=12), SIZES)
def test_a_kernel_says_of_csv_what_is_said_line_by_line(tmp_path_factory, lines, size) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path_factory.mktemp("split") / "a.csv"
    file.write_bytes(b"\n".join(lines) + b"\n")
    for parser in (CsvLines, FactsLines):
        delimiter = "," if parser is CsvLines else "\t"
        by_kernel = read(file, size, parser(delimiter, 2, few=0))
        by_line = read(file, 1 << 20, parser(delimiter, 2))
        assert sorted(by_kernel[0], key=str) == sorted(by_line[0], key=str)
        assert by_kernel[1] == by_line[1]


@pytest.mark.parametrize("width", [1, 3, 1_200])
def test_a_kernel_has_room_for_any_number_of_fields_and_of_odd_lines(tmp_path: Path, width: int) -> None:
    """Of a line, too: a wide one has more fields than there is room for in the beginning."""
    file = tmp_path / "a.csv"
    records = [[f"f{(7 * number + place) % 6_000}" for place in range(width)] for number in range(6_000 // width + 2)]
    odd = [["too", "many", *record] for record in records[:50]]
    file.write_text("".join(",".join(record) + "\n" for pair in zip(records, odd, strict=False) for record in pair))
    with file.open("a") as out:
        out.writelines(",".join(record) + "\n" for record in records[50:])
    found, mistakes = read(file, 1 << 20, CsvLines(",", width, few=0))
    assert sorted(found) == sorted(tuple(field_term(field, quoted=False) for field in record) for record in records)
    assert [line for line, _ in mistakes] == [2 * number + 2 for number in range(min(50, len(records)))]


def test_packed_files_come_in_blocks_of_whole_lines(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(line_blocks, "SPLIT", 10)
    data = b"\xef\xbb\xbf" + b"".join(b"line %d\r\n" % number for number in range(20)) + b"last"
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(data))
    (split,) = splits_of([str(tmp_path / "a.csv.gz")], 10)
    blocks = list(split.blocks())
    assert b"".join(blocks) == data[3:]
    assert len(blocks) > 5 and all(block.endswith(b"\n") for block in blocks[:-1])


FORMS = {
    "nt": (RdfLines("nt", few=0), "<http://s> <http://p> <http://o{}> .", ["<http://s> oops", "<a> <http://p> .", "é"]),
    "csv": (CsvLines(",", 2, few=0), "a,{}", ["one", "a,b,c", 'x"y,1', "<a b>,1"]),
}


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(sorted(FORMS)),
    st.lists(st.integers(-3, 5), min_size=1, max_size=14),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
    st.one_of(SIZES, st.just(1 << 20)),
)
def test_mistakes_have_their_lines_wherever_a_file_is_cut(tmp_path_factory, form, kinds, end, how, size) -> None:  # type: ignore[no-untyped-def]
    parser, good, bad = FORMS[form]
    mark, packed, last = how
    lines = [good.format(kind) if kind >= 0 else bad[kind] for kind in kinds]
    data = (b"\xef\xbb\xbf" if mark else b"") + (end.join(lines) + (end if last else "")).encode()
    file = tmp_path_factory.mktemp("cut") / (f"a.{form}.gz" if packed else f"a.{form}")
    file.write_bytes(gzip.compress(data) if packed else data)
    splits = splits_of([str(file)], size)
    task = InBlocks(_ParseSplits({str(file): [LineFile(0, parser, "f00")]}, splits))
    numbers = pa.RecordBatch.from_pydict({"id": list(range(len(splits)))})
    once, again = (list(task(iter([numbers]))) for _ in range(2))
    found = [row for batch in once for row in batch.to_pylist()]
    problems = [one for row in found if row["problem"] for one in problems_from_json(row["problem"])]
    expected = [(str(file), number, line) for number, line in enumerate(lines, start=1) if kinds[number - 1] < 0]
    assert [(one.file, one.line, one.text) for one in problems] == expected
    assert sum(row["facts"] for row in found) == len(lines) - len(expected)
    assert once == again, "a task that Spark runs again gives the same, to the last byte"
