"""The page in a browser: what it shows, what can be clicked, and that it fits on a desk and on a telephone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

import everlog
from support.servers import Server, serving

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")

EX = "http://example.org/"
TOKEN = "0123456789abcdef-a-token"
RULES = f"""
    @prefix ex: <{EX}> .
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    last(?x) :- reach(_, ?x), not edge(?x, _) .
    ex:ancestor[?x, ?y] :- ex:parent[?x, ?y] .
    ex:ancestor[?x, ?z] :- ex:ancestor[?x, ?y], ex:ancestor[?y, ?z] .
"""
OVERLAPPING = """() => {
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || !parent.checkVisibility() || parent.closest("select, .hidden, .skip")) continue;
    let clip = {left: 0, right: innerWidth, top: -1e9, bottom: 1e9};
    for (let outer = parent; outer; outer = outer.parentElement) {
      if (getComputedStyle(outer).overflowX === "visible") continue;
      const box = outer.getBoundingClientRect();
      clip = {left: Math.max(clip.left, box.left), right: Math.min(clip.right, box.right),
              top: Math.max(clip.top, box.top), bottom: Math.min(clip.bottom, box.bottom)};
    }
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const seen = {left: Math.max(box.left, clip.left), right: Math.min(box.right, clip.right),
                    top: Math.max(box.top, clip.top), bottom: Math.min(box.bottom, clip.bottom), node};
      if (seen.right - seen.left > 1 && seen.bottom - seen.top > 1) boxes.push(seen);
    }
  }
  const found = [];
  for (const [at, one] of boxes.entries()) for (const other of boxes.slice(at + 1)) {
    const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    if (one.node !== other.node && wide > 2 && high > 4) found.push([one.node.data, other.node.data]);
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push(["the page", "its window"]);
  return found;
}"""


def made(folder: Path) -> Path:
    """A store with two versions, four thousand predicates, a thousand numbers, and text that looks like markup."""
    names = [f"table{number}(?x)" for number in range(4000)]
    many = [f"many(?x) :- {', '.join(names[first : first + 20])} ." for first in range(0, 4000, 20)]
    kb = everlog.KnowledgeBase("\n".join([RULES, *many]), modules=["tc"])
    parents = [
        (NamedNode(EX + child), NamedNode(EX + "parent"), NamedNode(EX + of)) for child, of in ("ab", "bc", "cd")
    ]
    edges = [("a", "b"), ("b", "c"), ("c", "<img src=x onerror=alert(1)>"), ("one", 1.5), ("long", "word" * 60)]
    kb.add({"edge": edges, "triple": parents, "number": [(number,) for number in range(1000)]})
    kb.materialise()
    path = folder / "graph.store"
    kb.save(path)
    kb.update(add={"edge": [("b", "d")]}, delete={"edge": [("a", "b")]})
    kb.save(path)
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("shown")
    (folder / "token").write_text(TOKEN)
    with serving(made(folder), "--token-file", str(folder / "token")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((place for name in names if (place := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"needs a browser: one of {', '.join(names)}")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: playwright.Browser, server: Server) -> Iterator[playwright.Page]:
    """A page of the server that has not been opened; nothing is wrong in its console until the end."""
    yield from watched(browser, server)


def watched(
    browser: playwright.Browser, server: Server, wrong: tuple[str, ...] = (), token: str | None = TOKEN
) -> Iterator[playwright.Page]:
    context = browser.new_context(base_url=str(server.client.base_url), viewport={"width": 1280, "height": 900})
    if token is not None:
        context.add_init_script(f"sessionStorage.setItem('everlog-token', '{token}')")
    page, said = context.new_page(), list[str]()
    page.set_default_timeout(15_000)
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(f"a dialog: {dialog.message}"))
    yield page
    context.close()
    assert [text for text in said if not any(one in text for one in wrong)] == []


def test_a_goal_is_asked_by_keys_and_an_answer_explained(page: playwright.Page) -> None:
    page.goto("/#/ask?kind=goal")
    page.locator("#query").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("reach(b, ?y)")
    page.keyboard.press("Control+Enter")
    rows = page.locator("table.answers tbody tr")
    rows.nth(2).wait_for()
    assert [rows.nth(at).locator("td").nth(1).inner_text() for at in range(3)] == [
        "<img src=x onerror=alert(1)>",
        "c",
        "d",
    ]
    rows.nth(0).get_by_text("why?").press("Enter")
    tree = page.locator(".tree")
    tree.wait_for()
    assert "given" in tree.inner_text() and "reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ." in tree.inner_text()
    leaf = tree.get_by_text("edge(b, c)", exact=True)
    assert leaf.is_visible()
    tree.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert not leaf.is_visible(), "the tree folds"


def test_a_query_leads_to_terms_and_facts(page: playwright.Page) -> None:
    page.goto("/")
    page.locator("#query").fill(f"SELECT ?x ?y {{ ?x <{EX}ancestor> ?y }} ORDER BY ?x ?y")
    page.locator("#run").click()
    page.get_by_text("6 answers").wait_for()
    page.locator("table.answers a.term", has_text="ex:a").first.click()
    page.get_by_role("heading", name=f"<{EX}a>").wait_for()
    assert "4 facts mention it" in page.locator("main").inner_text()
    page.get_by_label("Why triple(ex:a, ex:ancestor, ex:d)").click()
    page.locator(".tree").wait_for()
    assert "a path, by" in page.locator(".tree").inner_text()
    page.go_back()
    page.get_by_role("heading", name=f"<{EX}a>").wait_for()


def test_graphs_truths_and_mistakes_are_shown(page: playwright.Page) -> None:
    def asked(kind: str, text: str, wanted: str) -> None:
        page.goto(f"/#/ask?kind={kind}")
        page.locator("#query").fill(text)
        page.locator("#run").click()
        page.locator("#answers").get_by_text(wanted).first.wait_for()

    asked("sparql", f"CONSTRUCT {{ ?y <{EX}child> ?x }} {{ ?x <{EX}parent> ?y }}", "3 triples")
    asked("sparql", "ASK {}", "yes")
    asked("goal", "edge(a, b)", "Why not?")
    asked("goal", "edge(one, ?x)", "1.5E0")


def test_a_mistake_in_a_query_is_said(browser: playwright.Browser, server: Server) -> None:
    for page in watched(browser, server, ("400",)):
        page.goto("/#/ask?kind=goal")
        page.locator("#query").fill("edge(?x")
        page.locator("#run").click()
        page.get_by_role("alert").wait_for()


def test_a_million_answers_are_read_by_pages(page: playwright.Page) -> None:
    page.goto("/#/ask?kind=goal")
    page.locator("#query").fill("number(?x), number(?y)")
    page.locator("#run").click()
    page.get_by_text("1–100 of 1,000,000").wait_for()
    page.locator("#query").press("Escape")
    page.keyboard.press("n")
    page.get_by_text("101–200 of 1,000,000").wait_for()
    page.get_by_label("Last page").click()
    page.get_by_text("999,901–1,000,000 of 1,000,000").wait_for()
    assert page.locator("table.answers tbody tr").count() == 100


def test_four_thousand_predicates_are_filtered(page: playwright.Page) -> None:
    page.goto("/#/predicates")
    page.get_by_text("4,006 predicates").wait_for()
    assert page.locator("tbody tr").count() == 50
    assert page.locator("tbody tr").first.inner_text().split()[:4] == ["number", "1", "1,000", "0"]
    page.keyboard.press("/")
    page.keyboard.type("ABLE table399")
    page.get_by_text("11 of 4,006 predicates").wait_for()
    page.locator("tbody a", has_text="table3999").click()
    page.get_by_text("0 answers ·").wait_for()


def test_strata_and_rules_are_shown_and_measured(page: playwright.Page) -> None:
    page.goto("/#/rules")
    boxes = page.locator(".stratum")
    boxes.first.wait_for()
    assert boxes.count() >= 2 and page.locator(".edge.whole").count() >= 1
    assert "module tc" in (boxes.filter(has_text="ex:ancestor").first.text_content() or "")
    page.locator("#measure").click()
    page.get_by_text("Measured in the materialisation of version 2").wait_for()
    row = page.locator("tbody tr", has_text="reach(?x, ?y) :- edge(?x, ?y) .")
    assert row.locator("td").nth(2).inner_text() == "5"
    boxes.filter(has_text="last").first.press("Enter")
    page.get_by_text("1 of 206 rules and modules").wait_for()
    assert "last(?x)" in page.locator("tbody").inner_text()


def test_versions_say_what_they_changed_and_can_be_looked_at(page: playwright.Page) -> None:
    page.goto("/#/versions")
    page.get_by_label("What version 2 changed").click()
    page.get_by_role("heading", name="What version 2 changed").wait_for()
    change = page.locator("#change").inner_text()
    assert "explicit, added" in change and "edge(b, d)" in change and "derived, deleted" in change
    page.get_by_label("Why reach(a, c)").click()
    page.locator(".tree").wait_for()
    assert page.locator("#version").input_value() == "1", "what was deleted is explained where it was"
    page.goto("/#/ask?kind=goal&text=edge(a%2C%20%3Fx)")
    page.get_by_text("0 answers · version 2").wait_for()
    page.locator("#version").select_option("1")
    page.get_by_text("1 answer · version 1").wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_no_text_lies_on_other_text(page: playwright.Page, width: int, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    values = json.dumps([{"type": "literal", "value": "b"}, {"type": "literal", "value": "c"}])
    for place, there in (
        ("ask?kind=goal&text=reach(%3Fx,%20%3Fy)", "table.answers"),
        ("ask?kind=sparql&text=SELECT%20*%20%7B%3Fs%20%3Fp%20%3Fo%7D", "table.answers"),
        ("predicates", "tbody tr"),
        ("rules", ".stratum"),
        ("versions?of=2", "#change h2"),
        (f"term?term=%3C{EX}a%3E", ".facts"),
        (f"why?predicate=reach&values={values}", ".tree"),
    ):
        page.goto(f"/#/{place}")
        page.locator(there).first.wait_for()
        assert page.evaluate(OVERLAPPING) == [], (place, width)


def test_a_token_is_asked_for(browser: playwright.Browser, server: Server) -> None:
    for page in watched(browser, server, ("401",), token=None):
        page.goto("/#/predicates")
        page.locator("#token-field").fill(TOKEN)
        page.keyboard.press("Enter")
        page.get_by_text("4,006 predicates").wait_for()


def test_the_page_allows_nothing_but_its_own_files(server: Server) -> None:
    found = server.client.get("/")
    assert found.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in found.headers["content-security-policy"]
    assert "unsafe" not in found.headers["content-security-policy"]
    assert server.client.get("/page/main.js").headers["content-type"].startswith("text/javascript")
    assert server.client.get("/page/__init__.py").status_code == 404
    assert server.client.get("/page/..%2fpage_files.py").status_code == 404
