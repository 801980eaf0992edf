// Calls to the feed. The token, where one is needed, lives in this tab only.

const TOKEN = "trainmaster.token";
const BASE = "/api/v1";

/** The feed said no; `status` says how. */
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export const keepToken = (token) => sessionStorage.setItem(TOKEN, token);

/** Headers that every call carries. */
export function credentials() {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

export const get = (path, query = {}) => {
  const wanted = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  const tail = wanted.length ? `?${new URLSearchParams(wanted)}` : "";
  return call("GET", path + tail);
};

export const post = (path, body) => call("POST", path, body);

/** Open the stream of changes, resumed after an id. */
export async function openStream(after, signal) {
  const headers = { ...credentials(), ...(after ? { "Last-Event-ID": after } : {}) };
  const response = await fetch(`${BASE}/stream`, { headers, signal, cache: "no-store" });
  if (!response.ok) throw await refusal(response);
  return response.body;
}

async function call(method, path, body) {
  const headers = { ...credentials(), ...(body ? { "Content-Type": "application/json" } : {}) };
  const response = await fetch(BASE + path, { method, headers, body: body && JSON.stringify(body), cache: "no-store" });
  if (!response.ok) throw await refusal(response);
  return response.json();
}

async function refusal(response) {
  const problem = await response.json().catch(() => ({}));
  return new Refused(response.status, problem.detail ?? `The feed answered ${response.status}.`);
}
