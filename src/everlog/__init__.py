"""Everlog: Datalog whose materialisation stays fresh.

>>> program = parse_program("reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")
>>> kb = KnowledgeBase(program)
>>> kb.add({"edge": [("a", "b"), ("b", "c")]})
>>> report = kb.materialise()
>>> sorted(kb.rows("reach"))
[('a', 'b'), ('a', 'c'), ('b', 'c')]
"""

from typing import TYPE_CHECKING, Any, Final

from everlog.datalog.program_union import union
from everlog.datalog.reader import parse_program
from everlog.errors import EverlogError
from everlog.knowledge.answer_rows import Answers
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.refusals import ConstraintsViolated
from everlog.knowledge.report import Report
from everlog.knowledge.stores import open_store
from everlog.knowledge.version_changes import diff
from everlog.streaming.change_streams import changes, register
from everlog.streaming.stream import Stream, stream
from everlog.streaming.stream_sources import Source

if TYPE_CHECKING:
    from everlog.explaining.explanation import Explanation
    from everlog.knowledge.ontology import Ontology, ontology
    from everlog.knowledge.validation import shapes

__all__ = [
    "Answers",
    "ConstraintsViolated",
    "EverlogError",
    "Explanation",
    "KnowledgeBase",
    "Ontology",
    "Report",
    "Source",
    "Stream",
    "changes",
    "diff",
    "ontology",
    "parse_program",
    "register",
    "shapes",
    "stream",
    "union",
]

open = open_store
"""`everlog.open`; among the names above it would hide Python's own from whoever imports them all."""


_WHEN_ASKED_FOR: Final = {
    "Explanation": "everlog.explaining.explanation",
    "Ontology": "everlog.knowledge.ontology",
    "ontology": "everlog.knowledge.ontology",
    "shapes": "everlog.knowledge.validation",
}
"""Names that bring rooms with them which reasoning does without."""


def __getattr__(name: str) -> Any:
    """What is looked up when somebody asks: explanations, ontologies, shapes, and `everlog.__version__`."""
    if name in _WHEN_ASKED_FOR:
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_WHEN_ASKED_FOR[name]), name)
        return found
    if name != "__version__":
        raise AttributeError(f"module 'everlog' has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("everlog")
    except PackageNotFoundError:
        return "(source tree, not installed)"
