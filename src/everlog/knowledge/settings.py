"""How a program is evaluated: the options of a knowledge base that reach down to the algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from everlog.planning.modules.module_rules import KINDS


@dataclass(frozen=True)
class Settings:
    """`algorithm` is the one that updates use, and the reason for what is kept between them.

    Counting meets every rule instance, which modules and decompositions exist to avoid: it switches them off.
    """

    stratification: Literal["levels", "single"] = "levels"
    algorithm: str = "auto"
    modules: str = "auto"
    """`auto`, `off`, or the kinds of modules to be used wherever they are found, with commas between."""
    hypertree: Literal["auto", "cyclic", "off", "all"] = "auto"
    equality: Literal["off", "rewrite", "axioms"] = "off"
    checked: bool = False
    """Whether every call of a module is checked against the bounds that it has to keep, which takes long."""
    max_rounds: int | None = None
    max_facts: int | None = None
    """How many rounds a stratum, or an update, may take, and how many facts may be derived: rules can make new values."""
    constraints: Literal["warn", "fail", "strict"] = "warn"
    """Whether violations of constraints are warned of, or refuse what adds them, or anything while there are some."""

    @property
    def modular(self) -> bool:
        return self.modules != "off" and self.algorithm != "counting"

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of modules that may be used."""
        return frozenset(KINDS if self.modules == "auto" else self.modules.split(","))

    @property
    def decomposed(self) -> bool:
        return self.hypertree != "off" and self.algorithm != "counting"
