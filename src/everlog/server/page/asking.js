// Questions to the server, with the token if one was entered, and where the page is.

const TOKEN = "everlog-token";
export const RESULTS = "application/sparql-results+json";

export class Failure extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;

// The answer to a request: `path` without a slash in front, so that the page works below any folder of a proxy.
export async function ask(path, parameters = {}, { method = "GET", accept = "application/json", signal } = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const form = new URLSearchParams(given);
  const headers = { Accept: accept };
  if (hasToken()) headers.Authorization = `Bearer ${sessionStorage.getItem(TOKEN)}`;
  const posted = method === "POST";
  let response;
  try {
    response = await fetch(posted || !given.length ? path : `${path}?${form}`, { method, headers, signal, body: posted ? form : undefined });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("The server does not answer.", 0);
  }
  if (response.ok) return response;
  const text = await response.text();
  if (response.status === 401) window.dispatchEvent(new Event("token-wanted"));
  let message = text;
  try {
    message = JSON.parse(text).error ?? text;
  } catch {
    // not JSON: a proxy's own page, perhaps
  }
  throw new Failure(message, response.status);
}

export const json = async (path, parameters, options) => (await ask(path, parameters, options)).json();

// Where the page is: a view with parameters, after the # of the address.
export function place() {
  const [view, query] = location.hash.startsWith("#/") ? location.hash.slice(2).split(/\?(.*)/s) : ["ask", ""];
  return { view: view || "ask", parameters: new URLSearchParams(query ?? "") };
}

// The address of a view; the version that is looked at goes along.
export function address(view, parameters = {}) {
  const found = new URLSearchParams();
  const version = place().parameters.get("version");
  for (const [name, value] of Object.entries({ version, ...parameters })) {
    if (value !== undefined && value !== null && value !== "") found.set(name, value);
  }
  const query = found.toString();
  return query ? `#/${view}?${query}` : `#/${view}`;
}

// Goes to a view, or does again what is there already.
export function go(view, parameters) {
  const to = address(view, parameters);
  if (to === location.hash) window.dispatchEvent(new Event("hashchange"));
  else location.hash = to;
}
