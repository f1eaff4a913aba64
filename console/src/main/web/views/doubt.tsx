import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { can, Failure, get, mayChange, post, query } from "../api";
import { DOUBT_FILTERS, Filters, filters } from "../filters";
import { useLoaded } from "../poll";
import { refine, route } from "../route";
import { useSteady } from "../steady";
import { number, plain, Stored } from "../text";
import { Ago, Next } from "../time";
import type { Backlog, BulkResult, Key } from "../types";
import { Dialog, Empty, ErrorBox, Heading, keepFocus, KeyLink, Pager, Skeleton, Table } from "../ui";
import { ActionForm, AskButton, DecisionFields, finding, ResolveDialog, useDecision } from "./actions";

const PAGE = 100;
/** Of one bulk decision: more is not one decision any more. */
const BULK_MAX = 1000;
const BATCH = 20;

function load(wanted: Record<string, string>, after: string | undefined, limit: number): Promise<Backlog> {
  return get<Backlog>("Listing what is in doubt", "reconcile" + query({ ...wanted, after, limit }));
}

function Word(props: { of: Key }): JSX.Element {
  const asking = props.of.reconcile;
  if (!asking) {
    return <span class="muted">–</span>;
  }
  const { note } = asking;
  return (
    <>
      {!asking.lookUp ? (
        <span class="warn-text">no reconciler: somebody must decide</span>
      ) : asking.lastWord ? (
        <Stored text={asking.lastWord} />
      ) : (
        <span class="muted">not asked yet</span>
      )}
      {asking.lookUp && asking.lastAskedAt && <span class="muted"> <Ago at={asking.lastAskedAt} /></span>}
      {note && (
        <p class="queue-note">
          <span class="muted">Note:</span> <Stored text={note.why} /> <span class="muted"><Stored text={note.who} />, <Ago at={note.at} /></span>
        </p>
      )}
    </>
  );
}

interface Progress {
  total: number;
  results: { of: Key; done: boolean; detail: string }[];
  finished: boolean;
  stopped: boolean;
}

function Results(props: { of: Progress; onStop: () => void; onClose: () => void }): JSX.Element {
  const { total, results, finished, stopped } = props.of;
  const settled = results.filter((result) => result.done).length;
  const failed = results.filter((result) => !result.done);
  return (
    <Dialog title={finished ? (stopped ? "Stopped" : "Done") : "Settling…"} onClose={finished ? props.onClose : props.onStop}>
      <progress max={total} value={results.length} aria-label="Progress" />
      <p aria-live="polite">
        {number(results.length)} of {number(total)}: {number(settled)} settled, {number(failed.length)} not.
      </p>
      {failed.length > 0 && (
        <Table label="Keys that were not settled">
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Why not</th>
            </tr>
          </thead>
          <tbody>
            {failed.map((result) => (
              <tr key={result.of.ref}>
                <td><KeyLink of={result.of} /></td>
                <td><Stored text={result.detail} /></td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      <div class="dialog-buttons">
        {finished ? (
          <button type="button" class="primary" onClick={props.onClose}>
            Close
          </button>
        ) : (
          <button type="button" onClick={props.onStop}>
            Stop after this batch
          </button>
        )}
      </div>
    </Dialog>
  );
}

/** Settles the set that was previewed, no other: each key is fenced by the attempt that was shown. */
function BulkDialog(props: { keys: Key[]; more: boolean; onClose: () => void; onDone: () => void }): JSX.Element {
  const decision = useDecision();
  const progress = useSignal<Progress | null>(null);
  const stop = useSignal(false);
  const { keys } = props;
  const act = async (): Promise<void> => {
    const wanted = finding(decision);
    const done: Progress["results"] = [];
    const show = (finished: boolean): void => {
      progress.value = { total: keys.length, results: [...done], finished, stopped: stop.value };
    };
    show(false);
    for (let at = 0; at < keys.length && !stop.value; at += BATCH) {
      const batch = keys.slice(at, at + BATCH);
      try {
        const answer = await post<{ results: BulkResult[] }>("Settling", "reconcile/resolve", {
          keys: batch.map(({ ref, attempt }) => ({ ref, attempt })),
          finding: wanted,
        });
        const results = new Map(answer.results.map((result) => [result.ref, result]));
        for (const key of batch) {
          const result = results.get(key.ref);
          done.push({ of: key, done: result?.done ?? false, detail: result?.detail ?? (result?.done ? "" : "no answer about it") });
        }
      } catch (error) {
        // Settling again is harmless: what is settled already is refused.
        batch.forEach((key) => done.push({ of: key, done: false, detail: (error as Failure).message }));
        stop.value = true;
      }
      show(false);
    }
    show(true);
  };
  if (progress.value) {
    return <Results of={progress.value} onStop={() => (stop.value = true)} onClose={props.onDone} />;
  }
  const absent = decision.outcome.value === "absent";
  const tenants = new Set(keys.map((key) => key.tenant)).size;
  const operations = new Set(keys.map((key) => key.operation)).size;
  return (
    <ActionForm title={`Resolve ${number(keys.length)} keys`} danger={absent} onClose={props.onClose} act={act}
      button={`Record for ${number(keys.length)}` + (absent ? " that it did not happen" : decision.outcome.value === "found" ? " that it happened" : "")}>
      <p>
        <strong>{number(keys.length)}</strong> keys of {number(tenants)} {tenants === 1 ? "tenant" : "tenants"} and {number(operations)}{" "}
        {operations === 1 ? "operation" : "operations"}, as this preview lists them. A key that moves on meanwhile is left alone.
        {props.more && ` There are more: one decision settles at most ${number(BULK_MAX)}.`}
      </p>
      <ul class="preview" tabIndex={0} aria-label="Keys that will be settled">
        {keys.map((key) => (
          <li key={key.ref}>
            <Stored text={key.key} class="mono" /> <span class="muted"><Stored text={key.tenant} />, attempt {key.attempt}, <Ago at={key.createdAt} /></span>
          </li>
        ))}
      </ul>
      <DecisionFields decision={decision} many />
    </ActionForm>
  );
}

export function DoubtView(): JSX.Element {
  const wanted = filters(DOUBT_FILTERS);
  const after = route.value.query["after"];
  const place = JSON.stringify([wanted, after]);
  const { value, failure, reload } = useLoaded(() => load(wanted, after, PAGE), place, 5);
  const latest = useComputed(() => value.value?.unknown ?? null);
  const list = useSteady(latest, place);
  const resolving = useSignal<Key | null>(null);
  const bulk = useSignal<Backlog | null>(null);
  const previewFailure = useSignal<Failure | null>(null);
  const rows = list.rows.value;
  const loaded = value.value;
  const filtered = Object.keys(wanted).length > 0;
  const renewed = (): void => {
    resolving.value = null;
    bulk.value = null;
    void reload().then(list.renew).then(keepFocus);
  };
  const preview = async (): Promise<void> => {
    try {
      previewFailure.value = null;
      bulk.value = await load(wanted, undefined, BULK_MAX);
    } catch (error) {
      previewFailure.value = error as Failure;
    }
  };
  return (
    <>
      <Heading title="In doubt">
        <AskButton onDone={renewed} />
        {can("bulk") && (
          <button type="button" disabled={!mayChange() || rows.length === 0} onClick={() => void preview()}>
            Resolve {filtered ? "the filtered keys" : "all of them"}…
          </button>
        )}
      </Heading>
      <p class="lead">
        Their requests may or may not have taken effect, so no retry runs. The reconciler asks by itself where it can; the rest is your decision.
      </p>
      <Filters view="doubt" names={DOUBT_FILTERS} />
      <ErrorBox failure={failure.value ?? previewFailure.value} retry={() => void reload()} />
      {!loaded && !failure.value && <Skeleton lines={8} />}
      {loaded?.partial && (
        <p class="box note-box">
          <Stored text={loaded.partial} />
        </p>
      )}
      {loaded && rows.length === 0 && !loaded.partial && (
        <Empty title={filtered ? "Nothing in doubt fits these filters" : "Nothing is in doubt"}>
          {filtered ? "Clear the filters to see the rest." : "Every outcome is known. There is nothing to do here."}
        </Empty>
      )}
      {rows.length > 0 && (
        <>
          <Table label="Keys in doubt" class="cards">
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Tenant</th>
                <th scope="col">Operation</th>
                <th scope="col">Age</th>
                <th scope="col">The reconciler's last word</th>
                <th scope="col">Next try</th>
                <th scope="col">Decide</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((key) => (
                <tr key={key.ref} class={key.state === "unknown" ? "" : "gone"}>
                  <td data-label="Key"><KeyLink of={key} /></td>
                  <td data-label="Tenant"><Stored text={key.tenant} /></td>
                  <td data-label="Operation"><Stored text={key.operation} /></td>
                  <td data-label="Age"><Ago at={key.createdAt} plain /></td>
                  <td data-label="Last word"><Word of={key} /></td>
                  <td data-label="Next try">{key.reconcile?.nextTryAt ? <Next at={key.reconcile.nextTryAt} /> : "–"}</td>
                  <td data-label="Decide">
                    <button type="button" class="small" disabled={!mayChange()} aria-label={"Resolve " + plain(key.key)} onClick={() => (resolving.value = key)}>
                      Resolve…
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </Table>
          <Pager first={after === undefined} onFirst={() => refine({ after: undefined })} next={loaded?.next ? () => refine({ after: loaded.next ?? undefined }) : null}>
            {list.changed.value ? (
              <button type="button" class="small" onClick={list.renew}>
                The list has changed: show it
              </button>
            ) : (
              <span class="muted">{loaded?.order === "age" ? "Oldest first." : "In the order of keys."}</span>
            )}
          </Pager>
        </>
      )}
      {resolving.value && <ResolveDialog of={resolving.value} onClose={() => (resolving.value = null)} onDone={renewed} />}
      {bulk.value && (
        <BulkDialog keys={bulk.value.unknown} more={Boolean(bulk.value.next)} onClose={() => (bulk.value = null)} onDone={renewed} />
      )}
    </>
  );
}
