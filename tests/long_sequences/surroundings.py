"""Thresholds of the engines, moved so that a handful of facts goes the ways of millions.

Each has a name, and how often a life has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final
from warnings import catch_warnings, simplefilter

import pytest

from everlog.engine.memory import engine, tuning
from everlog.engine.memory.dictionary import MAX_VALUES, Dictionary
from everlog.engine.memory.term_kinds import FLOAT
from everlog.engine.spark import tuning as spark_tuning
from everlog.knowledge import choice
from everlog.planning.decomposition import decomposition_choice as decomposing
from everlog.reasoning import minima
from everlog.reasoning.modules import hypertree
from everlog.reasoning.modules.module import Backbone
from support.cramped import cramped

SURROUNDINGS: Final = {
    "cramped": 0.3,
    "compacts": 0.3,
    "closes": 0.25,
    "by bits": 0.2,
    "by visits": 0.1,
    "kept closed": 0.4,
    "passes over": 0.3,
    "impatient": 0.15,
    "counts soon": 0.25,
    "counts nodes": 0.2,
    "decomposes": 0.3,
    "settles anew": 0.2,
    "wonders": 0.2,
    "by jobs": 0.1,
    "in files": 0.1,
    "in halves": 0.2,
    "looks around": 0.2,
    "foresees": 0.1,
    "haunted": 0.3,
}


class _Haunted(Dictionary):
    """What is behind its last term is a signalling NaN."""

    def __init__(self, max_values: int = MAX_VALUES) -> None:
        super().__init__(max_values)
        self._kinds[:], self._payload[:] = FLOAT, 0x7FF0_0000_0000_0001


@contextmanager
def surrounded(names: tuple[str, ...]) -> Iterator[None]:
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name in names:
            if name == "cramped":  # blocks and buffers have room for two, and nothing is little
                stack.enter_context(cramped(2))
                patch.setattr(tuning, "FEW_VALUES", 0)
                patch.setattr(tuning, "COUNTED_ROWS", 0)
                patch.setattr(tuning, "LONG_RUN", 1)
                patch.setattr(spark_tuning, "MANY_TIMES", 0)
                patch.setattr(spark_tuning, "GONE_SHARE", 0)
                patch.setattr(spark_tuning, "DENSE_ROWS", 1)
                patch.setattr(spark_tuning, "DENSE_LEADS", 1)
                patch.setattr(spark_tuning, "KIND_ROWS", 1)
                patch.setattr(spark_tuning, "SHARE_ROWS", 8)
            elif name == "haunted":  # a dictionary has odd numbers where it has no terms yet
                patch.setattr(engine, "Dictionary", _Haunted)
                stack.enter_context(catch_warnings())
                simplefilter("error", RuntimeWarning)
            elif name == "compacts":  # rows of facts that are gone are left out as soon as they are the majority
                patch.setattr(tuning, "ROWS_WORTH_COMPACTING", 0)
            elif name == "closes":  # modules compute everything as a whole
                patch.setattr(Backbone, "_few", lambda self, facts: False)
            elif name == "by bits":
                patch.setattr(tuning, "VISITED_PAIRS", 0)
                patch.setattr(tuning, "VISITED_SOURCES_SHARE", 1000)
                patch.setattr(tuning, "VISIT_COST", 1e9)
            elif name == "by visits":
                patch.setattr(tuning, "GRAPH_BYTES", 0)
            elif name == "kept closed":  # closures that no rule asks about are not derived
                patch.setattr(tuning, "CLOSED_FACTS", 0)
                patch.setattr(tuning, "ASKED_CLOSED_FACTS", 0)
                patch.setattr(tuning, "CLOSED_CLIQUE_FACTS", 0)
                patch.setattr(tuning, "CLOSED_PAIR_BYTES", 1e9)
                patch.setattr(tuning, "CLOSED_AGAIN_SHARE", 1)
            elif name == "passes over":  # joins end where a head is known, and few facts go ahead of all others
                patch.setattr(tuning, "MANY_BINDINGS", 0)
                patch.setattr(tuning, "ASKED_ENDS_SHARE", 0)
                patch.setattr(tuning, "FEW_FACTS", 1)
                patch.setattr(tuning, "CHEAP_ORDER", 0)
                patch.setattr(tuning, "SOUGHT_ROW_COST", 0.0)
            elif name == "impatient":  # updates are given up
                patch.setattr(choice, "_FREE", 0)
                patch.setattr(choice, "_SECONDS", 1e-9)
                patch.setattr(choice, "_COUNTED_SECONDS", 1e-9)
                patch.setattr(choice, "_ADDING_SECONDS", 1e-9)
                patch.setattr(choice, "_WAITING_SECONDS", 1e-9)
                patch.setattr(choice, "_UNTRIED", 2)
                patch.setattr(choice, "_RULES_SECONDS", 1e-9)
                patch.setattr(choice, "_RULES_TOO_LONG", 1e-9)
                patch.setattr(choice, "_QUICK", 0.0)
                patch.setattr(choice, "_RULES_INSTANCES", 1e9)
            elif name == "foresees":  # rules with instances are not even tried
                patch.setattr(choice, "_FREE", 0)
                patch.setattr(choice, "_RULES_INSTANCES", 0.0)
            elif name == "counts soon":  # derivations are counted after the first update
                patch.setattr(choice, "_SPENT", 0.0)
            elif name == "counts nodes":  # those of the nodes of decompositions
                patch.setattr(hypertree, "_DEAR", 1e9)
            elif name == "decomposes":  # `auto` decomposes rules that join a few facts, and decides anew
                patch.setattr(decomposing, "IN_MEMORY", decomposing.Worth(cheaper=1.0, much=12.0, kept=1.5))
            elif name == "settles anew":  # best facts that are deleted are not taken away one by one
                patch.setattr(minima, "_FEW", 0)
                patch.setattr(minima, "_SHARE", 1_000)
                patch.setattr(tuning, "FEW_GROUPS", 2)
                patch.setattr(tuning, "RESETTLED_SHARE", 1_000)
                patch.setattr(tuning, "LOOKS_AT_ALL_STEPS", 0)
            elif name == "wonders":  # whether rounds of best facts are too many is looked at from the first one on
                patch.setattr(minima, "_PATIENCE", 0)
            elif name == "by jobs":  # the driver of the Spark engine takes a few facts, and looks no term up
                patch.setattr(spark_tuning, "DRIVER_FACTS", 8)
                patch.setattr(spark_tuning, "FETCHED_FACTS", 4)
                patch.setattr(spark_tuning, "BROADCAST_LOOK_UP_FACTS", 3)
                patch.setattr(spark_tuning, "SETTLED_FACTS", 6)
                patch.setattr(spark_tuning, "DRIVER_TERMS", 5)
                patch.setattr(spark_tuning, "HEAP_FACTS", 30)
            elif name == "in files":  # a handful of facts asks sets that are not on the driver, soon without a job
                patch.setattr(spark_tuning, "DRIVER_FACTS", 2)
                patch.setattr(spark_tuning, "GONE_SHARE", 1)
                patch.setattr(spark_tuning, "ASKED_BEFORE_SORTED", 0)
                patch.setattr(spark_tuning, "BROADCAST_JOIN_FACTS", 2)
                patch.setattr(spark_tuning, "SORTED_BLOCK_ROWS", 3)
                patch.setattr(spark_tuning, "REMEMBERED_ANSWERS", 3)
            elif name == "looks around":  # facts in other names are looked for, whatever the sizes of classes
                patch.setattr(tuning, "IMAGE_COST", 1e9)
            elif name == "in halves":  # bindings and terms of the Spark engine's driver come a few at a time
                patch.setattr(spark_tuning, "DRIVER_BINDINGS", 3)
                patch.setattr(spark_tuning, "TERMS_AT_A_TIME", 20)  # each is a job where the driver has none
        yield
