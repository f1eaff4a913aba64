// What an operator decides about a key. Each needs a reason, and says in one sentence what will follow.
import { useSignal, type Signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { Failure, post } from "../api";
import { Stored } from "../text";
import type { Finding, Key, KeyDetail, Round } from "../types";
import { announce, Dialog, ErrorBox, Field } from "../ui";

/** A note for those who look next; it decides nothing. */
export function NoteDialog(props: Action): JSX.Element {
  const text = useSignal("");
  const act = async (): Promise<void> => {
    await post<KeyDetail>("Adding the note", "keys/note", { key: { ref: props.of.ref }, text: text.value.trim() });
    announce("The note is in the history.");
    props.onDone();
  };
  return (
    <ActionForm title="Add a note" button="Add this note" onClose={props.onClose} act={act}>
      <p class="which">
        Key <Stored text={props.of.key} class="mono" />
      </p>
      <Field label="Note" hint="What you have done or found out. The history keeps it with your name.">
        {(id, hint) => (
          <textarea id={id} aria-describedby={hint} rows={3} required maxLength={500} value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
        )}
      </Field>
      <Consequence tone="calm">The key stays in doubt: no retry runs.</Consequence>
    </ActionForm>
  );
}

interface Action {
  of: Key;
  onClose: () => void;
  onDone: () => void;
}

export function ReasonField(props: { reason: Signal<string> }): JSX.Element {
  return (
    <Field label="Reason" hint="Required. The audit keeps it with your name, e.g. “provider's ledger, ticket 4711”.">
      {(id, hint) => (
        <textarea id={id} aria-describedby={hint} rows={2} required maxLength={500} value={props.reason.value}
          onInput={(event) => (props.reason.value = event.currentTarget.value)} />
      )}
    </Field>
  );
}

export function Consequence(props: { tone: "warn" | "danger" | "calm"; children: ComponentChildren }): JSX.Element {
  return (
    <p class={"consequence " + props.tone} aria-live="polite">
      {props.children}
    </p>
  );
}

/** A form in a dialog: one button does it, the other leaves. */
export function ActionForm(props: { title: string; button: string; danger?: boolean; onClose: () => void; act: () => Promise<void>; children: ComponentChildren }): JSX.Element {
  const busy = useSignal(false);
  const failure = useSignal<Failure | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    busy.value = true;
    failure.value = null;
    try {
      await props.act();
    } catch (error) {
      failure.value = error instanceof Failure ? error : new Failure(props.title, 0, String(error), false);
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form onSubmit={(event) => void submit(event)}>
        {props.children}
        <ErrorBox failure={failure.value} />
        <div class="dialog-buttons">
          <button type="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class={props.danger ? "danger" : "primary"} disabled={busy.value}>
            {busy.value ? "Working…" : props.button}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export interface Decision {
  /** Nothing is chosen beforehand: this is the decision. */
  outcome: Signal<"found" | "absent" | null>;
  answer: Signal<boolean>;
  status: Signal<string>;
  type: Signal<string>;
  body: Signal<string>;
  reason: Signal<string>;
}

export function useDecision(): Decision {
  return {
    outcome: useSignal<"found" | "absent" | null>(null),
    answer: useSignal(false),
    status: useSignal("201"),
    type: useSignal("application/json"),
    body: useSignal(""),
    reason: useSignal(""),
  };
}

export function finding(decision: Decision, attempt?: number): Finding {
  const found: Finding = { outcome: decision.outcome.value === "found" ? "found" : "absent", reason: decision.reason.value.trim() };
  if (attempt !== undefined) {
    found.attempt = attempt;
  }
  if (decision.outcome.value === "found" && decision.answer.value) {
    found.response = { status: Number(decision.status.value), headers: { "Content-Type": decision.type.value }, body: decision.body.value };
  }
  return found;
}

export function DecisionFields(props: { decision: Decision; many: boolean }): JSX.Element {
  const { outcome, answer, status, type, body, reason } = props.decision;
  const them = props.many ? "these keys" : "this key";
  return (
    <>
      <fieldset class="choice">
        <legend>What did you find out?</legend>
        <label>
          <input type="radio" name="outcome" required checked={outcome.value === "found"} onChange={() => (outcome.value = "found")} />
          <span>
            <strong>It happened</strong>
            <span class="hint">The provider or the ledger shows the effect.</span>
          </span>
        </label>
        <label>
          <input type="radio" name="outcome" required checked={outcome.value === "absent"} onChange={() => (outcome.value = "absent")} />
          <span>
            <strong>It did not happen</strong>
            <span class="hint">There is proof that it did not and no longer can.</span>
          </span>
        </label>
      </fieldset>
      {outcome.value === "found" && (
        <label class="check">
          <input type="checkbox" checked={answer.value} onChange={(event) => (answer.value = event.currentTarget.checked)} />
          Record the answer that retries get
        </label>
      )}
      {outcome.value === "found" && answer.value && (
        <>
          <div class="field-row">
            <Field label="Status" class="short">
              {(id) => <input id={id} type="number" min={200} max={599} required value={status.value} onInput={(event) => (status.value = event.currentTarget.value)} />}
            </Field>
            <Field label="Content type" class="grow">
              {(id) => <input id={id} required value={type.value} onInput={(event) => (type.value = event.currentTarget.value)} />}
            </Field>
          </div>
          <Field label="Body">
            {(id) => <textarea id={id} class="mono" rows={4} spellcheck={false} value={body.value} onInput={(event) => (body.value = event.currentTarget.value)} />}
          </Field>
        </>
      )}
      <ReasonField reason={reason} />
      {outcome.value === null ? (
        <Consequence tone="calm">What you choose decides what retries get.</Consequence>
      ) : outcome.value === "absent" ? (
        <Consequence tone="danger">
          A retry of {them} runs the operation again: if you are wrong, it takes effect twice, and a customer may be charged twice.
        </Consequence>
      ) : answer.value ? (
        <Consequence tone="calm">Every retry of {them} gets this answer; nothing runs again.</Consequence>
      ) : (
        <Consequence tone="warn">Every retry of {them} gets 409 “response_not_stored”; nothing runs again.</Consequence>
      )}
    </>
  );
}

function Which(props: { of: Key }): JSX.Element {
  return (
    <p class="which">
      <Stored text={props.of.key} class="mono" /> <span class="muted">of <Stored text={props.of.tenant} />, <Stored text={props.of.operation} />, attempt {props.of.attempt}</span>
    </p>
  );
}

export function ResolveDialog(props: Action): JSX.Element {
  const decision = useDecision();
  const act = async (): Promise<void> => {
    await post<KeyDetail>("Resolving this key", "keys/resolve", { key: { ref: props.of.ref }, finding: finding(decision, props.of.attempt) });
    announce(decision.outcome.value === "found" ? "Recorded: it happened." : "Recorded: it did not happen.");
    props.onDone();
  };
  const absent = decision.outcome.value === "absent";
  return (
    <ActionForm title="Resolve a key in doubt" button={absent ? "Record that it did not happen" : decision.outcome.value === "found" ? "Record that it happened" : "Record"} danger={absent} onClose={props.onClose} act={act}>
      <Which of={props.of} />
      <DecisionFields decision={decision} many={false} />
    </ActionForm>
  );
}

export function EvictDialog(props: Action): JSX.Element {
  const reason = useSignal("");
  const act = async (): Promise<void> => {
    await post<unknown>("Evicting this key", "keys/evict", { key: { ref: props.of.ref }, reason: reason.value.trim() });
    announce("The key was evicted.");
    props.onDone();
  };
  return (
    <ActionForm title="Evict a key" button="Forget this key" danger onClose={props.onClose} act={act}>
      <Which of={props.of} />
      <ReasonField reason={reason} />
      <Consequence tone="danger">
        {props.of.state === "retryable"
          ? "The key is forgotten: the next request with it runs as new, whatever it asks for."
          : "The key and its answer are forgotten: a retry of this key runs as new and will charge again."}
      </Consequence>
    </ActionForm>
  );
}

/** Asks the reconciler about one key, or about all of them. */
export function AskButton(props: { reference?: string; onDone: () => void }): JSX.Element {
  const busy = useSignal(false);
  const failure = useSignal<Failure | null>(null);
  const ask = async (): Promise<void> => {
    busy.value = true;
    failure.value = null;
    try {
      const round = await post<Round>("Asking", "reconcile/run", props.reference ? { key: { ref: props.reference } } : {});
      announce(
        round.asked === 0
          ? "Nothing was asked: no unknown key has a reconciler that is due."
          : `Asked about ${round.asked}: ${round.found} happened, ${round.absent} did not, ${round.undecided} undecided.`,
      );
      props.onDone();
    } catch (error) {
      failure.value = error as Failure;
    } finally {
      busy.value = false;
    }
  };
  return (
    <>
      <button type="button" disabled={busy.value} onClick={() => void ask()}>
        {busy.value ? "Asking…" : props.reference ? "Ask now" : "Ask about all now"}
      </button>
      <ErrorBox failure={failure.value} />
    </>
  );
}
