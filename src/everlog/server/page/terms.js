// Terms and facts: how they are written, and what they lead to when they are clicked.

import { address } from "./asking.js";
import { h } from "./elements.js";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const ESCAPES = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const BARE = new Set(["integer", "decimal", "double", "boolean"].map((name) => XSD + name));
let namespaces = [];

export function usePrefixes(prefixes) {
  namespaces = Object.entries(prefixes).sort(([, one], [, other]) => other.length - one.length);
}

export function shortIri(iri) {
  for (const [name, namespace] of namespaces) {
    if (iri.startsWith(namespace) && /^[\w-]*$/.test(iri.slice(namespace.length))) return `${name}:${iri.slice(namespace.length)}`;
  }
  return `<${iri}>`;
}

const quoted = (text) => `"${text.replace(/[\\"\n\r\t]/g, (character) => ESCAPES[character])}"`;

// A term as N-Triples write it.
export function ntriples(term) {
  if (term.type === "uri") return `<${term.value}>`;
  if (term.type === "bnode") return `_:${term.value}`;
  if (term["xml:lang"]) return `${quoted(term.value)}@${term["xml:lang"]}`;
  return term.datatype ? `${quoted(term.value)}^^<${term.datatype}>` : quoted(term.value);
}

// A term as people read it.
export function termText(term) {
  if (term.type === "uri") return shortIri(term.value);
  if (term.type === "bnode") return `_:${term.value}`;
  if (term["xml:lang"]) return `${quoted(term.value)}@${term["xml:lang"]}`;
  if (!term.datatype) return term.value === "" || /^[\s]|[\s]$/.test(term.value) ? quoted(term.value) : term.value;
  return BARE.has(term.datatype) ? term.value : `${quoted(term.value)}^^${shortIri(term.datatype)}`;
}

export function termLink(term, version) {
  const kind = term.type === "literal" ? "literal" : term.type;
  return h("a", { class: `term ${kind}`, href: address("term", { term: ntriples(term), ...(version ? { version } : {}) }), title: ntriples(term) }, termText(term));
}

// A fact whose terms can be clicked, and the fact itself, to see why it holds.
export function factLine(predicate, values, version) {
  const link = { predicate, values: JSON.stringify(values), ...(version ? { version } : {}) };
  const between = (texts) => texts.flatMap((one, at) => (at ? [", ", one] : [one]));
  const terms = between(values.map((value) => termLink(value, version)));
  const fact = predicate === "triple" && values.length === 3 ? ["[", ...terms, "]"] : [predicate, "(", ...terms, ")"];
  return h("span", { class: "fact" }, h("code", {}, fact), " ", h("a", { class: "why", href: address("why", link), "aria-label": `Why ${predicate}(${values.map(termText).join(", ")})` }, "why?"));
}

const LINE = /^(<[^>]*>|_:\S+) (<[^>]*>) (.*) \.$/;
const LITERAL = /^"((?:[^"\\]|\\.)*)"(?:\^\^<([^>]*)>|@([\w-]+))?$/;
const LETTERS = { t: "\t", b: "\b", n: "\n", r: "\r", f: "\f" };

function readTerm(text) {
  if (text.startsWith("<")) return { type: "uri", value: text.slice(1, -1) };
  if (text.startsWith("_:")) return { type: "bnode", value: text.slice(2) };
  const [, value, datatype, language] = LITERAL.exec(text);
  const plain = value.replace(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g, (_, four, eight, letter) =>
    letter ? (LETTERS[letter] ?? letter) : String.fromCodePoint(parseInt(four ?? eight, 16)));
  return { type: "literal", value: plain, ...(datatype ? { datatype } : {}), ...(language ? { "xml:lang": language } : {}) };
}

// The triples of a text of N-Triples.
export function readTriples(text) {
  return text.split("\n").map((line) => LINE.exec(line)).filter(Boolean).map((parts) => parts.slice(1, 4).map(readTerm));
}
