// Answers the console's API with made-up data, some of it hostile, for work on the pages: `npm run fixture`, then http://127.0.0.1:8099/
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const files = join(dirname(fileURLToPath(import.meta.url)), "../../main/resources/META-INF/onlyonce/console");
const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml" };
const HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};
const started = Date.now();
const empty = process.argv.includes("--empty");
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const since = (seconds) => new Date(started - seconds * 1000).toISOString();
let session = process.argv.includes("--login") ? null : "operator";

const HOSTILE = [
  "<script>alert(1)</script>", "javascript:alert(1)", "invoice-\u202Egnp.exe", "k".repeat(255), "a\u0000b\u001b[31mc\u200bd", "\"><img src=x onerror=alert(1)>",
];
const states = ["completed", "completed", "completed", "processing", "unknown", "completed", "failed", "retryable", "pending", "expired"];
const keys = empty ? [] : Array.from({ length: 180 }, (_, n) => {
  const state = n < 4 ? "unknown" : states[n % states.length];
  const key = HOSTILE[n - 5] ?? `order-2026-11-${String(n).padStart(5, "0")}`;
  return {
    ref: Buffer.from(`acme\u0000${key}\u0000${n}`).toString("base64url"),
    tenant: n === 8 ? "<b>evil</b>\u202Etenant" : ["acme-bank", "borealis", "cumulus-pay"][n % 3],
    key,
    operation: n === 9 ? "POST /<svg onload=alert(1)>" : ["POST /payments", "POST /transfers", "POST /refunds"][n % 3],
    target: ["POST /payments", "POST /transfers", "POST /refunds"][n % 3],
    scope: "tenant", state, attempt: 1 + (n % 3 === 0 ? 1 : 0), owner: "gw-" + (1 + (n % 3)),
    createdAt: since(40 + n * n * 7),
    leaseUntil: state === "processing" ? since(n % 2 ? -24 : 15) : null,
    settledAt: ["completed", "failed", "retryable"].includes(state) ? since(38 + n * n * 7) : null,
    expiresAt: ["completed", "failed", "retryable"].includes(state) ? since(38 + n * n * 7 - 86400) : null,
  };
});
const asking = (key, n) =>
  n % 4 === 3 ? { lookUp: false, tries: 0 }
    : {
      lookUp: true, lastWord: "undecided: the provider's ledger lags behind (503)", lastAskedAt: since(20), nextTryAt: since(-40), tries: 3,
      note: n % 4 === 1 ? { at: since(600), attempt: 1, from: "unknown", to: "unknown", who: "operator anna", why: "asked the bank, ticket 4711 <b>urgent</b>" } : null,
    };
const unknown = () => keys.filter((key) => key.state === "unknown").map((key, n) => ({ ...key, reconcile: asking(key, n) }));
const BIG = JSON.stringify({ id: "pay_1", note: "x".repeat(1 << 20) });

function detail(key) {
  const n = keys.indexOf(key);
  const completed = key.state === "completed";
  return {
    ...key, now: ago(0), reconcile: key.state === "unknown" ? asking(key, n) : null,
    fingerprint: { algorithm: "v1, RFC 8785 with exact numbers", digest: "9f2c4a5b6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718", sealed: false },
    retention: "24 h", replays: { count: completed ? 3 : 0, lastAt: completed ? ago(15) : null, scope: `counted by this node since ${since(5400)}` },
    response: completed ? {
      status: 201,
      headers: { "Content-Type": ["application/json"], Location: ["/payments/pay_01J9"], "X-Note": ["<script>alert(1)</script>"] },
      ...(n === 5 ? { body: BIG } : n === 6 ? { bodyBase64: Buffer.from([0, 1, 2, 255, 254, 60, 62, 13, 10, 200]).toString("base64") }
        : { body: '{"id":"pay_01J9","amount":9007199254740993,"currency":"EUR","note":"<img src=x onerror=alert(1)>","empty":{},"lines":[{"sku":"A-1","qty":2}]}' }),
      bodyBytes: n === 5 ? BIG.length : 171, cut: false,
    } : null,
    history: [
      { at: key.createdAt, attempt: 1, from: null, to: "processing", who: "gw-1", why: "first request" },
      ...(key.state === "unknown" ? [
        { at: since(30), attempt: 1, from: "processing", to: "unknown", who: "gw-1", why: "no response: the connection was closed" },
      ] : completed ? [{ at: key.settledAt, attempt: 1, from: "processing", to: "completed", who: "gw-1", why: "answered 201" }] : []),
    ],
  };
}

const wave = (n, base, spread) => Math.max(0, base + spread * Math.sin(n / 17) + (spread / 3) * Math.sin(n / 3.1));
const series = () => {
  const range = Array.from({ length: 360 }, (_, n) => n);
  return {
    stepSeconds: 10, from: Math.floor(Date.now() / 1000) - 3600,
    kinds: Object.fromEntries([["created", 180, 60], ["replayed", 40, 18], ["in_progress", 6, 4], ["mismatched", 1, 1], ["unknown", 0, 0.3]].map(([name, base, spread]) =>
      [name, range.map((n) => (empty ? 0 : Math.round(10 * wave(n, base, spread))))])),
    percentiles: Object.fromEntries([["claim", 2.4, 0.6], ["handler", 38, 9], ["settle", 2.1, 0.5]].map(([name, base, spread]) =>
      [name, range.map((n) => (empty || n < 40 ? null : wave(n, base, spread)))])),
  };
};

const count = (state) => keys.filter((key) => key.state === state).length;
const overview = () => ({
  at: ago(0),
  mine: {
    node: "gw-1", version: "1.0.0", startedAt: since(93000), handlerName: "upstream", lapsedLeases: { count: empty ? 0 : 1, kind: "exact" },
    perSecond: empty ? {} : { created: 182.4, replayed: 41.2, in_progress: 5.9, mismatched: 0.7, unknown: 0.05 },
    percentiles: { claim: empty ? null : { p50: 1.1, p95: 2.4, p99: 6.2 }, handler: empty ? null : { p50: 21, p95: 38.4, p99: 104 }, settle: empty ? null : { p50: 1, p95: 2.1, p99: 5.5 } },
  },
  everybody: {
    states: empty ? Object.fromEntries(states.map((state) => [state, { count: 0, kind: "exact" }])) : {
      pending: { count: 12, kind: "exact" }, processing: { count: 184, kind: "exact" }, completed: { count: 9_412_000, kind: "estimate" }, failed: { count: 10_000, kind: "atLeast" },
      retryable: { count: 310, kind: "exact" }, unknown: { count: count("unknown"), kind: "exact" }, expired: { count: 410_000, kind: "estimate" },
    },
    unknown: { count: count("unknown"), kind: "exact", oldestAt: empty ? null : since(9000) },
    deadLetters: { count: empty ? 0 : letters.length, kind: "exact", oldestAt: empty ? null : since(4000) },
    store: { name: "PostgreSQL 17.2", healthy: true, failover: "nothing with a synchronous standby", acceptedRisks: [], schema: { installed: 9, known: 9, current: true } },
    nodes: [
      { node: "gw-1", version: "1.0.0", startedAt: since(93000), me: true, here: true },
      { node: "gw-2", version: "1.0.0", startedAt: since(92000), seenAt: since(10), here: true, me: false },
      { node: "gw-3<i>\u202Ex</i>", version: "0.9.2", startedAt: since(920000), seenAt: since(1200), here: false, me: false },
    ],
    nodesComplete: true,
  },
});
const letters = empty ? [] : [17, 18, 21].map((id, n) => ({
  id, tenant: "acme-bank", key: keys[n].key, ref: keys[n].ref, operation: "POST /payments", topic: "charge",
  tries: 12, acceptedAt: since(4000 + 900 * n), lastError: "java.net.http.HttpTimeoutException: request timed out <script>alert(1)</script>", payloadBytes: 184,
}));
const messages = [3, 2, 1].map((id) => ({
  id, group: "books", topic: "payments.events", coordinates: `payments.events-0@${1200 + id}`, reason: "tries_exhausted", tries: 5, at: since(300 * (4 - id)),
  text: "it failed in 5 tries: java.lang.IllegalStateException: no such account <script>alert(1)</script>", payloadBytes: id === 3 ? 90_000 : 52, cut: id === 3 ? true : null,
  payload: '{"payment":"pay_1","note":"<img src=x onerror=alert(1)>"}',
}));
const operations = () => ({
  coverageRule: "warn",
  operations: empty ? [] : ["POST /payments", "POST /transfers", "POST /<svg onload=alert(1)>"].map((operation, n) => ({
    operation, way: ["queued", "transactional", "leased"][n], profile: "ietf",
    policy: [{ name: "Retention", value: "24 h" }, { name: "Lease", value: "30 s" }, { name: "When a lease lapses", value: "unknown", explanation: "reconcile" }, { name: "Key", value: "required" }],
    limits: [{ name: "New keys a second", value: "200" }, { name: "Live keys", value: "1,000,000" }],
    reconciler: n === 1 ? "none needed: rolls back with its transaction" : n === 2 ? "none: an operator must decide" : "asks the provider by downstream key, every 30 s",
    terms: { operation, key: { required: true, lengthMax: 255 }, retention: "PT24H" }, seen: { created: 51234, replayed: 8021, mismatched: 12, unknown: 4 },
  })),
  unprotected: empty ? [] : [{ request: "POST /orders/{id}/cancel", count: 214, lastAt: ago(60), decided: false }, { request: "POST /search", count: 90321, lastAt: ago(2), why: "reads only", decided: true }],
});
const tenants = () => ({
  scope: `This node, since ${since(93000).slice(0, 16).replace("T", " ")} UTC`, now: ago(0),
  tenants: empty ? [] : ["acme-bank", "borealis", "cumulus-pay", "<b>evil</b>\u202Etenant", "delta"].map((tenant, n) => ({
    tenant, created: Math.floor(90000 / (n + 1)), duplicates: 8000 - 1700 * n, misuse: [3, 0, 41, 0, 1][n], limited: [0, 0, 220, 0, 0][n], liveKeys: { count: Math.floor(80000 / (n + 1)), kind: "estimate" },
  })),
  limits: [{ name: "New keys a second", value: "200" }, { name: "Live keys", value: "1,000,000" }],
});
const me = () => ({
  program: "gateway", node: "gw-1", version: "1.0.0", loggedIn: true, login: "form", name: "anna", role: session, csrf: { header: "X-Onlyonce-Csrf", token: "t" },
  keys: "whole", payloads: "shown", features: ["outbox", "bulk", "match", "reconcile"], home: null,
});

function find(query) {
  const wanted = (key) =>
    (!query.get("tenant") || key.tenant === query.get("tenant")) && (!query.get("operation") || key.operation === query.get("operation")) &&
    (!query.get("state") || key.state === query.get("state")) && key.key.startsWith(query.get("prefix") ?? "");
  return keys.filter(wanted);
}
function page(rows, query) {
  const from = query.get("after") ? rows.findIndex((row) => row.ref === query.get("after")) + 1 : 0;
  const limit = Number(query.get("limit") ?? 100);
  return [rows.slice(from, from + limit), from + limit < rows.length ? rows[from + limit - 1].ref : null];
}
const problem = (status, detail, code) => ({ status, body: { type: "about:blank", status, detail, code } });
const settle = (ref, finding) => {
  const key = keys.find((one) => one.ref === ref);
  if (key?.state !== "unknown") {
    return "Only an unknown entry can be resolved, and this one is " + (key?.state ?? "gone");
  }
  key.state = finding.outcome === "found" ? "completed" : "retryable";
  key.settledAt = ago(0);
  return null;
};

const calls = {
  "GET session": () => (session ? me() : { program: "gateway", loggedIn: false, login: "form" }),
  "POST session": (_query, body) => {
    if (!["secret", "reader"].includes(body.credential)) {
      return problem(401, "The credential is wrong", "login_failed");
    }
    session = body.credential === "secret" ? "operator" : "reader";
    return me();
  },
  "DELETE session": () => ((session = null), {}),
  "GET overview": overview,
  "GET series": series,
  "GET keys": (query) => {
    const [rows, next] = page(find(query), query);
    return { keys: rows, next, now: ago(0) };
  },
  "GET keys/show": (query) => {
    const key = keys.find((one) => one.ref === query.get("ref"));
    return key ? detail(key) : problem(404, "There is no such key of this tenant");
  },
  "POST keys/match": (_query, body) => ({
    match: false, summary: "It would be refused with 422: the body differs.",
    parts: [{ part: "method", same: true, detail: "POST" }, { part: "path", same: true, detail: "/payments" }, { part: "body", same: body.request.body === "" ? null : false, detail: "another digest" }],
  }),
  "POST keys/resolve": (_query, body) => {
    const wrong = settle(body.key.ref, body.finding);
    return wrong ? problem(409, wrong) : {};
  },
  "POST reconcile/resolve": (_query, body) => ({
    results: body.keys.map(({ ref }, n) => {
      const wrong = n % 13 === 12 ? "It is not attempt 1 that is unknown" : settle(ref, body.finding);
      return { ref, done: wrong === null, detail: wrong };
    }),
  }),
  "POST keys/evict": (_query, body) => (keys.splice(keys.findIndex((key) => key.ref === body.key.ref), 1), { evicted: true }),
  "GET reconcile": (query) => {
    const refs = new Set(find(query).map((key) => key.ref));
    const [rows, next] = page(unknown().filter((key) => refs.has(key.ref)), query);
    return { unknown: rows, operationsWithLookUp: ["POST /payments"], next, now: ago(0), order: "age" };
  },
  "POST reconcile/run": () => ({ asked: 3, found: 0, absent: 0, undecided: 3, withoutLookUp: 1 }),
  "GET outbox": () => ({
    letters, next: null, now: ago(0), consumersScope: `this node since ${since(93000)}`,
    consumers: empty ? [] : [{ group: "books", topic: "payments.events", reason: "tries-exhausted", count: 3, lastAt: ago(300) }, { group: "<i>x</i>", topic: "a\u202Eb", reason: "mismatch", count: 1, lastAt: ago(9000) }],
    messages: empty ? [] : messages.map(({ payload, ...rest }) => rest),
  }),
  "GET outbox/message": (query) => messages.find((one) => one.id === Number(query.get("id"))) ?? problem(404, "This node does not remember a message with this number"),
  "GET outbox/show": (query) => ({ ...letters.find((letter) => letter.id === Number(query.get("id"))), payload: '{"payment":"pay_1","amount":1999}' }),
  "POST outbox/retry": () => ({ retried: true }),
  "POST outbox/drop": () => ({ dropped: true }),
  "GET operations": operations,
  "GET tenants": tenants,
};

createServer(async (request, response) => {
  const url = new URL(request.url, "http://fixture");
  const body = [];
  for await (const chunk of request) {
    body.push(chunk);
  }
  if (!url.pathname.startsWith("/v1/")) {
    const name = url.pathname === "/" ? "index.html" : url.pathname.slice(1);
    try {
      response.writeHead(200, { ...HEADERS, "Content-Type": TYPES[name.split(".").pop()] }).end(await readFile(join(files, name)));
    } catch {
      response.writeHead(404, HEADERS).end();
    }
    return;
  }
  const call = calls[`${request.method} ${url.pathname.slice(4)}`];
  let answer = call ? call(url.searchParams, body.length ? JSON.parse(Buffer.concat(body)) : {}) : problem(404, "There is no such call");
  if (!session && url.pathname !== "/v1/session") {
    answer = problem(401, "Log in first", "login_required");
  }
  const failed = typeof answer.status === "number" && answer.body;
  response
    .writeHead(failed ? answer.status : 200, { ...HEADERS, "Cache-Control": "no-store", "Content-Type": failed ? "application/problem+json" : "application/json" })
    .end(JSON.stringify(failed ? answer.body : answer));
}).listen(Number(process.env.PORT ?? 8099), "127.0.0.1");
