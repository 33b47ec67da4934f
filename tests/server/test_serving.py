"""`everlog serve` as a process: queries, updates, versions, changes, and what others do to the store meanwhile."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

import httpx
import pytest
from pyoxigraph import BlankNode, NamedNode

import everlog
from everlog.store.lock import locked
from everlog.store.manifest import current_version
from support.killed_servers import kill_servers
from support.servers import Server, serving

EX = "http://example.org/"
RULES = f"""
    @prefix ex: <{EX}> .
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    ex:ancestor[?x, ?y] :- ex:parent[?x, ?y] .
    ex:ancestor[?x, ?z] :- ex:ancestor[?x, ?y], ex:parent[?y, ?z] .
    both(?x) :- left(?x), right(?x) .
"""
ANCESTORS = f"SELECT ?x ?y {{ ?x <{EX}ancestor> ?y }} ORDER BY ?x ?y"
EVENTS = {"Accept": "text/event-stream"}
RESULTS = {"Accept": "application/sparql-results+json"}
XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kb = everlog.KnowledgeBase(RULES)
    parents = [(NamedNode(EX + child), NamedNode(EX + "parent"), NamedNode(EX + of)) for child, of in ("ab", "bc")]
    kb.add({"edge": [("a", "b")], "triple": parents})
    kb.materialise()
    path = tmp_path_factory.mktemp("served") / "graph.store"
    kb.save(path)
    return path


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[Server]:
    with serving(store) as running:
        yield running


def uri(name: str) -> dict[str, str]:
    return {"type": "uri", "value": EX + name}


def test_queries_come_by_get_as_forms_and_as_texts(server: Server) -> None:
    text = {"Content-Type": "application/sparql-query"}
    found = [
        server.client.get("/sparql", params={"query": ANCESTORS}),
        server.client.post("/sparql", data={"query": ANCESTORS}),
        server.client.post("/sparql", content=ANCESTORS, headers=text),
    ]
    for one in found:
        assert one.headers["content-type"] == "application/sparql-results+json"
        rows = [(row["x"]["value"][-1], row["y"]["value"][-1]) for row in one.json()["results"]["bindings"]]
        assert rows == [("a", "b"), ("a", "c"), ("b", "c")]
    elsewhere = {"query": "ASK { ?x ?p ?y }", "default-graph-uri": [f"{EX}one", f"{EX}two"]}
    assert server.client.get("/sparql", params=elsewhere).json()["boolean"] is False


def test_a_million_rows_begin_to_come_soon_and_are_never_one_text(server: Server) -> None:
    some = "?x ?p ?y . ?z ?q ?w . ?u ?r ?v . ?a ?b ?c"
    query = (
        f"SELECT ?x ?t ?s {{ {{ SELECT ?x {{ {some} }} }} {{ SELECT (?x AS ?t) {{ {some} }} }} ?s <{EX}ancestor> ?o }}"
    )
    before, begun, first, size = peak_bytes(server), perf_counter(), 0.0, 0
    with server.client.stream("GET", "/sparql", params={"query": query, "version": 1}) as answer:
        assert int(answer.headers["Everlog-Answers"]) > 1_000_000
        for piece in answer.iter_raw():
            first = first or perf_counter() - begun
            size += len(piece)
    assert first < (perf_counter() - begun) / 2
    assert size > 150_000_000
    assert peak_bytes(server) - before < size, "rows are numbers until they are sent"


def peak_bytes(server: Server) -> int:
    """The most memory that the server has had so far."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


@pytest.mark.parametrize(
    ("accept", "kind", "start"),
    [
        ("text/csv", "text/csv; charset=utf-8", "x,y\r\n"),
        ("text/csv;q=0.1, text/tab-separated-values", "text/tab-separated-values; charset=utf-8", "?x\t?y\n"),
        ("text/turtle, application/sparql-results+xml;q=0.5", "application/sparql-results+xml", "<?xml"),
        ("*/*", "application/sparql-results+json", '{"head"'),
        ("text/*;q=0.2, text/csv;q=0", "text/tab-separated-values; charset=utf-8", "?x"),
    ],
)
def test_answers_have_the_form_that_is_accepted(server: Server, accept: str, kind: str, start: str) -> None:
    found = server.client.get("/sparql", params={"query": ANCESTORS}, headers={"Accept": accept})
    assert (found.status_code, found.headers["content-type"]) == (200, kind)
    assert found.text.startswith(start)


def test_graphs_are_turtle_unless_n_triples_are_asked_for(server: Server) -> None:
    query = {"query": f"CONSTRUCT {{ ?y <{EX}child> ?x }} {{ ?x <{EX}parent> ?y }}"}
    assert server.client.get("/sparql", params=query).headers["content-type"].startswith("text/turtle")
    lines = server.client.get("/sparql", params=query, headers={"Accept": "application/n-triples"}).text
    assert sorted(lines.split("\n"))[1:] == [f"<{EX}b> <{EX}child> <{EX}a> .", f"<{EX}c> <{EX}child> <{EX}b> ."]


def test_an_update_is_a_version_and_older_ones_stay(server: Server, store: Path) -> None:
    before = current_version(store)
    pairs = server.goal("reach(?x, ?y)")
    found = server.update(add={"edge": [["b", "c"], ["c", 5]]}, delete={"edge": [["x", "y"]]})
    assert found.status_code == 200
    assert found.json()["version"] == before + 1 == current_version(store)
    assert found.json()["added"] == 7
    assert any("delete" in warning for warning in found.json()["warnings"])
    assert server.goal("reach(a, ?y)") == [{"y": 5}, {"y": "b"}, {"y": "c"}]
    assert server.goal("reach(a, 5)") is True
    assert server.goal("reach(?x, ?y)", version=before) == pairs
    assert server.goal("reach(a, ?y)", limit=1) == [{"y": 5}]
    old = server.client.get("/sparql", params={"query": "ASK { ?x ?y ?z }", "version": before})
    assert old.headers["everlog-version"] == str(before)
    assert server.update(delete={"edge": [["b", "c"], ["c", 5]]}).json()["deleted"] == 7
    assert server.goal("reach(?x, ?y)") == pairs


def test_rdf_comes_as_a_body_or_as_turtle_in_json(server: Server, store: Path) -> None:
    turtle = f"@prefix fresh: <{EX}fresh#> . fresh:d <{EX}parent> <{EX}a>, [ <{EX}parent> fresh:d ] ."
    kind = {"Content-Type": "text/turtle"}
    assert server.client.post("/update", content=turtle, headers=kind).status_code == 200
    answers = server.goal("ex:ancestor[fresh:d, ?y]")
    assert isinstance(answers, list)
    blank = next(row["y"]["value"] for row in answers if row["y"]["type"] == "bnode")
    triples = set(everlog.open(store).rows("triple"))
    assert {term.value for row in triples for term in row if isinstance(term, BlankNode)} == {blank}, (
        "a blank node is called here as the store calls it"
    )
    lines = f"<{EX}fresh#d> <{EX}parent> _:{blank} .\n_:{blank} <{EX}parent> <{EX}fresh#d> .\n"
    kind = {"Content-Type": "application/n-triples"}
    assert server.client.post("/update?change=delete", content=lines, headers=kind).json()["deleted"] > 2
    assert server.update(delete=f"<{EX}fresh#d> <{EX}parent> <{EX}a> .").status_code == 200
    assert server.goal("ex:ancestor[fresh:d, ?y]") == []


def test_a_fact_is_explained(server: Server) -> None:
    server.update(add={"edge": [["why1", "why2"], ["why2", "why3"]]})
    found = server.client.get("/explain", params={"fact": "reach(why1, why3)", "proofs": 3})
    assert found.status_code == 200
    assert found.json()["holds"] and found.json()["proofs"][0]["finalConclusion"] == "reach(why1, why3)"
    not_so = server.client.post("/explain", json={"fact": "reach(why3, why1)"}).json()
    assert not not_so["holds"] and not_so["whyNot"]
    before = {"fact": "reach(why1, why3)", "version": 1}
    assert not server.client.get("/explain", params=before).json()["holds"]


def test_random_updates_leave_what_follows_from_the_facts(server: Server, store: Path) -> None:
    chance, edges = random.Random(5), set(everlog.open(store).rows("edge"))
    for _ in range(30):
        more = {(chance.randrange(8), chance.randrange(8)) for _ in range(3)}
        fewer = set(chance.sample(sorted(edges, key=repr), min(2, len(edges))))
        found = server.update(add={"edge": sorted(more)}, delete={"edge": sorted(fewer, key=repr)})
        assert found.status_code == 200
        edges = (edges - fewer) | more
    again = everlog.KnowledgeBase(RULES)
    again.add({"edge": sorted(edges, key=repr)})
    again.materialise()
    answers = server.goal("reach(?x, ?y)")
    assert isinstance(answers, list)
    assert {(row["x"], row["y"]) for row in answers} == set(again.rows("reach"))
    kept = everlog.open(store)
    assert set(kept.rows("reach")) == set(again.rows("reach"))
    assert set(kept.rows("edge")) == edges


def test_readers_see_one_version_each_while_updates_run(server: Server) -> None:
    """Every version has the same facts of `left`, of `right`, and so of `both`."""
    first = server.update(add={"left": [[0]], "right": [[0]]}).json()["version"]
    wanted = 25

    def read(_: int) -> None:
        seen = 0
        with httpx.Client(base_url=server.client.base_url, timeout=60) as client:
            while seen < first + wanted:
                found = client.get("/goal", params={"goal": "left(?x), right(?y)"})
                version, rows = int(found.headers["everlog-version"]), found.json()
                assert version >= seen, "nobody goes back"
                seen = version
                assert {row["x"] for row in rows} == {row["y"] for row in rows} == set(range(version - first + 1))

    with ThreadPoolExecutor(3) as readers:
        running = readers.map(read, range(3))
        for number in range(1, wanted + 1):
            assert server.update(add={"left": [[number]], "right": [[number]]}).status_code == 200
        list(running)


def test_what_another_process_writes_counts(server: Server, store: Path) -> None:
    other = everlog.open(store)
    other.update(add={"edge": [("other", "process")]})
    version = other.save(store)
    assert server.goal("edge(other, ?y)") == [{"y": "process"}]
    assert server.update(add={"edge": [["other", "server"]]}).json()["version"] == version + 1
    assert len(everlog.open(store).query("edge(other, ?y)")) == 2


def test_an_update_waits_for_another_writer_while_others_read(server: Server, store: Path) -> None:
    with ThreadPoolExecutor(1) as beside:
        with locked(store):
            waiting = beside.submit(server.update, add={"edge": [["waits", "now"]]})
            assert server.goal("edge(waits, ?y)") == []
        assert waiting.result().status_code == 200
    assert server.goal("edge(waits, ?y)") == [{"y": "now"}]


def test_changes_are_listed_and_streamed(server: Server, store: Path) -> None:
    start = current_version(store)
    with server.client.stream("GET", f"/changes?from={start}", headers=EVENTS) as stream:
        lines = stream.iter_lines()
        next(lines)
        server.update(add={"edge": [["new1", "new2"]]})
        server.update(delete={"edge": [["new1", "new2"]]})
        events = [json.loads(line.removeprefix("data: ")) for line in _some(lines, "data: ", 2)]
    listed = server.client.get("/changes", params={"from": start}).json()
    assert events == listed
    assert [one["version"] for one in listed] == [start + 1, start + 2]
    assert listed[0]["explicit"]["added"] == {"edge": [["new1", "new2"]]}
    assert listed[0]["counts"]["derived"] == {"added": {"reach": 1}, "deleted": {}}
    one = server.client.get("/changes", params={"from": start, "to": start + 1, "limit": 1, "terms": "full"}).json()
    assert [change["version"] for change in one] == [start + 1]
    assert one[0]["explicit"]["added"]["edge"][0][0] == {"type": "literal", "value": "new1"}
    assert listed[0]["derived"]["added"] == {"reach": [["new1", "new2"]]}
    assert listed[1]["derived"]["deleted"] == {"reach": [["new1", "new2"]]}
    again = {**EVENTS, "Last-Event-ID": str(start + 1)}
    with server.client.stream("GET", f"/changes?from={start}", headers=again) as stream:
        assert [json.loads(line[6:]) for line in _some(stream.iter_lines(), "data: ", 1)] == listed[1:]


def _some(lines: Iterator[str], start: str, number: int) -> list[str]:
    found: list[str] = []
    while len(found) < number:
        line = next(lines)
        found += [line] if line.startswith(start) else []
    return found


@pytest.mark.parametrize("path", ["/sparql", "/goal"])
def test_answers_are_read_in_parts(server: Server, path: str) -> None:
    """Twelve thousand answers are more than are sorted; nevertheless parts are all of them, and each once."""
    server.update(add={"number": [[number] for number in range(110)]})
    query = "SELECT ?x ?y { VALUES ?x { 1 2 3 } VALUES ?y { 4 5 6 7 } }"
    asked, wanted = ({"goal": "number(?x), number(?y)"}, 12_100) if path == "/goal" else ({"query": query}, 12)
    size, seen = wanted // 4 + 1, []
    for offset in range(0, wanted, size):
        found = server.client.get(path, params={**asked, "limit": size, "offset": offset}, headers=RESULTS)
        assert found.headers["everlog-answers"] == str(wanted)
        rows = found.json()["results"]["bindings"]
        assert len(rows) == min(size, wanted - offset)
        seen += [(row["x"]["value"], row["y"]["value"]) for row in rows]
    assert len(set(seen)) == len(seen) == wanted


def test_what_is_known_about_a_term(server: Server) -> None:
    server.update(add={"edge": [["known1", "known2"], ["known2", 2.0]]})
    found = server.client.get("/facts", params={"term": '"known2"', "limit": 1}).json()
    places = {(one["predicate"], one["place"]): one for one in found}
    assert {key: one["number"] for key, one in places.items()} == {
        ("edge", 0): 1,
        ("edge", 1): 1,
        ("reach", 0): 1,
        ("reach", 1): 1,
    }
    fact = places["edge", 0]["facts"][0]
    assert fact[1] == {"type": "literal", "value": "2.0E0", "datatype": f"{XSD}double"}
    why = server.client.post("/explain", data={"predicate": "edge", "values": json.dumps(fact)}).json()
    assert why["holds"] and why["fact"] == "edge(known2, 2.0)"
    assert server.goal(places["reach", 0]["goal"]) == [{"x2": 2.0}]
    assert server.client.get("/facts", params={"term": "<http://example.org/nobody>"}).json() == []


def test_the_facts_of_an_answer(server: Server) -> None:
    server.update(add={"edge": [["of1", "of2"], ["of2", "of3"]]})
    goal = {"goal": "edge(of1, ?y), reach(?y, _), not edge(?y, of1)", "row": json.dumps({"y": "of2"})}
    found = server.client.get("/facts", params=goal).json()
    assert [(one["predicate"], *(value["value"] for value in one["values"])) for one in found] == [
        ("edge", "of1", "of2"),
        ("reach", "of2", "of3"),
    ]


def test_the_program_has_strata_and_rules_are_measured(server: Server) -> None:
    program = server.client.get("/program").json()
    assert [one["relations"] for one in program["strata"]][1:] == [["reach", "ex:ancestor", "both"]]
    assert {"source": 1, "target": 2, "whole": False} in program["edges"]
    kinds = {rule: unit["kind"] for unit in program["units"] for rule in unit["rules"]}
    assert kinds["reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."] == "reach"
    assert server.client.get("/profile", params={"version": 1}).json()["measured"] is None
    profile = server.client.post("/profile?version=1").json()
    assert profile == server.client.get("/profile", params={"version": 1}).json()
    lines = {rule: line["facts"] for line in profile["rules"] for rule in line["rules"]}
    assert profile["measured"] == "materialisation"
    assert lines["reach(?x, ?y) :- edge(?x, ?y) ."] == 1
    assert lines["[?x, ex:ancestor, ?y] :- [?x, ex:parent, ?y] ."] == 2


def test_a_server_tells_about_itself(server: Server, store: Path) -> None:
    assert server.client.get("/health").json() == {"status": "ok", "version": current_version(store)}
    info = server.client.get("/info").json()
    assert info["predicates"]["reach"]["arity"] == 2
    assert server.client.get("/info", params={"version": 1}).json()["predicates"]["edge"]["explicit"] == 1
    metrics = server.client.get("/metrics")
    assert metrics.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    lines = metrics.text.splitlines()
    assert lines[-1] == "# EOF"
    assert f"everlog_version {current_version(store)}" in lines
    assert any(line.startswith('everlog_requests_total{path="/health",status="200"} ') for line in lines)


def test_nothing_acknowledged_is_lost_when_servers_are_killed(tmp_path: Path) -> None:
    assert kill_servers(tmp_path, 2, seed=3) >= 2
