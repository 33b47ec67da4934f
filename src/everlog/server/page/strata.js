// Strata as a picture: one box for each, from the lowest down, and arcs for what depends on what.

import { counted, h, seconds, svg } from "./elements.js";

const BOX = { width: 470, height: 54, gap: 16, top: 8 };
const REACH = { least: 26, step: 9, most: 96 };
const PER_CHARACTER = 7.4;

export function strataGraph(program, units, choose) {
  const y = new Map(program.strata.map((one, at) => [Number(one.stratum), BOX.top + at * (BOX.height + BOX.gap)]));
  const span = Math.max(0, ...program.edges.map((edge) => Math.abs(edge.target - edge.source)));
  const left = Math.min(REACH.most, REACH.least + REACH.step * span);
  const height = BOX.top + program.strata.length * (BOX.height + BOX.gap);
  let chosen = null;
  const boxes = program.strata.map((one) => box(one, left, y.get(Number(one.stratum)), units, program.seconds, () => {
    chosen = chosen === one.stratum ? null : one.stratum;
    for (const other of boxes) other.setAttribute("aria-pressed", String(chosen !== null && other.dataset.stratum === String(chosen)));
    choose(chosen);
  }));
  const arcs = program.edges.map((edge) => arc(edge, left, y));
  const marker = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8z" }));
  const width = left + BOX.width + 4;
  return h("div", { class: "scroll graph" }, svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Strata" }, svg("defs", {}, marker), arcs, boxes));
}

function box(one, left, top, units, taken, choose) {
  const own = units.filter((unit) => Number(unit.stratum) === Number(one.stratum));
  const modules = own.filter((unit) => unit.kind && !["negation", "steps", "aggregate", "equality"].includes(unit.kind));
  const rules = own.reduce((sum, unit) => sum + unit.rules.length, 0);
  const kinds = [...new Set(modules.map((unit) => unit.kind))].join(", ");
  const time = taken[one.stratum] === undefined ? "" : ` · ${seconds(taken[one.stratum])} s`;
  const title = `${one.stratum} · ${counted(rules, "rule")}${kinds ? ` · module ${kinds}` : ""}${time}`;
  const names = one.relations.join(", ") || (own.length ? "hidden relations" : "given facts alone");
  const most = Math.floor((BOX.width - 28) / PER_CHARACTER);
  const short = names.length > most ? `${names.slice(0, most - 1)}…` : names;
  const activate = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose();
  };
  return svg("g", { class: modules.length ? "stratum modular" : "stratum", tabindex: 0, role: "button", "aria-pressed": "false", "data-stratum": one.stratum, onclick: activate, onkeydown: activate },
    svg("title", {}, `stratum ${title}: ${names}`),
    svg("rect", { x: left, y: top, width: BOX.width, height: BOX.height, rx: 9 }),
    svg("text", { x: left + 14, y: top + 22, class: "title" }, title),
    svg("text", { x: left + 14, y: top + 42, class: "names" }, short));
}

function arc(edge, left, y) {
  const from = y.get(Number(edge.source)) + BOX.height * 0.65;
  const to = y.get(Number(edge.target)) + BOX.height * 0.35;
  const out = Math.min(left - 8, 10 + REACH.step * Math.abs(edge.target - edge.source));
  const x = left - out;
  return svg("path", { class: edge.whole ? "edge whole" : "edge", d: `M${left} ${from} C${x} ${from} ${x} ${to} ${left - 2} ${to}`, "marker-end": "url(#arrow)" });
}
