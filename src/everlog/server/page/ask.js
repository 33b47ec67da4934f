// A query box for SPARQL and for goals, and a table of answers, a page at a time.

import { RESULTS, address, ask, go } from "./asking.js";
import { count, counted, failure, h, pager, waiting } from "./elements.js";
import { factLine, readTriples, termLink, termText } from "./terms.js";

const ROWS = 100;
const TRIPLES = "application/n-triples";
const drafts = {};

export async function askView({ parameters, store, signal }) {
  const kind = parameters.get("kind") ?? (hasTriples(store) ? "sparql" : "goal");
  const text = parameters.get("text") ?? drafts[kind] ?? "";
  const field = h("textarea", { id: "query", rows: 5, spellcheck: "false", autocapitalize: "off", "aria-label": kind === "sparql" ? "SPARQL query" : "Goal", "data-field": true });
  field.value = text;
  field.addEventListener("input", () => (drafts[kind] = field.value));
  const run = () => field.value.trim() && go("ask", { kind, text: field.value });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  const choice = (name, title) =>
    h("label", {}, h("input", { type: "radio", name: "kind", value: name, checked: name === kind, onchange: () => go("ask", { kind: name }) }), h("span", {}, title));
  const answers = h("section", { "aria-live": "polite", id: "answers" });
  const view = h("div", {},
    h("form", { class: "card ask", onsubmit: (event) => {
        event.preventDefault();
        run();
      } },
      h("fieldset", { class: "segments" }, h("legend", { class: "hidden" }, "Language"), choice("sparql", "SPARQL"), choice("goal", "Goal")),
      field,
      h("div", { class: "row" }, h("button", { type: "submit", id: "run" }, "Ask"), examples(store, kind))),
    answers);
  if (parameters.get("text")) fill(answers, kind, parameters, signal);
  return view;
}

const hasTriples = (store) => (store.predicates.triple?.explicit ?? 0) + (store.predicates.triple?.derived ?? 0) > 0;

function examples(store, kind) {
  const found = [];
  if (kind === "sparql") {
    found.push(["all triples", "SELECT * { ?s ?p ?o }"]);
    found.push(["classes", "SELECT ?class (COUNT(*) AS ?number) { ?x a ?class } GROUP BY ?class ORDER BY DESC(?number)"]);
    found.push(["properties", "SELECT ?property (COUNT(*) AS ?number) { ?x ?property ?y } GROUP BY ?property ORDER BY DESC(?number)"]);
  } else {
    const size = ([, one]) => (one.explicit ?? 0) + (one.derived ?? 0);
    const largest = Object.entries(store.predicates).sort((one, other) => size(other) - size(one)).slice(0, 4);
    for (const [name, one] of largest) found.push([name, one.goal]);
  }
  return h("span", { class: "examples" }, found.map(([name, text]) => h("a", { class: "chip", href: address("ask", { kind, text }) }, name)));
}

async function fill(target, kind, parameters, signal) {
  const offset = Number(parameters.get("offset") ?? 0);
  const text = parameters.get("text");
  const version = parameters.get("version");
  target.replaceChildren(waiting());
  const begun = performance.now();
  try {
    const path = kind === "sparql" ? "sparql" : "goal";
    const asked = { [kind === "sparql" ? "query" : "goal"]: text, limit: ROWS, offset, version };
    const response = await ask(path, asked, { method: "POST", accept: `${RESULTS}, ${TRIPLES};q=0.5`, signal });
    const total = Number(response.headers.get("Everlog-Answers"));
    const about = `version ${response.headers.get("Everlog-Version")} · ${((performance.now() - begun) / 1000).toFixed(2)} s`;
    const graph = response.headers.get("Content-Type").startsWith(TRIPLES);
    const body = graph ? tripleTable(readTriples(await response.text()), offset) : await answerTable(response, kind, text, offset);
    const turn = (to) => go("ask", { kind, text, offset: to });
    target.replaceChildren(
      h("p", { class: "quiet", role: "status" }, `${body.yes ?? counted(total, graph ? "triple" : "answer")} · ${about}`),
      ...[body.element, pager(offset, ROWS, total, turn)].filter(Boolean));
  } catch (error) {
    if (error.name !== "AbortError") target.replaceChildren(failure(error));
  }
}

async function answerTable(response, kind, text, offset) {
  const found = await response.json();
  if ("boolean" in found) {
    const why = kind === "goal" ? h("p", {}, h("a", { class: "why", href: address("why", { goal: text, row: "{}" }) }, found.boolean ? "Why?" : "Why not?")) : null;
    return { yes: found.boolean ? "yes" : "no", element: why };
  }
  const names = found.head.vars;
  const heads = ["", ...names.map((name) => `?${name}`), ...(kind === "goal" ? [""] : [])];
  const rows = found.results.bindings.map((row, at) =>
    h("tr", {},
      h("td", { class: "place" }, count(offset + at + 1)),
      names.map((name) => h("td", {}, row[name] ? termLink(row[name]) : null)),
      kind === "goal" ? h("td", {}, h("a", { class: "why", href: address("why", { goal: text, row: JSON.stringify(row) }), "aria-label": `Why ${names.map((name) => termText(row[name])).join(", ")}` }, "why?")) : null));
  return { element: rows.length ? table(heads, rows) : null };
}

function tripleTable(triples, offset) {
  const rows = triples.map((values, at) => h("tr", {}, h("td", { class: "place" }, count(offset + at + 1)), h("td", {}, factLine("triple", values))));
  return { element: table(["", "triple"], rows) };
}

function table(heads, rows) {
  return h("div", { class: "scroll card flush" }, h("table", { class: "answers" }, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, rows)));
}
