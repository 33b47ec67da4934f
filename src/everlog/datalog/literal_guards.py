"""The condition that a term is no literal: `FILTER(!ISLITERAL(?x))`.

In RDF a literal is never the subject of a triple. Rules that make a subject of what was a value ask for it, and planning
knows it when it sees it.
"""

from __future__ import annotations

from pyoxigraph import BlankNode, NamedNode

from everlog.datalog.syntax import BodyLiteral, Call, Computation, Variable
from everlog.datalog.values import Value


def is_literal(value: Value) -> bool:
    """Whether a value is a literal, and no name of a thing."""
    return not isinstance(value, NamedNode | BlankNode)


def no_literal(variable: Variable) -> Computation:
    """The condition that a variable stands for no literal."""
    return Computation(Call("!", (Call("ISLITERAL", (variable,)),)))


def guarded(literal: BodyLiteral) -> Variable | None:
    """The variable that must stand for no literal, if that is what a part of a body says."""
    if not isinstance(literal, Computation) or literal.result is not None:
        return None
    match literal.expression:
        case Call("!", (Call("ISLITERAL", (Variable() as variable,)),)):
            return variable
    return None
