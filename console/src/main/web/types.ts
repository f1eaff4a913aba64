// The answers of the API, as the page reads them.

export type State = "pending" | "processing" | "completed" | "failed" | "retryable" | "unknown" | "expired";
export const STATES: readonly State[] = ["pending", "processing", "completed", "failed", "retryable", "unknown", "expired"];

export interface Session {
  program: string;
  loggedIn: boolean;
  login: "form" | "application";
  node?: string;
  version?: string;
  name?: string;
  role?: "operator" | "reader";
  csrf?: { header: string; token: string };
  expiresAt?: string | null;
  keys?: "whole" | "shortened";
  payloads?: "shown" | "hidden";
  features?: string[];
  home?: string | null;
}

export interface Count {
  count: number;
  kind: "exact" | "atLeast" | "estimate";
}

export interface Waiting extends Count {
  oldestAt?: string | null;
}

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

export interface Node {
  node: string;
  version?: string | null;
  startedAt?: string | null;
  /** None for this one. */
  seenAt?: string | null;
  here?: boolean;
  me?: boolean;
}

export interface Overview {
  at: string;
  mine: {
    node: string;
    version?: string;
    startedAt?: string;
    perSecond: Record<string, number>;
    percentiles: Partial<Record<"claim" | "handler" | "settle", Percentiles | null>>;
    handlerName?: string;
    /** Swept by this node in the last hour. */
    lapsedLeases?: Count | null;
  };
  everybody: {
    /** When the store was asked: less often where that takes long. */
    seenAt?: string;
    /** None while the store does not answer. */
    states?: Partial<Record<State, Count>> | null;
    unknown?: Waiting | null;
    deadLetters?: Waiting | null;
    store: {
      name: string;
      healthy: boolean;
      detail?: string | null;
      failover?: string | null;
      acceptedRisks?: string[];
      schema?: { installed: number; known: number; current: boolean } | null;
    };
    nodes: Node[];
    nodesComplete?: boolean;
  };
}

export interface Series {
  stepSeconds: number;
  from: number;
  /** Counted in each step. */
  kinds: Record<string, (number | null)[]>;
  percentiles: Record<string, (number | null)[]>;
}

export interface Asking {
  lookUp: boolean;
  lastWord?: string | null;
  lastAskedAt?: string | null;
  nextTryAt?: string | null;
  tries?: number;
  /** The last note that an operator left. */
  note?: Change | null;
}

export interface Key {
  ref: string;
  tenant: string;
  key: string;
  shortened?: boolean;
  operation: string;
  target?: string | null;
  scope: string;
  state: State;
  attempt: number;
  owner: string;
  createdAt: string;
  leaseUntil?: string | null;
  settledAt?: string | null;
  expiresAt?: string | null;
  reconcile?: Asking | null;
}

export interface Change {
  at: string;
  attempt: number;
  from?: State | null;
  to?: State | null;
  who: string;
  why: string;
}

export interface StoredResponse {
  status: number;
  headers: Record<string, string[]>;
  body?: string | null;
  bodyBase64?: string | null;
  bodyBytes: number;
  cut?: boolean;
  hidden?: string | null;
}

export interface KeyDetail extends Key {
  now: string;
  fingerprint?: { algorithm: string; digest: string; sealed?: boolean } | null;
  retention?: string | null;
  replays?: { count: number; lastAt?: string | null; scope: string } | null;
  actions?: string[];
  response?: StoredResponse | null;
  history?: Change[] | null;
}

export interface KeyPage {
  keys: Key[];
  next?: string | null;
  now: string;
  partial?: string | null;
}

export interface Backlog {
  unknown: Key[];
  operationsWithLookUp: string[];
  next?: string | null;
  now: string;
  order?: "age" | "id";
  partial?: string | null;
}

export interface Round {
  asked: number;
  found: number;
  absent: number;
  undecided: number;
  withoutLookUp: number;
}

export interface Match {
  match?: boolean | null;
  summary: string;
  parts: { part: string; same?: boolean | null; detail: string }[];
}

export interface Finding {
  outcome: "found" | "absent";
  response?: { status: number; headers?: Record<string, string>; body?: string };
  reason: string;
  attempt?: number;
}

export interface BulkResult {
  ref: string;
  done: boolean;
  detail?: string | null;
}

export interface Letter {
  id: number;
  tenant: string;
  key: string;
  ref?: string | null;
  operation: string;
  topic: string;
  tries: number;
  acceptedAt: string;
  providerId?: string | null;
  lastError?: string | null;
  payloadBytes?: number | null;
}

export interface LetterDetail extends Letter {
  payload?: string | null;
  payloadBase64?: string | null;
  hidden?: string | null;
}

/** A message that a consumer on this node has given up. */
export interface Message {
  id: number;
  group: string;
  topic: string;
  coordinates: string;
  reason: string;
  text: string;
  tries: number;
  at: string;
  payloadBytes: number;
  payload?: string | null;
  payloadBase64?: string | null;
  /** Only the beginning was kept. */
  cut?: boolean | null;
  hidden?: string | null;
}

export interface NamedValue {
  name: string;
  value: string;
  explanation?: string | null;
}

export interface Operation {
  operation: string;
  /** None before its first use. */
  way?: string | null;
  profile?: string | null;
  policy: NamedValue[];
  limits: NamedValue[];
  reconciler: string;
  terms?: unknown;
  seen?: Record<string, number> | null;
}

export interface Operations {
  operations: Operation[];
  unprotected: { request: string; count?: number | null; lastAt?: string | null; why?: string | null; decided?: boolean }[];
  coverageRule?: string | null;
}

export interface TopTenants {
  scope: string;
  now?: string;
  tenants: { tenant: string; created: number; duplicates: number; misuse: number; limited?: number | null; liveKeys?: Count | null }[];
  limits: NamedValue[];
}
