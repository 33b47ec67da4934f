"""Everlog: Datalog whose materialisation stays fresh.

>>> program = parse_program("reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")
>>> kb = KnowledgeBase(program)
>>> kb.add({"edge": [("a", "b"), ("b", "c")]})
>>> report = kb.materialise()
>>> sorted(kb.rows("reach"))
[('a', 'b'), ('a', 'c'), ('b', 'c')]
"""

from everlog.datalog.reader import parse_program
from everlog.errors import EverlogError
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.report import Report
from everlog.knowledge.stores import open_store as open

__all__ = ["EverlogError", "KnowledgeBase", "Report", "open", "parse_program"]
