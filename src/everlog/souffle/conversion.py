"""A Soufflé program as a program of Everlog, statement by statement, with what has no counterpart as comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from everlog.datalog.printer import print_rule
from everlog.datalog.syntax import Atom, Rule, Variable, parts
from everlog.souffle.cursor import Cursor, NotConverted
from everlog.souffle.directives import Declared, DirectiveReader
from everlog.souffle.souffle_clauses import ClauseReader
from everlog.souffle.souffle_tokens import Token, tokens_of

_MACRO: Final = "a line for the preprocessor; run the program through `cpp -P` first"


@dataclass(frozen=True)
class LeftOut:
    """Something without a counterpart, and where it stands."""

    line: int
    column: int
    what: str


@dataclass(frozen=True)
class Conversion:
    """A converted program."""

    text: str
    left_out: list[LeftOut]
    inputs: Mapping[str, Mapping[str, str]]
    """The relations that are read, with the parameters for that."""
    outputs: list[str]
    """The relations that are written, but for those of which nothing was converted."""
    differing: list[str]
    """The relations that lack a clause, or follow from one that does: their facts may be others than Soufflé's."""


@dataclass(frozen=True)
class _Piece:
    """A part of the text, from one place to another, and what becomes of it, or the same as a comment."""

    start: int
    stop: int
    text: str
    is_comment: bool = True


def convert_souffle(text: str, source: str = "<program>") -> Conversion:
    """Converts the plain part of a program; a text that is none is a `SyntaxMistake`. `source` names it in messages.

    >>> print(convert_souffle('path(x, z) :- edge(x, y), (edge(y, z) ; !edge(z, _), start(z)).').text, end="")
    path(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .
    path(?x, ?z) :- edge(?x, ?y), not edge(?z, _), start(?z) .
    """
    return _Converter(text, source).converted()


class _Converter:
    def __init__(self, text: str, source: str) -> None:
        tokens = list(tokens_of(text, source))
        self._text = text
        self._aside = [token for token in tokens if token.kind in ("comment", "macro")]
        self._cursor = Cursor([token for token in tokens if token.kind not in ("comment", "macro")], source)
        self._known = self._declarations()
        self._left_out: list[LeftOut] = []
        self._heads: set[str] = set()
        self._lacking: set[str] = set()
        self._follows: set[tuple[str, str]] = set()
        """Relations of heads with those of their bodies."""

    def converted(self) -> Conversion:
        statements = list(self._statements())
        shown = [piece for piece in statements if piece.is_comment]
        aside = (piece for piece in self._set_aside() if not any(one.start < piece.start < one.stop for one in shown))
        pieces = sorted([*aside, *statements], key=lambda piece: piece.start)
        text = "".join(self._joined(pieces))
        left_out = sorted(self._left_out, key=lambda one: (one.line, one.column))
        known = self._known
        outputs = [name for name in known.outputs if name in self._heads or name in known.inputs]
        return Conversion(text, left_out, known.inputs, outputs, self._differing())

    def _differing(self) -> list[str]:
        found = set(self._lacking)
        while more := {head for head, body in self._follows if body in found} - found:
            found |= more
        return sorted(found)

    def _declarations(self) -> Declared:
        """Reads all declarations before any clause, since they may stand in any order."""
        found, cursor = Declared(), self._cursor
        while cursor.token.kind != "end":
            if cursor.token.kind == "directive":
                with suppress(NotConverted):
                    DirectiveReader(cursor, found).read()
            else:
                cursor.to_dot()
        cursor.at = 0
        return found

    def _set_aside(self) -> Iterator[_Piece]:
        """Comments, and lines for the preprocessor."""
        for token in self._aside:
            if token.kind == "macro":
                self._note(token, _MACRO)
                yield _Piece(token.start, token.stop, _commented(token.text, f"not converted: {_MACRO}"))
            else:
                body = token.text[2:].removesuffix("*/") if token.text.startswith("/*") else token.text[2:]
                yield _Piece(token.start, token.stop, _commented(body))

    def _statements(self) -> Iterator[_Piece]:
        cursor = self._cursor
        while cursor.token.kind != "end":
            first, begun = cursor.token, cursor.at
            is_clause = first.kind != "directive"
            converted = is_clause
            try:
                lines = self._clause() if is_clause else self._directive(first)
            except NotConverted as found:
                if is_clause:
                    cursor.at = begun
                    cursor.to_dot()
                    self._lacking.add(first.text)
                self._note(found.token, found.what)
                original = self._text[first.start : cursor.before.stop]
                lines, converted = _commented(original, f"not converted: {found.what}"), False
            yield _Piece(first.start, cursor.before.stop, lines, not converted)

    def _clause(self) -> str:
        reader = ClauseReader(self._cursor, self._known.arities, self._known.is_float)
        rules = reader.rules()
        self._heads.update(rule.head.predicate for rule in rules)
        for rule in rules:
            atoms = (part for literal in rule.body for part in parts(literal) if isinstance(part, Atom))
            self._follows.update((rule.head.predicate, atom.predicate) for atom in atoms)
        return "\n".join(map(print_rule, rules))

    def _directive(self, first: Token) -> str:
        declared = Declared()
        DirectiveReader(self._cursor, declared).read()
        lines = [_commented(self._text[first.start : self._cursor.before.stop])]
        x, y, z = map(Variable, "xyz")
        for name in declared.equivalences:
            lines.append(print_rule(Rule(Atom(name, (y, x)), (Atom(name, (x, y)),))))
            lines.append(print_rule(Rule(Atom(name, (x, z)), (Atom(name, (x, y)), Atom(name, (y, z))))))
        return "\n".join(lines)

    def _note(self, token: Token, what: str) -> None:
        self._left_out.append(LeftOut(token.line, token.column, what))

    def _joined(self, pieces: list[_Piece]) -> Iterator[str]:
        """The pieces, each on a line of its own, with blank lines where there are some between them."""
        stop = 0
        for piece in pieces:
            if stop and self._text[stop : piece.start].count("\n") > 1:
                yield "\n"
            yield f"{piece.text}\n"
            stop = max(stop, piece.stop)


def _commented(text: str, before: str = "") -> str:
    """Lines as comments."""
    lines = [*([before] if before else []), *text.strip("\n").splitlines()]
    return "\n".join(f"// {line.strip() if number == 0 else line}".rstrip() for number, line in enumerate(lines))
