"""Every experiment, tiny: its records, and a page whose numbers are those of the records."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.command import main
from benchmarks.experiments.equilibrium import Order, break_even
from benchmarks.experiments.experiment import EXPERIMENTS
from benchmarks.experiments.owl import digest
from benchmarks.experiments.records import Record, Results
from benchmarks.experiments.robustness import ALGORITHMS
from benchmarks.experiments.tables import tables
from benchmarks.experiments.tables.systems import exponent
from benchmarks.experiments.tables.table import NONE, Table, of, short
from benchmarks.updates import interval
from benchmarks.updates_worker import Samples
from benchmarks.walks import Walks
from benchmarks.workloads import workload
from everlog import KnowledgeBase, parse_program
from oracles import naive
from oracles.exchange import facts_of
from support.forked_modules import run_forked

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of all experiments. That they start processes is tested with others (`test_runner.py`)."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patched:
        for name in ("experiments.experiment", "experiments.equality", "experiments.owl", "runner"):
            patched.setattr(f"benchmarks.{name}.run_module", run_forked)
        assert main(["run", "all", "--scale", "tiny", "--repeat", "2", "--results", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def records(folder: Path) -> list[Record]:
    return Results(folder).read()


def table(records: Sequence[Record], title: str) -> Table:
    return next(one for one in tables(records) if one.title.startswith(title))


def test_records_say_what_they_were_measured_with(folder: Path, records: Sequence[Record]) -> None:
    assert {one["experiment"] for one in records} == {each.name for each in EXPERIMENTS} - {"cluster"}
    assert {file.stem for file in folder.glob("*.jsonl")} == {each.name for each in EXPERIMENTS}
    for one in records:
        assert one["scale"] == "tiny" and one["environment"]["machine"]["cores"] >= 1
        assert {"python", "numba", "pyspark"} <= one["environment"]["versions"].keys()


def test_the_tables_of_small_updates_show_the_records(records: Sequence[Record]) -> None:
    for way in ("deletion", "addition"):
        for sampling, words in (("uniform", "sampled uniformly"), ("walk", "sampled by random walks")):
            shown = table(records, f"Robustness, {way} of 5 facts, {words}")
            (one,) = of(records, experiment="robustness", sampling=sampling, stratification="Y", algorithm="dred")
            (row,) = (row for row in shown.rows if row[:2] == ["DAG", "Y"])
            times = one[way]["seconds"]
            assert row[list(shown.header).index("DRed s")] == f"{mean(times):.3f} ± {interval(times):.3f}"
            derivations = one[way]["derivations"]
            assert row[list(shown.header).index("DRed derivations")].startswith(f"{short(mean(derivations))} ±")
            assert [sum(each.values()) for each in one[way]["phases"]] == derivations
    # Whatever the algorithm, the facts that come and go are the same.
    for sampling in ("uniform", "walk"):
        changed = [one["deletion"]["facts"] for one in of(records, experiment="robustness", sampling=sampling)]
        assert all(facts == changed[0] for facts in changed) and changed[0]


def test_break_even_points_are_where_times_meet(records: Sequence[Record]) -> None:
    shown = table(records, "Break-even points")
    points = of(records, experiment="scalability", part="break-even")
    assert len(points) == 8
    for one in points:
        last = one["steps"][-1]
        assert one["point"] == last["size"] and 0 < one["point"] <= one["explicit"] and len(one["steps"]) <= 10
        column = list(shown.header).index(f"{ALGORITHMS[one['algorithm']]}, {one['stratification']}")
        assert shown.rows[0][column].startswith(short(one["point"]))
        for before, after in zip(one["steps"], one["steps"][1:], strict=False):
            assert (after["size"] > before["size"]) == (before["seconds"] < before["again"])
    sizes = {one["changed"] for one in of(records, experiment="scalability", part="deletion", stratification="Y")}
    assert max(sizes) == max(one["point"] for one in points if one["stratification"] == "Y")


def test_modules_are_shown_where_results_agree(records: Sequence[Record]) -> None:
    shown = table(records, "Modules: seconds")
    found = {one["system"]: one for one in of(records, experiment="modular", instance="DAG-R")}
    row = dict(zip(shown.header, shown.rows[0], strict=True))
    assert row["M-Mat"] == f"{found['M-DRed^c']['seconds']['materialisation']:.3f}"
    assert row["small deletion B/F^c"] == f"{found['B/F^c']['seconds']['small deletion']:.3f}"
    (std,) = of(records, experiment="modular", instance="Relations", system="M-DRed^c, STD")
    row = dict(zip(shown.header, next(row for row in shown.rows if row[0] == "Relations, STD"), strict=True))
    assert row["large deletion M-DRed^c"] == f"{std['seconds']['large deletion']:.3f}"
    assert std["modules"].keys() <= {"tc", "stc"}
    wrong = [
        {**one, "total": one["total"] + (one.get("system") == "DRed^c")} if "total" in one else one for one in records
    ]
    assert "they disagree" in table(wrong, "Modules: seconds").rows[0]


def test_decomposed_rules_have_times_and_memory(records: Sequence[Record]) -> None:
    shown, memory = table(records, "Decomposed rules: seconds"), table(records, "Decomposed rules: peak memory")
    assert [row[0] for row in shown.rows] == ["standard", "HD", "combined", "auto"]
    (one,) = of(records, experiment="hypertree", system="HD")
    assert shown.rows[1][list(shown.header).index("large deletion, PC")] == f"{one['seconds']['large deletion']:.3f}"
    assert memory.rows[1][1].startswith(f"{one['peak_bytes'] / 1e6:,.0f} ")


def test_equality_has_the_sizes_of_its_equilibrium(records: Sequence[Record]) -> None:
    shown = table(records, "Equality: deletions")
    (point,) = of(records, experiment="equality", part="equilibrium")
    deletions = of(records, experiment="equality", part="deletion", way="rewrite")
    sizes = [one["changed"] for one in deletions]
    assert {max(1, int(share * point["point"])) for share in (0.25, 0.5, 0.75, 1)} <= {*sizes}
    rules = of(records, experiment="equality", part="deletion", way="axioms")
    assert [one["changed"] for one in rules] == sizes and all(one["agrees"] for one in (*deletions, *rules))
    for one, other, row in zip(deletions, rules, shown.rows, strict=True):
        assert one["lost_total"] == other["lost_total"] >= one["lost"] > 0
        assert row[1] == short(one["changed"]) and row[4] == short(one["update"]["derivations"])
        assert row[10] == f"{other['again']['seconds']:.3f}"
    wrong = [{**one, "lost_total": 0} if one.get("way") == "axioms" else one for one in records]
    assert "they disagree" in table(wrong, "Equality: deletions").rows[0]


def test_the_equilibrium_of_two_known_times() -> None:
    """An update that takes its size, and starting again, which takes what is left: they meet in the middle of 1,000."""
    point, steps = break_even(1_000, lambda size: size / 3, lambda size: 1_000 - size)
    assert abs(point - 750) < 20 and len(steps) <= 10
    # One that never pays, and one that always does.
    assert break_even(1_000, lambda size: 2.0, lambda size: 1.0)[0] <= 2
    assert break_even(1_000, lambda size: 1.0, lambda size: 2.0)[0] >= 998


def test_systems_and_growth(records: Sequence[Record]) -> None:
    for one in of(records, experiment="peers"):
        assert one["status"] == "ok" and one["agrees"], one
    assert {one["system"] for one in of(records, experiment="peers", workload="parts")} == {"everlog", "reasonable"}
    row = next(row for row in table(records, "Everlog and other systems").rows if row[2] == "clingo")
    ours, theirs = (of(records, experiment="peers", system=name)[0] for name in ("everlog", "clingo"))
    if not theirs["loads_while_reasoning"]:
        assert row[6] == f"{median(theirs['seconds']) / median(ours['seconds']):.2f}"
    assert {len(one["seconds"]) for one in of(records, experiment="growth")} == {2}
    made = [{"total": size, "seconds": [size**1.5]} for size in (10, 100, 1000)]
    assert exponent(made) == pytest.approx(1.5)
    assert table(records, "How time grows").rows[-1][-1] == f"{exponent(of(records, experiment='growth')):.2f}"


def test_a_cluster_is_estimated_from_the_largest_size() -> None:
    environment = {"machine": {"cores": 2}}
    rounds = [{"round": number, "seconds": 2.0} for number in range(4)]
    made = {
        "experiment": "cluster",
        "explicit": 600_000,
        "total": 1_000_000,
        "universities": 4,
        "environment": environment,
    }
    (shown,) = tables([{**made, "seconds": 36.0, "rounds": rounds, "shuffled_bytes": 50_000_000}])
    assert shown.rows == [["4", "600,000", "400,000", "3", "36.0", "2.000", "90.00", "50.0"]]
    # 72 core seconds a million: 72,000 for a billion, 720 on a hundred cores; 50 GB at 10 GB/s.
    assert "0.2 hours" in shown.note and "50 GB" in shown.note and "0.1 minutes" in shown.note


def test_the_page_has_all_tables_and_plots(folder: Path, records: Sequence[Record], tmp_path: Path) -> None:
    assert main(["report", "--results", str(folder), "--out", str(tmp_path)]) == 0
    page, text = ((tmp_path / name).read_text(encoding="utf-8") for name in ("report.html", "report.md"))
    shown = tables(records)
    for one in shown:
        assert f"## {one.title}" in text
        assert one.title in page
    assert page.count("<svg") == page.count("</svg>") == 10
    for words in ("seconds of reasoning", "facts deleted", "% of the explicit facts", "times as fast as materialising"):
        assert words in page, "an axis has its name"
    for name in ("CNT", "DRed", "everlog", "dag"):
        assert re.search(rf">{name}</text>", page), "a legend or an axis has the name"
    assert not re.search(r"""(src|href)=["']?http""", page), "nothing is loaded"


def test_what_is_said_about_individuals_is_compared() -> None:
    said = [("i:a", "p:knows", "i:b"), ("i:b", "p:knows", "i:a")]
    known = [("http://www.w3.org/x", "p:knows", "i:a"), ("i:a", f"{RDF}type", "http://www.w3.org/2002/07/owl#Thing")]
    assert digest(said) == digest([*reversed(said), *known]) != digest(said[:1])
    assert digest(said) != digest([*said, ("i:a", f"{RDF}type", "c:C")])


def test_samples_of_one_order_contain_each_other() -> None:
    order = Order(workload("dag").instance(nodes=30, edges=60))
    small, large = (set(zip(*order.sample(size)["edge"].to_pydict().values(), strict=True)) for size in (7, 20))
    assert len(small) == 7 and small < large
    rest = set(zip(*order.rest(20).facts["edge"].to_pydict().values(), strict=True))
    assert len(rest) == 40 and rest.isdisjoint(large)


@given(seed=st.integers(0, 1_000), small=st.integers(1, 40), more=st.integers(0, 60))
@settings(max_examples=30, deadline=None)
def test_samples_are_stable_and_walks_follow_edges(seed: int, small: int, more: int) -> None:
    facts = workload("dag").instance(nodes=30, edges=60).facts
    edges = facts["edge"].to_pylist()
    walks = Walks(facts)
    for sample in (Samples(facts).of, walks.of):
        first, second = (_pairs(sample(size, seed)) for size in (small, small + more))
        assert len(first) == small and len(second) == min(small + more, 60) and first <= second
    met = list(walks.numbers(small, seed))
    assert _pairs(walks.of(small, seed)) == {(edges[one]["a0"], edges[one]["a1"]) for one in met}


def test_a_walk_goes_on_where_it_arrived() -> None:
    """On a line there is no choice: from wherever it starts, a walk takes what follows, up to its length."""
    line = {"edge": pa.table({"a0": range(100), "a1": range(1, 101)})}
    met = list(Walks(line).numbers(20, seed=3, longest=25))
    breaks = [one for one, two in pairwise(met) if two != one + 1]
    assert len(breaks) <= 1 and all(one == 99 for one in breaks), met


def _pairs(sample: Mapping[str, pa.Table]) -> set[tuple[int, ...]]:
    return {tuple(row.values()) for row in sample["edge"].to_pylist()}


def test_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "all", "--scale", "huge", "--results", str(tmp_path)]) == 2
    assert "tiny, small, medium" in capsys.readouterr().err
    assert main(["run", "nothing", "--scale", "tiny", "--results", str(tmp_path)]) == 2
    assert "robustness" in capsys.readouterr().err
    assert main(["run", "growth", "--scale", "tiny", "--repeat", "0", "--results", str(tmp_path)]) == 2
    assert "--repeat 1" in capsys.readouterr().err
    assert main(["report", "--results", str(tmp_path)]) == 2
    assert "has no results" in capsys.readouterr().err
    (tmp_path / "peers.jsonl").write_text(json.dumps({}) + "\nno json\n", encoding="utf-8")
    assert main(["report", "--results", str(tmp_path)]) == 2
    assert "line 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("family", {"tc", "stc"}), ("skos", {"tc", "stc"}), ("relations-made", {"tc", "reach", "rch"})],
)
def test_workloads_with_several_modules(name: str, kinds: set[str], tiny: dict[str, dict[str, int]]) -> None:
    """Modules are found, and change nothing."""
    instance = workload(name).instance(**tiny[name])
    program = parse_program(instance.program)
    found = []
    for modules in ("auto", "off"):
        kb = KnowledgeBase(program, modules=modules)
        kb.add(instance.facts)
        assert {one["kind"] for one in kb.materialise().modules} == (kinds if modules == "auto" else set())
        found.append(facts_of(kb))
    explicit = facts_of(kb, "explicit")
    assert found[0] == found[1] == naive.materialise(program.rules, explicit)


@pytest.mark.parametrize(
    ("experiment", "system"), [("modular", "DRed^c"), ("modular", "M-DRed^c"), ("hypertree", "standard")]
)
def test_what_did_not_end_has_a_dash(records: Sequence[Record], experiment: str, system: str) -> None:
    chosen = [one for one in records if one["experiment"] == experiment]
    known = {"experiment", "instance", "paper", "system", "options", "peak_bytes"}
    cut = [
        {**{key: one[key] for key in known}, "seconds": {}, "changed": {}} if one["system"] == system else one
        for one in chosen
    ]
    before, after = (
        next(each for each in tables(given) if each.title.endswith(": seconds")) for given in (chosen, cut)
    )
    dashes = [sum(cell == NONE for row in each.rows for cell in row) for each in (before, after)]
    assert dashes[1] > dashes[0]
    assert not any("disagree" in cell for row in after.rows for cell in row)
