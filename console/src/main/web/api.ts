// Calls of the API: relative addresses, the session's CSRF token, and errors that say what failed and whether to retry.
import { signal } from "@preact/signals";
import { learnClock } from "./time";
import type { Session } from "./types";

export const session = signal<Session | null>(null);
/** Whether the page was in use when the session ended. */
export const ended = signal(false);

export class Failure extends Error {
  constructor(
    readonly what: string,
    readonly status: number,
    message: string,
    readonly retry: boolean,
    readonly code = "",
  ) {
    super(message);
  }
}

const TIMEOUT_MILLIS = 30_000;
const REPEATABLE = [429, 502, 503, 504];

interface Problem {
  detail?: string;
  code?: string;
  retry?: boolean;
}

async function problem(answer: Response): Promise<Problem> {
  try {
    return (await answer.json()) as Problem;
  } catch {
    return {};
  }
}

async function failure(what: string, answer: Response): Promise<Failure> {
  const { detail, code, retry } = await problem(answer);
  if (answer.status === 401 && code !== "login_failed" && session.value?.loggedIn) {
    session.value = { ...session.value, loggedIn: false };
    ended.value = true;
  }
  const text = detail ?? `The program answered ${answer.status} without saying why.`;
  return new Failure(what, answer.status, text, retry ?? REPEATABLE.includes(answer.status), code ?? "");
}

async function send(what: string, method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Response> {
  const csrf = session.value?.csrf;
  if (method !== "GET" && csrf) {
    headers[csrf.header] = csrf.token;
  }
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
  }
  const init: RequestInit = { method, headers, credentials: "same-origin", redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MILLIS) };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
  }
  let answer: Response;
  try {
    answer = await fetch("v1/" + path, init);
  } catch (error) {
    const slow = error instanceof DOMException && error.name === "TimeoutError";
    const text = slow ? "There was no answer within 30 seconds." : "The program cannot be reached.";
    throw new Failure(what, 0, text, method === "GET");
  }
  if (answer.type === "opaqueredirect") {
    throw new Failure(what, 401, "The application asks for a new login. Log in there, then reload this page.", false, "login_required");
  }
  if (!answer.ok && answer.status !== 304) {
    throw await failure(what, answer);
  }
  return answer;
}

export function query(parameters: Record<string, string | number | undefined | null>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") {
      search.set(name, String(value));
    }
  }
  const text = search.toString();
  return text === "" ? "" : "?" + text;
}

const unchanged = new Map<string, { etag: string; value: unknown }>();

const costs = new WeakMap<object, number>();

/** How many milliseconds the program worked for what `get` has returned last. */
export function cost(value: object | null): number {
  return value === null ? 0 : (costs.get(value) ?? 0);
}

/** Reads; an answer with an ETag is sent only once. */
export async function get<T extends object>(what: string, path: string): Promise<T> {
  const known = unchanged.get(path);
  const answer = await send(what, "GET", path, known ? { "If-None-Match": known.etag } : {});
  learnClock(answer.headers.get("Onlyonce-Now"));
  const value = answer.status === 304 && known ? (known.value as T) : ((await answer.json()) as T);
  costs.set(value, Number(/dur=([\d.]+)/.exec(answer.headers.get("Server-Timing") ?? "")?.[1] ?? 0));
  const etag = answer.headers.get("ETag");
  if (etag !== null) {
    if (unchanged.size > 20) {
      unchanged.clear();
    }
    unchanged.set(path, { etag, value });
  }
  return value;
}

export async function post<T>(what: string, path: string, body: unknown): Promise<T> {
  return (await (await send(what, "POST", path, {}, body)).json()) as T;
}

export async function loadSession(): Promise<void> {
  const before = session.value?.loggedIn ?? false;
  session.value = await get<Session>("Loading the session", "session");
  ended.value = !session.value.loggedIn && (before || ended.value);
}

export async function logIn(name: string, credential: string): Promise<void> {
  session.value = await post<Session>("Logging in", "session", { name, credential });
  ended.value = false;
}

export async function logOut(): Promise<void> {
  await send("Logging out", "DELETE", "session", {});
  unchanged.clear();
  session.value = null;
  await loadSession();
}

export function can(feature: string): boolean {
  return session.value?.features?.includes(feature) ?? false;
}

export function mayChange(): boolean {
  return session.value?.role === "operator";
}
