"""Table 1 of *Equality*."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.experiments.records import Record
from benchmarks.experiments.tables.table import NONE, Table, names, of, seconds, short


def equality(records: Sequence[Record]) -> list[Table]:
    """What was materialised, and what deletions took; times are shown where rewriting and rules agree."""
    chosen = of(records, experiment="equality")
    if not chosen:
        return []
    sizes, deletions = [], []
    for instance in names(chosen, "instance"):
        here = of(chosen, instance=instance)
        (point,) = of(here, part="equilibrium")
        made = {one["way"]: one for one in of(here, part="materialisation")}
        agreed = len({one["total"] for one in made.values()}) == 1
        line = [instance, short(made["rewrite"]["explicit"]), str(made["rewrite"]["rules"])]
        for way in ("rewrite", "axioms"):
            one = made.get(way)
            shown = [short(one["stored"]), seconds(one["seconds"]), short(one["derivations"])] if one else [NONE] * 3
            line += shown if agreed else ["they disagree"] * 3
        sizes.append([*line, short(point["point"])])
        paper = here[0]["paper"]
        if paper is not None:
            sizes.append([f"{paper}, in the paper", *_SIZES[paper]])
        for changed in sorted({one["changed"] for one in of(here, part="deletion")}):
            deletions.append([instance, short(changed), *_deletion(of(here, part="deletion", changed=changed), agreed)])
        if paper is not None:
            deletions += [[f"{paper}, in the paper", *row] for row in _DELETIONS[paper]]
    note = "Seconds of one thread; derivations are rule instances. Equilibrium: as many deleted facts take B/F≈ as long as "
    note += "starting again. A dash in a row of the paper: its text could not be read there."
    header = ["Deleted", "ΔI≈", "B/F≈ s", "B/F≈ D", "Remat≈ s", "Remat≈ D"]
    header += ["ΔI^A", "B/F^A s", "B/F^A D", "Remat^A s", "Remat^A D"]
    counted = (
        "D: instances by which facts become doubtful, are checked, or are derived again: lines 15, 34 and 59. Lines 11 "
    )
    counted += (
        "and 30 list the facts of a class without any instance; 12 and 27 are about c ≈ c, which is not derived here. "
    )
    counted += "A dash: rules were stopped before."
    return [
        Table(
            "Equality: materialisation",
            ["Dataset", "E", "Π", "I≈", "T≈", "D≈", "I^A", "T^A", "D^A", "Equilibrium"],
            sizes,
            note,
        ),
        Table("Equality: deletions", ["Dataset", *header], deletions, counted),
    ]


def _deletion(found: Sequence[Record], agreed: bool) -> list[str]:
    ways = {one["way"]: one for one in found}
    if not agreed or len({one["lost_total"] for one in found}) > 1 or not all(one["agrees"] for one in found):
        return ["they disagree"] * 10
    line = []
    for way in ("rewrite", "axioms"):
        one = ways.get(way)
        if one is None:
            line += [NONE] * 5
            continue
        line.append(short(one["lost"]))
        for by in ("update", "again"):
            line += [seconds(one[by]["seconds"]), short(one[by]["derivations"])]
    return line


_SIZES: Final = {"UOBM-100-L": ("24.5 M", "210", "46.4 M", "69", "79.3 M", "46.7 M", "122", "361 M", NONE)}
_DELETIONS: Final = {
    "UOBM-100-L": (
        ("100", *[NONE] * 5, "146", "4.6", "32.8 k", "94.6", "361 M"),
        ("5 k", *[NONE] * 5, "7.9 k", "7.1", "805 k", "93.1", "361 M"),
    )
}
"""Of Table 1, what our copy of the paper has legible: the columns of rules."""
