import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { can, get, mayChange, query } from "../api";
import { useLoaded } from "../poll";
import { Stored } from "../text";
import { Ago, Countdown, exact, Next, period, told } from "../time";
import type { Change, KeyDetail } from "../types";
import { Empty, ErrorBox, Heading, keepFocus, Section, Skeleton, StateBadge } from "../ui";
import { AskButton, EvictDialog, NoteDialog, ResolveDialog } from "./actions";
import { MatchForm } from "./match";
import { ResponseView } from "./response";

const SETTLED = ["completed", "failed", "retryable", "expired"];

/** Only an unknown key stays what it is in its history: somebody has left a note. */
function isNote(change: Change): boolean {
  return change.from === "unknown" && change.to === "unknown";
}

function Became(props: { of: Change }): JSX.Element {
  const { from, to } = props.of;
  return (
    <>
      {from ? <StateBadge state={from} /> : <span class="muted">nothing</span>}
      <span aria-hidden="true"> → </span>
      <span class="sr-only">became</span>
      {to ? <StateBadge state={to} /> : <span class="muted">deleted</span>}
    </>
  );
}

function Timeline(props: { changes: Change[] }): JSX.Element {
  if (props.changes.length === 0) {
    return <p class="muted">The store keeps no history of an ordinary life: what it was is on this page.</p>;
  }
  return (
    <ol class="timeline">
      {props.changes.map((change, number) => (
        <li key={number} class={"at-" + (change.to ?? "gone")}>
          <div class="timeline-head">
            {isNote(change) ? <span class="badge">note</span> : <Became of={change} />}
            <span class="muted">
              attempt {change.attempt} · by <Stored text={change.who} />
            </span>
          </div>
          <div>
            <Stored text={change.why} />
          </div>
          <div class="muted">
            <Ago at={change.at} /> · {exact(change.at)}
          </div>
        </li>
      ))}
    </ol>
  );
}

function Row(props: { name: string; children: ComponentChildren }): JSX.Element {
  return (
    <>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </>
  );
}

function WhenRow(props: { name: string; at: string | null | undefined }): JSX.Element | null {
  return props.at ? (
    <Row name={props.name}>
      <Ago at={props.at} /> <span class="muted">{exact(props.at)}</span>
    </Row>
  ) : null;
}

function Facts(props: { of: KeyDetail }): JSX.Element {
  const key = props.of;
  return (
    <dl>
      <Row name="Tenant"><Stored text={key.tenant} /></Row>
      <Row name="Operation"><Stored text={key.operation} /></Row>
      {key.target && <Row name="First request"><Stored text={key.target} class="mono" /></Row>}
      <Row name="Unique in">{key.scope === "operation" ? "its operation" : "its tenant"}</Row>
      <Row name="Attempt">{key.attempt}</Row>
      <Row name="Owner"><Stored text={key.owner} /></Row>
      {key.state === "processing" && key.leaseUntil && (
        <Row name="Lease"><Countdown until={key.leaseUntil} over="lapsed" /> <span class="muted">{exact(key.leaseUntil)}</span></Row>
      )}
      <WhenRow name="Created" at={key.createdAt} />
      <WhenRow name={key.state === "unknown" ? "In doubt since" : "Settled"} at={key.settledAt} />
      <WhenRow name="Answers until" at={key.expiresAt} />
      {key.retention && <Row name="Retention"><Stored text={period(key.retention)} /></Row>}
      {key.fingerprint && (
        <Row name="Fingerprint">
          <span class="muted"><Stored text={key.fingerprint.algorithm} /></span>{" "}
          <Stored text={key.fingerprint.digest} class="mono digest" />
          {key.fingerprint.sealed && <span class="muted"> (made with a secret)</span>}
        </Row>
      )}
      {key.replays && (
        <Row name="Replayed">
          {key.replays.count === 0 ? "not yet" : `${key.replays.count} times`}
          {key.replays.lastAt && <>, last <Ago at={key.replays.lastAt} /></>}
          <span class="muted"> · <Stored text={told(key.replays.scope)} /></span>
        </Row>
      )}
    </dl>
  );
}

function Doubt(props: { of: KeyDetail; onDone: () => void }): JSX.Element {
  const asking = props.of.reconcile;
  return (
    <div class="box warn">
      <p>
        <strong>Nobody knows whether this took effect.</strong> No retry runs, and clients get 409, until the reconciler or you settle it.
      </p>
      {asking && (
        <p>
          {asking.lookUp ? "The reconciler asks about it" : "Nothing asks about it: this operation has no reconciler."}
          {asking.tries ? ` (${asking.tries} tries)` : ""}
          {asking.lastWord && <>; its last word: <q><Stored text={asking.lastWord} /></q></>}
          {asking.lastAskedAt && <>, <Ago at={asking.lastAskedAt} /></>}
          {asking.nextTryAt && <>; next try: <Next at={asking.nextTryAt} /></>}
          {asking.lookUp && "."}
        </p>
      )}
      {asking?.lookUp && <AskButton reference={props.of.ref} onDone={props.onDone} />}
    </div>
  );
}

export function KeyView(props: { reference: string }): JSX.Element {
  const { value, failure, reload } = useLoaded(
    () =>
      get<KeyDetail>("Showing this key", "keys/show" + query({ ref: props.reference })),
    props.reference,
    3,
  );
  const dialog = useSignal<"resolve" | "note" | "evict" | null>(null);
  const key = value.value;
  const close = (): void => {
    dialog.value = null;
  };
  const done = (): void => {
    close();
    void reload().then(keepFocus);
  };
  if (!key) {
    return (
      <>
        <Heading title="Key" />
        {failure.value?.status === 404 ? (
          <Empty title="There is no such key">
            It was never used, or it was purged after its retention. <a href="#/keys">List keys</a>.
          </Empty>
        ) : (
          <ErrorBox failure={failure.value} retry={() => void reload()} />
        )}
        {!failure.value && <Skeleton lines={10} />}
      </>
    );
  }
  const operator = mayChange();
  const resolvable = key.state === "unknown";
  const evictable = SETTLED.includes(key.state);
  return (
    <>
      <Heading title="Key">
        <StateBadge state={key.state} />
      </Heading>
      <p class="key-title">
        <Stored text={key.key} class="mono" />
        {key.shortened && <span class="muted"> (shortened for your role)</span>}
      </p>
      <ErrorBox failure={failure.value} retry={() => void reload()} />
      {resolvable && <Doubt of={key} onDone={() => void reload()} />}
      <div class="actions" role="group" aria-label="Actions">
        <button type="button" class="primary" disabled={!operator || !resolvable} onClick={() => (dialog.value = "resolve")}>
          Resolve…
        </button>
        {resolvable && (
          <button type="button" disabled={!operator} onClick={() => (dialog.value = "note")}>
            Add a note…
          </button>
        )}
        <button type="button" disabled={!operator || !evictable} onClick={() => (dialog.value = "evict")}>
          Evict…
        </button>
        <span class="muted">
          {!operator
            ? "Your role may only read."
            : resolvable
              ? "Resolving records what became of it."
              : evictable
                ? "Only unknown keys can be resolved; this one is settled."
                : "Only unknown keys can be resolved, and only settled ones evicted."}
        </span>
      </div>
      <div class="columns">
        <Section title="What is known">
          <Facts of={key} />
        </Section>
        <Section title="History" note="oldest first">
          <Timeline changes={key.history ?? []} />
        </Section>
      </div>
      <Section title="Stored response">
        {key.response ? (
          <ResponseView of={key.response} />
        ) : (
          <Empty title="No response is stored">
            {key.state === "completed"
              ? "It was too large, or nobody knew it. Retries get 409 response_not_stored."
              : "It is recorded when the key is settled."}
          </Empty>
        )}
      </Section>
      {can("match") && (
        <Section title="Would this request match?">
          <MatchForm of={key} />
        </Section>
      )}
      {dialog.value === "resolve" && <ResolveDialog of={key} onClose={close} onDone={done} />}
      {dialog.value === "note" && <NoteDialog of={key} onClose={close} onDone={done} />}
      {dialog.value === "evict" && <EvictDialog of={key} onClose={close} onDone={done} />}
    </>
  );
}
