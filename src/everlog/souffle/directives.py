"""What Soufflé declares: relations, types, inputs and outputs. What else there is, is left behind as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from everlog.datalog.escapes import unescape_string
from everlog.souffle.cursor import Cursor, NotConverted

_STORAGE: Final = frozenset(
    {"brie", "btree", "btree_delete", "inline", "magic", "no_inline", "no_magic", "overridable", "provenance"}
)
"""How relations are stored and evaluated, which changes nothing about what they hold."""


@dataclass
class Declared:
    """What was declared so far."""

    attributes: dict[str, list[str]] = field(default_factory=dict)
    """The types of the relations' attributes."""
    types: dict[str, str] = field(default_factory=dict)
    """Types that are a part of another one, or another name for it."""
    inputs: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """The relations that are read, with the parameters for that."""
    outputs: list[str] = field(default_factory=list)
    equivalences: list[str] = field(default_factory=list)

    @property
    def arities(self) -> dict[str, int]:
        return {name: len(types) for name, types in self.attributes.items()}

    def is_float(self, relation: str, place: int) -> bool:
        """Whether an attribute is declared to be a float."""
        types = self.attributes.get(relation, [])
        found, seen = types[place] if place < len(types) else "", set[str]()
        while found in self.types and found not in seen:
            seen.add(found)
            found = self.types[found]
        return found == "float"


class DirectiveReader:
    """Reads one directive at a cursor, to its end, and notes what it declares."""

    def __init__(self, cursor: Cursor, declared: Declared) -> None:
        self._cursor, self._declared = cursor, declared

    def read(self) -> None:
        """Raises `NotConverted` after a directive that has no counterpart and does matter."""
        directive = self._cursor.take()
        kind = directive.text[1:]
        if kind == "decl":
            self._relations()
        elif kind == "type":
            self._type()
        elif kind in ("input", "output", "printsize", "limitsize"):
            self._inputs_or_outputs(kind)
            if kind == "limitsize":
                raise NotConverted(directive, "a limit for the size of a relation")
        elif kind in ("number_type", "symbol_type"):
            self._declared.types[self._cursor.name("the name of a type").text] = kind.removesuffix("_type")
        elif kind == "plan":
            self._plan()
        elif kind == "pragma":
            while self._cursor.token.kind == "string":
                self._cursor.take()
        elif kind != "once":
            self._other(kind)
            raise NotConverted(directive, _OTHERS[kind])

    # Relations

    def _relations(self) -> None:
        cursor = self._cursor
        names = [cursor.name("the name of a relation")]
        while cursor.skip(","):
            names.append(cursor.name("the name of a relation"))
        types = self._attributes()
        for name in names:
            self._declared.attributes[name.text] = types
        while cursor.token.kind == "name" and cursor.following.text != "(":
            qualifier = cursor.token
            if qualifier.text in _STORAGE:
                cursor.take()
            elif qualifier.text in ("input", "output", "printsize"):
                cursor.take()
                for name in names:
                    self._note(qualifier.text, name.text, {})
            elif qualifier.text == "eqrel":
                cursor.take()
                if len(types) != 2:
                    raise cursor.mistake(qualifier, f"an equivalence relation has 2 attributes, not {len(types)}")
                self._declared.equivalences.extend(name.text for name in names)
            elif qualifier.text == "choice":
                self._choice()
                raise NotConverted(qualifier, "a choice: without it there are all facts to choose from")
            else:
                cursor.fail("a qualifier of the relation, or the next statement")

    def _attributes(self) -> list[str]:
        cursor, types = self._cursor, list[str]()
        begun = cursor.at
        cursor.expect("(")
        while not cursor.is_sign(")"):
            if types:
                cursor.expect(",")
            cursor.name("the name of an attribute")
            cursor.expect(":")
            types.append(cursor.name("the type of the attribute").text)
            cursor.qualified()
            if cursor.is_sign("<"):
                lattice, cursor.at = cursor.token, begun
                cursor.balanced()
                raise NotConverted(lattice, "a relation with a lattice")
        cursor.expect(")")
        return types

    def _choice(self) -> None:
        """`choice-domain x, (y, z)`."""
        cursor = self._cursor
        cursor.take()
        cursor.expect("-")
        cursor.name("'domain'")
        while True:
            if cursor.is_sign("("):
                cursor.balanced()
            else:
                cursor.name("an attribute")
            if not cursor.skip(","):
                return

    def _inputs_or_outputs(self, kind: str) -> None:
        cursor, inner = self._cursor, None
        while True:
            name = cursor.name("the name of a relation")
            if cursor.qualified():
                inner = name
            parameters = self._parameters() if cursor.is_sign("(") else {}
            if inner is not name:
                self._note(kind, name.text, parameters)
            if not cursor.skip(","):
                break
        if inner is not None:
            raise NotConverted(inner, "a relation of a component")

    def _note(self, kind: str, name: str, parameters: Mapping[str, str]) -> None:
        if kind == "input":
            self._declared.inputs[name] = parameters
        elif name not in self._declared.outputs:
            self._declared.outputs.append(name)

    def _parameters(self) -> dict[str, str]:
        """`(IO=file, filename="x.csv")`; what has no `=` is left out."""
        cursor, found = self._cursor, dict[str, str]()
        begin = cursor.at
        cursor.balanced()
        end, cursor.at = cursor.at, begin
        while cursor.at < end:
            key = cursor.take()
            if key.kind == "name" and cursor.skip("="):
                value = cursor.take()
                found[key.text.lower()] = unescape_string(value.text[1:-1]) if value.kind == "string" else value.text
        return found

    # Types and the rest

    def _type(self) -> None:
        cursor = self._cursor
        name = cursor.name("the name of a type")
        if cursor.skip("<:"):
            self._declared.types[name.text] = cursor.name("the name of a type").text
        elif cursor.skip("="):
            self._defined(name.text)

    def _defined(self, name: str) -> None:
        cursor = self._cursor
        if cursor.is_sign("["):
            token = cursor.token
            cursor.balanced()
            raise NotConverted(token, "a type of records")
        first = cursor.name("the name of a type")
        branches = self._branch()
        while cursor.skip("|"):
            cursor.name("the name of a type")
            branches = self._branch() or branches
        if branches:
            raise NotConverted(first, "an algebraic data type")
        self._declared.types[name] = first.text

    def _branch(self) -> bool:
        found = self._cursor.is_sign("{")
        if found:
            self._cursor.balanced()
        return found

    def _plan(self) -> None:
        """`.plan 0:(1, 2), 1:(2, 1)`."""
        cursor = self._cursor
        while cursor.token.kind == "number":
            cursor.take()
            cursor.expect(":")
            cursor.balanced()
            cursor.skip(",")

    def _other(self, kind: str) -> None:
        """Leaves a directive behind that has no counterpart."""
        cursor = self._cursor
        if kind in ("comp", "lattice"):
            while not cursor.is_sign("{"):
                if cursor.token.kind == "end":
                    cursor.fail("'{'")
                cursor.take()
            cursor.balanced()
        elif kind == "init":
            cursor.name("the name of an instance")
            cursor.expect("=")
            cursor.name("the name of a component")
            self._angles()
        elif kind == "functor":
            cursor.name("the name of a functor")
            cursor.balanced()
            cursor.expect(":")
            cursor.name("a type")
            if cursor.token.text == "stateful":
                cursor.take()
        else:
            cursor.take()

    def _angles(self) -> None:
        if self._cursor.skip("<"):
            while not self._cursor.skip(">"):
                if self._cursor.token.kind == "end":
                    self._cursor.fail("'>'")
                self._cursor.take()


_OTHERS: Final = {
    "comp": "a component",
    "functor": "a user-defined functor",
    "include": "a file that is included; convert it, too, and give all files to `everlog run`",
    "init": "an instance of a component",
    "lattice": "a lattice",
    "override": "a relation of a component",
}
