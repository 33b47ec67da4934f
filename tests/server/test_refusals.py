"""What a server refuses: malformed requests, too much of anything, strangers."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import everlog
from support.command import everlog as everlog_command
from support.servers import Server, serving

TOKEN = "0123456789abcdef-a-token"
JSON = {"Content-Type": "application/json"}
TURTLE = {"Content-Type": "text/turtle"}


def made(folder: Path) -> Path:
    kb = everlog.KnowledgeBase("reach(?x, ?y) :- edge(?x, ?y) .")
    kb.add({"edge": [(number, number + 1) for number in range(1500)]})
    kb.materialise()
    kb.save(folder / "graph.store")
    return folder / "graph.store"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with small limits."""
    path = made(tmp_path_factory.mktemp("refusing"))
    with serving(path, "--seconds", "2", "--rows", "2000", "--body-mib", "1") as running:
        for name, question in (
            ("sparql", {"query": "ASK { VALUES ?x { 1 } }"}),
            ("goal", {"goal": "edge(1, ?y), ?y < 2"}),
        ):
            running.client.get(f"/{name}", params=question)  # the first one waits for grammars and kernels
        yield running


MALFORMED: list[tuple[int, str, str, dict[str, Any]]] = [
    (400, "GET", "/sparql", {}),
    (400, "GET", "/sparql", {"params": {"query": "SELEKT * {}"}}),
    (400, "GET", "/sparql", {"params": {"query": "SELECT * { ?x ?y ?z }", "version": "x"}}),
    (400, "GET", "/sparql", {"params": {"query": ["ASK {}", "ASK {}"]}}),
    (400, "GET", "/sparql", {"params": {"query": "ASK {}", "default-graph-uri": "no iri"}}),
    (400, "GET", "/sparql?query=%ff", {}),
    (400, "POST", "/sparql", {"data": {"update": "INSERT DATA {}"}}),
    (400, "POST", "/sparql", {"data": {"query": "ASK {" + "{" * 3000 + "}" * 3000 + "}"}}),
    (415, "POST", "/sparql", {"content": "ASK {}", "headers": {"Content-Type": "text/plain"}}),
    (406, "GET", "/sparql", {"params": {"query": "ASK {}"}, "headers": {"Accept": "image/png"}}),
    (400, "GET", "/sparql", {"params": {"query": "ASK {}"}, "headers": {"Accept": "text/csv;q=high"}}),
    (404, "GET", "/sparql", {"params": {"query": "ASK {}", "version": 99}}),
    (405, "PUT", "/sparql", {}),
    (400, "GET", "/goal", {"params": {"goal": "edge(?x"}}),
    (400, "GET", "/goal", {"params": {"goal": "edge(?x, ?y, ?z)"}}),
    (400, "GET", "/goal", {"params": {"goal": "nothing(?x)"}}),
    (400, "GET", "/goal", {"params": {"goal": "edge(?x, ?y)", "limit": "0"}}),
    (400, "GET", "/goal", {"params": {"goal": "edge(?x, ?y)", "other": "0"}}),
    (400, "POST", "/goal", {"json": ["edge(?x, ?y)"]}),
    (400, "POST", "/goal", {"json": {"goal": {"a": 1}}}),
    (400, "GET", "/goal", {"params": {"goal": "edge(?x, ?y)", "offset": "5"}}),
    (406, "GET", "/goal", {"params": {"goal": "edge(?x, ?y)"}, "headers": {"Accept": "text/csv"}}),
    (400, "GET", "/sparql", {"params": {"query": "ASK {}", "offset": "5"}}),
    (400, "GET", "/facts", {}),
    (400, "GET", "/facts", {"params": {"term": "no term"}}),
    (400, "GET", "/facts", {"params": {"goal": "edge(?x, ?y)"}}),
    (400, "GET", "/facts", {"params": {"goal": "edge(?x, ?y)", "row": "[]"}}),
    (400, "GET", "/facts", {"params": {"goal": "edge(?x, ?y)", "row": '{"x": null}'}}),
    (400, "GET", "/explain", {"params": {"predicate": "edge"}}),
    (400, "GET", "/explain", {"params": {"predicate": "edge", "values": "{}"}}),
    (400, "GET", "/explain", {"params": {"predicate": "edge", "values": "[1]"}}),
    (404, "GET", "/program?version=99", {}),
    (404, "POST", "/profile?version=99", {}),
    (404, "GET", "/page/nothing.js", {}),
    (400, "GET", "/changes?from=1&terms=short", {}),
    (400, "GET", "/explain", {}),
    (400, "GET", "/explain", {"params": {"fact": "edge(?x"}}),
    (400, "GET", "/explain", {"params": {"fact": "edge(1, 2)", "depth": "0"}}),
    (422, "GET", "/explain", {"params": {"fact": "edge(1, 2)", "proofs": "1001"}}),
    (405, "GET", "/update", {}),
    (415, "POST", "/update", {"content": "a", "headers": {"Content-Type": "text/plain"}}),
    (400, "POST", "/update", {"content": "{", "headers": JSON}),
    (400, "POST", "/update", {"content": b"\xff\xfe", "headers": JSON}),
    (400, "POST", "/update", {"content": "[" * 100_000, "headers": JSON}),
    (400, "POST", "/update", {"content": '{"add": {"edge": [[NaN, 1]]}}', "headers": JSON}),
    (400, "POST", "/update", {"content": '{"add": {"edge": [["\\ud800", 1]]}}', "headers": JSON}),
    (400, "POST", "/update", {"content": '{"add": "\\ud800"}', "headers": JSON}),
    (400, "POST", "/update", {"content": '{"add": {"edge": [[1e999, 1]]}}', "headers": JSON}),
    (400, "POST", "/update", {"content": '{"add": {}, "add": {}}', "headers": JSON}),
    (400, "POST", "/update", {"json": {}}),
    (400, "POST", "/update", {"json": {"insert": {"edge": [[1, 2]]}}}),
    (400, "POST", "/update", {"json": {"add": {"edge": [[1, 2, 3]]}}}),
    (400, "POST", "/update", {"json": {"add": {"edge": [[1, 2], [1]]}}}),
    (400, "POST", "/update", {"json": {"add": {"edge": [[1, None]]}}}),
    (400, "POST", "/update", {"json": {"add": {"edge": [[1, [2]]]}}}),
    (400, "POST", "/update", {"json": {"add": {"edge": [[1, {"type": "uri", "value": "no iri"}]]}}}),
    (400, "POST", "/update", {"json": {"add": {"edge": [[1, {"type": "bnode", "value": "everlog99999"}]]}}}),
    (400, "POST", "/update", {"json": {"add": {"edge": [[1, {"type": "bnode", "value": "a b"}]]}}}),
    (400, "POST", "/update", {"json": {"add": {"\x00": [[1]]}}}),
    (400, "POST", "/update", {"json": {"add": {"triple": [[1]]}}}),
    (400, "POST", "/update", {"content": "<a> <b>", "headers": TURTLE}),
    (400, "POST", "/update", {"content": b"<a> <b> '\xff' .", "headers": TURTLE}),
    (400, "POST", "/update", {"content": "", "headers": TURTLE}),
    (400, "POST", "/update?change=replace", {"content": "<a> <b> <c> .", "headers": TURTLE}),
    (400, "GET", "/changes", {}),
    (400, "GET", "/changes?from=-1", {}),
    (404, "GET", "/changes?from=99", {}),
    (404, "GET", "/info?version=99", {}),
    (404, "GET", "/../../etc/passwd", {}),
    (421, "GET", "/health", {"headers": {"Host": "evil.example.org"}}),
]


@pytest.mark.parametrize(("status", "method", "path", "more"), MALFORMED)
def test_a_malformed_request_is_refused_with_a_reason(
    server: Server, status: int, method: str, path: str, more: dict[str, Any]
) -> None:
    found = server.client.request(method, path, **more)
    assert (found.status_code, found.json().get("error", "") != "") == (status, True), found.text
    assert server.client.get("/health").json()["version"] == 1, "nothing was written"


def test_random_bodies_are_refused(server: Server) -> None:
    """Pieces of requests that are right, cut and mixed, and bytes of any kind: 4xx, or an answer to what is a query."""
    chance = random.Random(11)
    pieces = [
        "SELECT",
        " * ",
        "{",
        "}",
        "?x",
        "edge(",
        ")",
        ",",
        '"',
        "<",
        ">",
        "[",
        "]",
        "\\",
        "\x00",
        "é",
        "1e9",
        "NOT ",
    ]
    paths = ["/sparql", "/goal", "/update"]
    kinds = ["application/json", "text/turtle", "application/sparql-query", "application/x-www-form-urlencoded", "x/y"]
    for _ in range(50):
        text = "".join(chance.choices(pieces, k=chance.randrange(1, 12)))
        body = text.encode() if chance.random() < 0.7 else chance.randbytes(chance.randrange(40))
        found = server.client.post(chance.choice(paths), content=body, headers={"Content-Type": chance.choice(kinds)})
        assert 400 <= found.status_code < 500, (found.status_code, found.text, body)
        asked = server.client.get(chance.choice(paths[:2]), params={chance.choice(["query", "goal"]): text})
        assert asked.status_code == 200 or 400 <= asked.status_code < 500, (asked.status_code, asked.text, text)
    assert server.client.get("/health").json()["version"] == 1


def test_what_is_not_http_is_refused(server: Server) -> None:
    address = server.client.base_url.host, server.client.base_url.port
    for data in (b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET\r\n\r\n", b"GET /health HTTP/1.1\r\nHost\r\n\r\n"):
        with socket.create_connection(address, timeout=30) as connection:
            connection.sendall(data)
            assert connection.recv(100).startswith(b"HTTP/1.1 400"), data
    assert server.client.get("/health").status_code == 200


def test_bodies_answers_and_times_have_limits(server: Server) -> None:
    large = server.client.post("/update", content=b" " * (2 << 20), headers=JSON)
    assert large.status_code == 413
    pairs = {"goal": "edge(?x, ?y), edge(?u, ?v), ?x < 2"}
    assert server.client.get("/goal", params=pairs).status_code == 422
    assert len(server.client.get("/goal", params={**pairs, "limit": 5}).json()) == 5
    crowd = "SELECT * { VALUES ?x { 1 2 } " + "".join(
        f"VALUES ?v{n} {{ {' '.join(map(str, range(9)))} }} " for n in range(6)
    )
    assert server.client.post("/sparql", data={"query": crowd + "}"}).status_code == 422
    slow = server.client.get("/goal", params={"goal": "edge(?a, ?b), edge(?c, ?d), edge(?e, ?f)"})
    assert (slow.status_code, "given up" in slow.text) == (503, True)
    assert server.client.get("/goal", params={"goal": "edge(1, ?y)"}).json() == [{"y": 2}], "and it goes on"


def test_a_token_is_asked_for_and_updates_may_be_refused(tmp_path: Path) -> None:
    store, file = made(tmp_path), tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    with serving(store, "--host", "0.0.0.0", "--token-file", str(file), "--read-only") as server:
        goal, mine = {"goal": "edge(1, ?y)"}, {"Authorization": f"Bearer {TOKEN}"}
        for wrong in (
            {},
            {"Authorization": "Bearer x"},
            {"Authorization": TOKEN},
            {"Authorization": f"Bearer {TOKEN}x"},
        ):
            found = server.client.get("/goal", params=goal, headers=wrong)
            assert (found.status_code, found.headers["www-authenticate"]) == (401, "Bearer")
        assert server.client.get("/goal", params=goal, headers=mine).json() == [{"y": 2}]
        assert "access-control-allow-origin" not in server.client.get("/health").headers
        update = server.client.post("/update", json={"add": {"edge": [[1, 1]]}}, headers=mine)
        assert update.status_code == 403


def test_other_machines_need_a_token_that_is_one(tmp_path: Path) -> None:
    ended = everlog_command("serve", tmp_path / "none.store", "--host", "0.0.0.0")
    assert (ended.code, "--token-file" in ended.err) == (2, True)
    (tmp_path / "token").write_text("short")
    ended = everlog_command("serve", tmp_path / "none.store", "--token-file", tmp_path / "token")
    assert (ended.code, "openssl rand" in ended.err) == (2, True)


def test_what_a_server_needs_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everlog.cli.serve.find_spec", lambda name: None)
    ended = everlog_command("serve", tmp_path / "none.store")
    assert (ended.code, "pip install 'everlog[server]'" in ended.err) == (2, True)


def test_a_store_that_is_none_and_a_port_that_is_taken_are_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = everlog_command("serve", tmp_path / "none.store", "--port", taken.getsockname()[1])
    assert (ended.code, "cannot listen" in ended.err) == (2, True)
    ended = everlog_command("serve", tmp_path / "none.store", "--port", 0)
    assert (ended.code, "none.store" in ended.err) == (2, True)
