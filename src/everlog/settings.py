"""How a program is evaluated: the options of a knowledge base that reach down to the algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Settings:
    """`algorithm` is the one that updates use, and the reason for what is kept between them.

    Counting meets every rule instance, which modules and decompositions exist to avoid: it switches them off.
    """

    stratification: Literal["levels", "single"] = "levels"
    algorithm: str = "auto"
    modules: Literal["auto", "off"] = "auto"
    hypertree: Literal["auto", "cyclic", "off", "all"] = "auto"
    equality: Literal["off", "rewrite", "axioms"] = "off"

    @property
    def modular(self) -> bool:
        return self.modules != "off" and self.algorithm != "counting"

    @property
    def decomposed(self) -> bool:
        return self.hypertree != "off" and self.algorithm != "counting"
