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
from everlog.pipeline.base import KnowledgeBase
from everlog.pipeline.base import open_store as open
from everlog.report import Report

__all__ = ["EverlogError", "KnowledgeBase", "Report", "open", "parse_program"]
