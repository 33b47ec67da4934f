// The page: which view is shown, for which version, and what keys do.

import { ask, go, json, place, setToken } from "./asking.js";
import { askView } from "./ask.js";
import { failure, h, waiting } from "./elements.js";
import { termView } from "./known.js";
import { predicatesView } from "./predicates.js";
import { rulesView } from "./rules.js";
import { usePrefixes } from "./terms.js";
import { versionsView } from "./versions.js";
import { whyView } from "./why.js";

const VIEWS = { ask: askView, predicates: predicatesView, rules: rulesView, versions: versionsView, term: termView, why: whyView };
const TITLES = { ask: "Ask", predicates: "Predicates", rules: "Rules", versions: "Versions", term: "A term", why: "Why" };
const LOOK = 5000;
const content = document.getElementById("content");
const select = document.getElementById("version");
const newer = document.getElementById("newer");
const dialog = document.getElementById("token-dialog");
let running = new AbortController();
let known = {};
let newest = null;

// What is known about the store, of a version, or of the newest one.
async function store(version, signal) {
  const key = version ?? "newest";
  if (known[key]) return known[key];
  const [info, program] = await Promise.all([json("info", { version }, { signal }), json("program", { version }, { signal })]);
  if (version === null) newest = info.version;
  return (known[key] = { info, program });
}

async function show() {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const { view, parameters } = place();
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    const version = parameters.get("version");
    link.setAttribute("href", version ? `#/${link.dataset.view}?version=${encodeURIComponent(version)}` : `#/${link.dataset.view}`);
  }
  document.title = `${TITLES[view] ?? "Everlog"} · Everlog`;
  const kept = document.activeElement?.id;
  content.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => content.replaceChildren(waiting()), 150);
  let made;
  try {
    const { info, program } = await store(parameters.get("version"), signal);
    usePrefixes(program.prefixes);
    showVersions(info, parameters.get("version"));
    made = await (VIEWS[view] ?? nothing)({ parameters, store: info, program, signal });
  } catch (error) {
    if (error.name === "AbortError") return;
    made = failure(error);
  } finally {
    clearTimeout(slow);
  }
  if (signal.aborted) return;
  content.replaceChildren(made);
  content.removeAttribute("aria-busy");
  if (kept) document.getElementById(kept)?.focus({ preventScroll: true });
}

const nothing = async () => h("p", {}, "There is no such view.");

function showVersions(info, version) {
  const options = [...info.versions].reverse().map((one) => h("option", { value: one.version, selected: String(one.version) === version }, String(one.version)));
  select.replaceChildren(h("option", { value: "", selected: version === null }, `newest (${newest ?? info.versions.at(-1)?.version})`), ...options);
  if (version !== null && !info.versions.some((one) => String(one.version) === version)) select.append(h("option", { value: version, selected: true }, version));
}

select.addEventListener("change", () => {
  const { view, parameters } = place();
  go(view, { ...Object.fromEntries(parameters), offset: null, version: select.value });
});

newer.addEventListener("click", () => {
  newer.hidden = true;
  known = {};
  show();
});

async function look() {
  if (document.hidden || newest === null) return;
  try {
    const { version } = await (await ask("health")).json();
    if (version !== newest) {
      newer.textContent = `Show version ${version}`;
      newer.hidden = false;
    }
  } catch {
    // it may answer again later
  }
}

window.addEventListener("token-wanted", () => {
  document.getElementById("token").hidden = false;
  if (!dialog.open) dialog.showModal();
});
document.getElementById("token").addEventListener("click", () => dialog.showModal());
dialog.addEventListener("close", () => {
  const field = document.getElementById("token-field");
  if (!field.value) return;
  setToken(field.value.trim());
  field.value = "";
  known = {};
  show();
});
document.getElementById("skip").addEventListener("click", () => content.focus());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  if (/^(input|textarea|select)$/i.test(event.target.tagName) && event.target.type !== "radio") {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const link = document.querySelectorAll("nav a")[Number(event.key) - 1];
  if (event.key === "/") content.querySelector("[data-field]")?.focus();
  else if (event.key === "n" || event.key === "p") content.querySelector(`[data-key="${event.key}"]`)?.click();
  else if (link) link.click();
  else return;
  event.preventDefault();
});

window.addEventListener("hashchange", show);
setInterval(look, LOOK);
show();
