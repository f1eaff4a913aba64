import type { JSX } from "preact";
import { get } from "../api";
import { useLoaded } from "../poll";
import { href } from "../route";
import { number, size, Stored, visible } from "../text";
import { Ago, period } from "../time";
import type { NamedValue, Operation, Operations } from "../types";
import { Empty, ErrorBox, Heading, Section, Skeleton, Table } from "../ui";

const WAYS: Record<string, string> = {
  transactional: "Claim, business write and result commit together",
  leased: "At most once; what ends unclear is reconciled",
  stepped: "Each step commits with its recovery point",
  queued: "Written first, called later by a worker",
  gateway: "Forwarded by the gateway; what ends unclear is reconciled",
};

/** Durations and sizes as people read them; anything else stays as it is. */
function measure(value: string): string {
  const bytes = /^(\d+) bytes$/.exec(value)?.[1];
  return bytes === undefined ? period(value) : size(Number(bytes));
}

export function Values(props: { of: NamedValue[] }): JSX.Element {
  return (
    <dl class="tight">
      {props.of.map((value) => (
        <>
          <dt key={value.name}>
            <Stored text={value.name} />
          </dt>
          <dd title={value.explanation ?? undefined}>
            <Stored text={measure(value.value)} />
          </dd>
        </>
      ))}
    </dl>
  );
}

function OperationCard(props: { of: Operation }): JSX.Element {
  const { operation, way, profile, policy, limits, reconciler, terms, seen } = props.of;
  const counts = Object.entries(seen ?? {}).filter(([, value]) => value > 0);
  return (
    <Section title={operation} class="operation" note={<a href={href(["keys"], { operation })}>its keys</a>}>
      <p>
        <span class="badge">{way ?? "not used yet"}</span> <span class="muted">{way ? WAYS[way] : "Its way shows with its first request"}</span>
        {profile && (
          <span class="muted">
            {" "}· profile <Stored text={profile} />
          </span>
        )}
      </p>
      <p>
        Reconciler: <Stored text={reconciler} class={/^none(?!\w| needed)/.test(reconciler) ? "warn-text" : ""} />
        {reconciler === "none" && <span class="warn-text">; somebody must decide about unknown outcomes</span>}
      </p>
      <p class="muted">
        This node: {counts.length === 0 ? "no requests yet" : counts.map(([name, value]) => `${number(value)} ${name.replace("_", " ")}`).join(" · ")}
      </p>
      <div class="columns even">
        <div>
          <h3>Policy</h3>
          <Values of={policy} />
        </div>
        {limits.length > 0 && (
          <div>
            <h3>Limits</h3>
            <Values of={limits} />
          </div>
        )}
      </div>
      {terms !== undefined && terms !== null && (
        <details>
          <summary>Its terms, as clients read them</summary>
          <pre class="body" tabIndex={0}>{visible(JSON.stringify(terms, null, 2), true)}</pre>
        </details>
      )}
    </Section>
  );
}

function Coverage(props: { of: Operations }): JSX.Element {
  const open = props.of.unprotected.filter((request) => !request.decided);
  const decided = props.of.unprotected.filter((request) => request.decided);
  return (
    <Section title="Coverage" note={props.of.coverageRule ? <>rule: <Stored text={props.of.coverageRule} /></> : undefined}>
      {open.length === 0 ? (
        <div class="box good">
          <p>Every state-changing request that this node has seen is protected, or somebody has said why not.</p>
        </div>
      ) : (
        <div class="box error">
          <p>
            <strong>{open.length === 1 ? "One request is" : `${open.length} requests are`} not protected.</strong> A retry runs again. Add an operation, or say why none is
            needed.
          </p>
        </div>
      )}
      {props.of.unprotected.length > 0 && (
        <Table label="Requests that are not protected">
          <thead>
            <tr>
              <th scope="col">Request</th>
              <th scope="col" class="right">Seen</th>
              <th scope="col">Last</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {[...open, ...decided].map((request) => (
              <tr key={request.request}>
                <td><Stored text={request.request} class="mono" /></td>
                <td class="right number">{request.count === undefined || request.count === null ? "–" : number(request.count)}</td>
                <td>{request.lastAt ? <Ago at={request.lastAt} /> : "–"}</td>
                <td>{request.why ? <Stored text={request.why} /> : request.decided ? "decided" : <strong class="bad-text">nobody has said why</strong>}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Section>
  );
}

export function OperationsView(): JSX.Element {
  const { value, failure, reload } = useLoaded(() => get<Operations>("Listing operations", "operations"), "", 15);
  const loaded = value.value;
  return (
    <>
      <Heading title="Operations" />
      <ErrorBox failure={failure.value} retry={() => void reload()} />
      {!loaded && !failure.value && <Skeleton lines={10} />}
      {loaded && (
        <>
          <Coverage of={loaded} />
          {loaded.operations.length === 0 ? (
            <Empty title="No operation is configured">Name the requests that change something; then their policies stand here.</Empty>
          ) : (
            <div class="operations">
              {loaded.operations.map((operation) => (
                <OperationCard key={operation.operation} of={operation} />
              ))}
            </div>
          )}
        </>
      )}
    </>
  );
}
