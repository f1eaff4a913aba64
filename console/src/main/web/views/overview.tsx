import { useComputed } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { get, session } from "../api";
import { Chart, type Line } from "../chart";
import { useLoaded } from "../poll";
import { href } from "../route";
import { loadOverview } from "../shell";
import { rate, Stored } from "../text";
import { Ago } from "../time";
import { STATES, type Overview, type Percentiles, type Series } from "../types";
import { Counted, ErrorBox, Heading, Section, Skeleton } from "../ui";

export const KINDS: Line[] = [
  { name: "created", title: "Created", color: "--series-1" },
  { name: "replayed", title: "Replayed", color: "--series-2" },
  { name: "in_progress", title: "In progress", color: "--series-3" },
  { name: "mismatched", title: "Mismatched", color: "--series-4" },
  { name: "unknown", title: "Unknown", color: "--series-5" },
];

const STEPS_MIN = 30;

/** Without the time before this node was started, of which it knows nothing; some minutes at least. */
function sinceStart(hour: Series, startedAt: string | undefined): Series {
  const length = Math.max(0, ...Object.values(hour.kinds).map((counts) => counts.length));
  const before = startedAt === undefined ? 0 : Math.floor((Date.parse(startedAt) / 1000 - hour.from) / hour.stepSeconds);
  const cut = Math.max(0, Math.min(before, length - STEPS_MIN));
  const rest = (all: Series["kinds"]): Series["kinds"] => Object.fromEntries(Object.entries(all).map(([name, values]) => [name, values.slice(cut)]));
  return { ...hour, from: hour.from + cut * hour.stepSeconds, kinds: rest(hour.kinds), percentiles: rest(hour.percentiles) };
}

function perSecond(hour: Series): Series["kinds"] {
  const rates = (counts: (number | null)[]): (number | null)[] => counts.map((count) => (count === null ? null : count / hour.stepSeconds));
  return Object.fromEntries(Object.entries(hour.kinds).map(([kind, counts]) => [kind, rates(counts)]));
}

function Tile(props: { title: string; to?: string; tone?: "good" | "warn" | "bad"; children: ComponentChildren; below: ComponentChildren }): JSX.Element {
  const inner = (
    <>
      <span class="tile-title">{props.title}</span>
      <span class="tile-value">{props.children}</span>
      <span class="tile-below">{props.below}</span>
    </>
  );
  const name = "tile " + (props.tone ?? "");
  return props.to ? (
    <a class={name} href={props.to}>
      {inner}
    </a>
  ) : (
    <div class={name}>{inner}</div>
  );
}

function Tiles(props: { of: Overview }): JSX.Element {
  const { everybody, mine } = props.of;
  const { unknown, deadLetters, store } = everybody;
  const { lapsedLeases } = mine;
  return (
    <div class="tiles">
      {unknown && (
        <Tile title="In doubt" to="#/doubt" tone={unknown.count > 0 ? "warn" : "good"}
          below={unknown.count === 0 ? "Every outcome is known" : unknown.oldestAt ? <>oldest: <Ago at={unknown.oldestAt} /> · decide</> : "Decide them"}>
          <Counted of={unknown} />
        </Tile>
      )}
      {deadLetters && (
        <Tile title="Dead letters" to="#/letters" tone={deadLetters.count > 0 ? "bad" : "good"}
          below={deadLetters.count === 0 ? "No call was given up" : deadLetters.oldestAt ? <>oldest: <Ago at={deadLetters.oldestAt} /> · retry or drop</> : "Retry or drop them"}>
          <Counted of={deadLetters} />
        </Tile>
      )}
      {lapsedLeases && (
        <Tile title="Lapsed leases" tone={lapsedLeases.count > 0 ? "warn" : "good"}
          below={lapsedLeases.count === 0 ? "none swept by this node in the last hour" : "swept by this node in the last hour: their owners died or hung"}>
          <Counted of={lapsedLeases} />
        </Tile>
      )}
      <Tile title="Store" tone={store.healthy ? "good" : "bad"} below={store.healthy ? "answers" : (store.detail ?? "It does not answer: nothing runs")}>
        <Stored text={store.name} />
      </Tile>
    </div>
  );
}

function States(props: { of: Overview }): JSX.Element {
  const states = props.of.everybody.states;
  if (!states) {
    return <p class="bad-text">They cannot be counted: the store does not answer.</p>;
  }
  const total = STATES.reduce((sum, state) => sum + (states[state]?.count ?? 0), 0);
  return (
    <>
      <div class="bar" aria-hidden="true">
        {STATES.filter((state) => (states[state]?.count ?? 0) > 0).map((state) => (
          <span key={state} class={"bar-part fill-" + state} style={{ flexGrow: (states[state]?.count ?? 0) / total }} />
        ))}
      </div>
      <ul class="legend">
        {STATES.map((state) => (
          <li key={state}>
            <a href={href(["keys"], { state })}>
              <span class={"dot fill-" + state} aria-hidden="true" />
              {state} {states[state] ? <Counted of={states[state]} /> : "–"}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

const FRESH_MILLIS = 10_000;

/** Where asking the store takes long, it is asked less often, and the page says so. */
function SeenAt(props: { at: string | undefined; now: string }): JSX.Element | null {
  return props.at !== undefined && Date.parse(props.now) - Date.parse(props.at) > FRESH_MILLIS ? <>, <Ago at={props.at} /></> : null;
}

function Latencies(props: { of: Overview }): JSX.Element {
  const { percentiles, handlerName } = props.of.mine;
  const rows: [string, Percentiles | null | undefined][] = [
    ["Claim", percentiles.claim],
    [handlerName === "upstream" ? "Upstream" : "Handler", percentiles.handler],
    ["Settle", percentiles.settle],
  ];
  return (
    <table class="compact">
      <thead>
        <tr>
          <th scope="col">Last minute, ms</th>
          <th scope="col" class="right">p50</th>
          <th scope="col" class="right">p95</th>
          <th scope="col" class="right">p99</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {(["p50", "p95", "p99"] as const).map((part) => (
              <td key={part} class="right number">
                {value ? rate(value[part]) : "–"}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function StoreAndNodes(props: { of: Overview }): JSX.Element {
  const { store, nodes, nodesComplete } = props.of.everybody;
  return (
    <div class="columns">
      <Section title="Store" note="all nodes">
        <dl>
          <dt>Database</dt>
          <dd>
            <Stored text={store.name} />
            {store.schema && (
              <span class={store.schema.current ? "muted" : "warn-text"}>
                {" "}· schema {store.schema.installed}
                {store.schema.current ? "" : ` of ${store.schema.known}: apply it`}
              </span>
            )}
          </dd>
          <dt>Health</dt>
          <dd class={store.healthy ? "" : "bad-text"}>{store.healthy ? "Answers" : <Stored text={store.detail ?? "Does not answer; no operation runs"} />}</dd>
          {store.failover && (
            <>
              <dt>A failover can lose</dt>
              <dd>
                <Stored text={store.failover} />
              </dd>
            </>
          )}
          {(store.acceptedRisks ?? []).map((risk) => (
            <>
              <dt class="warn-text">Accepted risk</dt>
              <dd>
                <Stored text={risk} />
              </dd>
            </>
          ))}
        </dl>
      </Section>
      <Section title="Nodes" note={nodesComplete === false ? "this node only" : "all nodes, seen within the last hour"}>
        <table class="compact">
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Version</th>
              <th scope="col">Up for</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((node) => (
              <tr key={node.node}>
                <th scope="row">
                  <Stored text={node.node} />
                  {node.me && <span class="muted"> this one</span>}
                </th>
                <td>{node.version ? <Stored text={node.version} /> : "–"}</td>
                <td>
                  {node.here === false && node.seenAt ? <span class="warn-text">not seen for <Ago at={node.seenAt} plain /></span> : node.startedAt ? <Ago at={node.startedAt} plain /> : "–"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {nodesComplete === false && store.healthy && <p class="muted">This store keeps no list of nodes: ask each node for its own.</p>}
      </Section>
    </div>
  );
}

export function OverviewView(): JSX.Element {
  const overview = useLoaded(loadOverview, "", 2);
  const series = useLoaded(() => get<Series>("Loading the last hour", "series"), "", 10);
  const now = overview.value.value;
  const hour = useComputed(() => series.value.value && sinceStart(series.value.value, overview.value.value?.mine.startedAt)).value;
  const total = now ? Object.values(now.mine.perSecond).reduce((sum, value) => sum + value, 0) : 0;
  return (
    <>
      <Heading title="Overview">
        {now && (
          <span class={"live " + (overview.failure.value ? "stopped" : "")}>{overview.failure.value ? "not refreshed" : "live"}</span>
        )}
      </Heading>
      <ErrorBox failure={overview.failure.value} retry={() => void overview.reload()} />
      {!now && !overview.failure.value && <Skeleton lines={12} />}
      {now && (
        <>
          <Tiles of={now} />
          <Section title="Keys by state" note={<>all nodes<SeenAt at={now.everybody.seenAt} now={now.at} /></>}>
            <States of={now} />
          </Section>
          <div class="columns wide-left">
            <Section title="Decisions per second" note={<>this node only, last hour: <Stored text={now.mine.node} /></>}>
              <ul class="now-rates">
                {KINDS.map((kind) => (
                  <li key={kind.name}>
                    <span class={"dot fill" + kind.color.slice(1)} aria-hidden="true" />
                    {kind.title} <strong class="number">{rate(now.mine.perSecond[kind.name] ?? 0)}</strong>
                  </li>
                ))}
              </ul>
              {hour ? (
                <Chart series={hour} lines={KINDS} values={perSecond(hour)} unit="/s" height={16.9} label="Decisions per second in the last hour" />
              ) : (
                <div class="chart-space tall" />
              )}
              {total === 0 && <p class="muted">No request with a key has come to this node in the last seconds.</p>}
            </Section>
            <Section title="Latency" note="this node only">
              <Latencies of={now} />
              {hour ? (
                <Chart
                  series={hour}
                  lines={[
                    { name: "claim", title: "Claim p95", color: "--series-1" },
                    { name: "handler", title: now.mine.handlerName === "upstream" ? "Upstream p95" : "Handler p95", color: "--series-2" },
                    { name: "settle", title: "Settle p95", color: "--series-3" },
                  ]}
                  values={hour.percentiles}
                  unit=" ms"
                  height={12.2}
                  label="95th percentiles in the last hour"
                />
              ) : (
                <div class="chart-space" />
              )}
            </Section>
          </div>
          <StoreAndNodes of={now} />
          {now.mine.startedAt && (
            <p class="muted foot">
              {session.value?.node && <Stored text={session.value.node} />} has been up for <Ago at={now.mine.startedAt} plain />; it keeps the last hour in memory.
            </p>
          )}
        </>
      )}
    </>
  );
}
