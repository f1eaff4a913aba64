// The demo's page: sends real payments to POST /payments and shows what became of their keys, and what the provider's ledger says.
const API_KEY = "test_alice";
const SHOWN_MAX = 40;
const STORM = { payments: 20, copies: 3, tries: 40 };
const FAULTS = [
  ["Charges, then the connection breaks", "Nobody can know: the key becomes unknown until the ledger is asked.", { reset_after: 1, webhook_never: 1, lookup_error: 0.6 }],
  ["Answers slowly", "Up to four seconds; retries meanwhile get 409.", { delay: 1, delay_ms: 4000 }],
  ["Fails before it charges", "Most calls get 500 first; a worker tries again.", { error_before: 0.7 }],
  ["Declines the card", "A final answer too: retries get the same refusal.", { decline: 1 }],
  ["Does not answer questions", "What is in doubt stays in doubt longer.", { lookup_error: 1 }],
];
const BAD_DAY = { reset_after: 0.3, webhook_never: 0.5, error_before: 0.15, error_after: 0.15, delay: 0.3, delay_ms: 400, decline: 0.05 };

const element = (id) => document.getElementById(id);
/** What this page has sent: key → { amount, sent, since }. */
const sent = new Map();
let requests = 0;
let known = { keys: [], ledger: [] };
let storming = false;

const fresh = () => "order-" + crypto.getRandomValues(new Uint32Array(1))[0].toString(36).padStart(6, "0").slice(-6);
const pause = (millis) => new Promise((done) => setTimeout(done, millis));
const euros = (cents) => (cents / 100).toFixed(2) + " €";

function node(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) {
    made.className = className;
  }
  return made;
}

/** One request of a client that may be impatient: what it was answered. */
async function pay(key, amount) {
  requests++;
  const entry = sent.get(key) ?? { amount, sent: 0, since: Date.now() };
  entry.sent++;
  sent.set(key, entry);
  soon();
  const answer = await fetch("payments", {
    method: "POST",
    headers: { Authorization: "Bearer " + API_KEY, "Idempotency-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify({ amount, currency: "EUR" }),
  });
  const body = await answer.json().catch(() => ({}));
  return { status: answer.status, replayed: answer.headers.get("Idempotent-Replayed") === "true", body };
}

function meaning({ status, replayed, body }) {
  switch (status) {
    case 201:
      return replayed ? "the first answer again, byte for byte; nothing was charged" : "charged";
    case 402:
      return replayed ? "the same refusal again" : "the provider declined the card";
    case 202:
      return "accepted; a worker is asking the provider";
    case 409:
      return body.code === "outcome_unknown" ? "nobody knows yet whether it was charged; it will not run again" : "it is still running; nothing was started";
    case 422:
      return "refused: this key belongs to another request";
    default:
      return body.detail ?? "";
  }
}

function show(answer, what) {
  const line = document.createElement("li");
  line.append(node("strong", String(answer.status), "status s" + Math.floor(answer.status / 100)), " ", node("span", what + ": " + meaning(answer)));
  if (answer.replayed) {
    line.append(" ", node("code", "Idempotent-Replayed: true"));
  }
  element("answers").prepend(line);
  while (element("answers").children.length > 4) {
    element("answers").lastChild.remove();
  }
}

const charges = (payment) => known.ledger.filter((line) => line.kind === "charge" && line.status === "succeeded" && line.reference === payment);

const declined = (payment) => known.ledger.some((line) => line.reference === payment && line.status === "declined");

/** The states that a key went through, the latest marked. */
function states(seen) {
  const cell = node("td", "");
  const passed = seen.steps.map((step) => step.to).filter((to, at, all) => to && to !== all[at - 1]);
  const shown = passed.length > 0 && passed.at(-1) === seen.state ? passed : [...passed, seen.state ?? "sent"];
  for (const [at, state] of shown.slice(-4).entries()) {
    if (at > 0) {
      cell.append(node("span", " → ", "muted"));
    }
    cell.append(node("span", state, "badge " + state + (at === Math.min(shown.length, 4) - 1 ? " now" : "")));
  }
  return cell;
}

function draw() {
  const seen = new Map(known.keys.map((one) => [one.key, one]));
  const latest = [...sent.keys()].slice(-SHOWN_MAX).reverse();
  const rows = latest.map((key) => {
    const one = seen.get(key) ?? { key, state: null, payment: null, steps: [] };
    const row = document.createElement("tr");
    const name = node("td", "");
    name.append(node("bdi", key, "mono"));
    const count = one.payment ? charges(one.payment).length : 0;
    row.append(name, node("td", String(sent.get(key).sent), "right"), states(one), node("td", declined(one.payment) ? "declined" : String(count), "right " + (count > 1 ? "bad" : "")));
    return row;
  });
  element("keys").replaceChildren(...rows);
  element("no-keys").hidden = rows.length > 0;
  const owner = new Map(known.keys.filter((one) => one.payment).map((one) => [one.payment, one.key]));
  const lines = known.ledger.filter((line) => owner.has(line.reference)).reverse().map((line) => {
    const row = document.createElement("tr");
    const cell = node("td", "");
    cell.append(node("bdi", owner.get(line.reference), "mono"));
    row.append(node("td", line.id.slice(0, 14), "mono"), cell, node("td", euros(line.amount), "right"), node("td", line.status));
    return row;
  });
  element("ledger").replaceChildren(...lines);
  element("no-ledger").hidden = lines.length > 0;
  score();
}

function score() {
  const paid = known.keys.filter((one) => one.payment);
  const charged = paid.reduce((sum, one) => sum + charges(one.payment).length, 0);
  const twice = paid.filter((one) => charges(one.payment).length > 1).length;
  const doubt = known.keys.filter((one) => one.state === "unknown").length;
  for (const [id, value] of [["sent", requests], ["keys-count", sent.size], ["charged", charged], ["twice", twice]]) {
    if (element(id).textContent !== String(value)) {
      element(id).textContent = String(value);
    }
  }
  element("twice-box").className = twice > 0 ? "bad" : "good";
  let verdict = null;
  if (twice > 0) {
    verdict = "A key was charged twice. That must not happen: please report it.";
  } else if (doubt > 0) {
    verdict = `${doubt === 1 ? "One key is" : doubt + " keys are"} in doubt: the provider may have charged, but nobody was told. Onlyonce does not guess; it asks the ledger.`;
  } else if (doubted && known.keys.some((one) => one.key === doubted && one.state === "completed")) {
    verdict = "The provider's ledger has answered: charged once. Press “Pay again with the same key”: now the retry gets the answer.";
  } else if (requests > sent.size) {
    verdict = `${requests} requests for ${sent.size} ${sent.size === 1 ? "key" : "keys"}, and no key was charged more than once.`;
  } else if (requests > 0) {
    verdict = "Now press “Pay again with the same key”, as a client does that has lost the answer.";
  }
  if (verdict && element("verdict").textContent !== verdict) {
    element("verdict").textContent = verdict;
  }
}

/** The key whose client was told that nobody knows. */
let doubted = null;

let looking = false;
async function look() {
  if (looking || document.hidden || sent.size === 0) {
    return;
  }
  looking = true;
  try {
    const keys = [...sent.keys()].slice(-SHOWN_MAX);
    const search = new URLSearchParams(keys.map((key) => ["key", key]));
    search.set("since", String(Math.min(...keys.map((key) => sent.get(key).since)) - 5000));
    const answer = await fetch("demo/state?" + search);
    if (!answer.ok) {
      throw new Error("the demo answered " + answer.status);
    }
    const latest = await answer.json();
    // What has left the window keeps its last state, so that the score counts everything.
    const current = new Set(keys);
    const before = known.keys.filter((one) => !current.has(one.key));
    const gone = new Set(before.map((one) => one.payment));
    known = { keys: [...before, ...latest.keys], ledger: [...known.ledger.filter((line) => gone.has(line.reference)), ...latest.ledger] };
    element("trouble").textContent = "";
    draw();
  } catch (error) {
    element("trouble").textContent = "The demo cannot be reached (" + error.message + "). Is ./onlyonce demo still running? This page tries again by itself.";
  } finally {
    looking = false;
  }
}

let hurry = 0;
function soon() {
  hurry = Date.now() + 8000;
  draw();
}

async function watch() {
  for (;;) {
    await look();
    const open = known.keys.some((one) => !["completed", "failed"].includes(one.state));
    await pause(open || storming || Date.now() < hurry ? 300 : 2000);
  }
}

let paid = null;
element("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const amount = Number(element("amount").value);
  const way = event.submitter?.value ?? "pay";
  if (way === "pay") {
    paid = { key: element("key").value, amount };
    element("key").value = fresh();
    element("again").disabled = false;
    element("other").disabled = false;
  }
  const { key } = paid;
  const asked = way === "other" ? paid.amount + 1000 : paid.amount;
  try {
    const answer = await pay(key, asked);
    doubted = answer.body.code === "outcome_unknown" ? key : doubted === key && answer.status < 300 ? null : doubted;
    show(answer, { pay: "Paid", again: "Paid again", other: "Another amount" }[way]);
  } catch {
    element("trouble").textContent = "The demo cannot be reached. Is ./onlyonce demo still running?";
  }
});

/** A client that retries until it knows. */
async function insist(key, amount) {
  for (let tries = 1; tries <= STORM.tries; tries++) {
    const answer = await pay(key, amount).catch(() => ({ status: 0 }));
    if (answer.status === 201 || answer.status === 402) {
      return answer;
    }
    await pause(400 + 200 * Math.min(tries, 10));
  }
  return null;
}

element("storm").addEventListener("click", async () => {
  storming = true;
  element("storm").disabled = true;
  element("storm-note").textContent = "";
  const progress = element("storm-progress");
  progress.hidden = false;
  progress.value = 0;
  const before = await setFaults(BAD_DAY);
  const answers = await Promise.all(
    Array.from({ length: STORM.payments }, () => [fresh(), 100 + Math.floor(Math.random() * 9900)]).flatMap(([key, amount]) =>
      Array.from({ length: STORM.copies }, async () => {
        const answer = await insist(key, amount);
        progress.value++;
        return answer;
      }),
    ),
  );
  await setFaults(before);
  storming = false;
  element("storm").disabled = false;
  const lost = answers.filter((answer) => answer === null).length;
  element("storm-note").textContent =
    lost === 0 ? "Every one of the 60 requests has its final answer. Look at the ledger: one charge for each key." : `${lost} requests have no final answer yet: the provider still fails.`;
});

const chosen = new Set();
async function setFaults(faults) {
  const before = await (await fetch("demo/faults")).json();
  await fetch("demo/faults", { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(faults) });
  return before;
}

async function applyFaults() {
  await setFaults(Object.assign({}, ...[...chosen].map((number) => FAULTS[number][2]))).catch(() => {
    element("trouble").textContent = "The provider's switches were not changed. Try again.";
  });
}

for (const [number, [title, hint]] of FAULTS.entries()) {
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.addEventListener("change", () => {
    box.checked ? chosen.add(number) : chosen.delete(number);
    void applyFaults();
  });
  const text = document.createElement("span");
  text.append(node("b", title), node("span", hint, "muted"));
  label.append(box, text);
  element("faults").append(label);
}

element("key").value = fresh();
void applyFaults();
void watch();
