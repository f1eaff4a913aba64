import type { JSX } from "preact";
import { get, query } from "../api";
import { useLoaded } from "../poll";
import { href, refine, route } from "../route";
import { number, Stored } from "../text";
import { told } from "../time";
import type { TopTenants } from "../types";
import { Counted, Empty, ErrorBox, Heading, Section, Skeleton, Table } from "../ui";
import { Values } from "./operations";

const COLUMNS = [
  ["created", "New keys"],
  ["duplicates", "Duplicates"],
  ["misuse", "Misuse"],
  ["limited", "Over a limit"],
] as const;
type Column = (typeof COLUMNS)[number][0];

const LIMIT = 100;

export function TenantsView(): JSX.Element {
  const asked = route.value.query["by"];
  const by: Column = COLUMNS.find(([name]) => name === asked)?.[0] ?? "created";
  const { value, failure, reload } = useLoaded(() => get<TopTenants>("Listing tenants", "tenants" + query({ limit: LIMIT })), "", 10);
  const loaded = value.value;
  const rows = [...(loaded?.tenants ?? [])].sort((one, other) => (other[by] ?? 0) - (one[by] ?? 0) || (one.tenant < other.tenant ? -1 : 1));
  // Where no limits are counted, there is no column for them.
  const columns = COLUMNS.filter(([name]) => rows.some((row) => typeof row[name] === "number"));
  const most = Math.max(1, ...rows.map((row) => row[by] ?? 0));
  return (
    <>
      <Heading title="Tenants">{loaded && <span class="muted"><Stored text={told(loaded.scope)} /></span>}</Heading>
      <ErrorBox failure={failure.value} retry={() => void reload()} />
      {!loaded && !failure.value && <Skeleton lines={8} />}
      {loaded && rows.length === 0 && <Empty title="No tenant has sent anything to this node yet">Their counts start when the node starts.</Empty>}
      {rows.length > 0 && (
        <>
          <div class="segmented" role="group" aria-label="Order by">
            {columns.map(([name, title]) => (
              <button key={name} type="button" aria-pressed={name === by} onClick={() => refine({ by: name }, true)}>
                {title}
              </button>
            ))}
          </div>
          <Table label="Tenants">
            <thead>
              <tr>
                <th scope="col">Tenant</th>
                {columns.map(([name, title]) => (
                  <th key={name} scope="col" class="right" aria-sort={name === by ? "descending" : undefined}>
                    {title}
                  </th>
                ))}
                <th scope="col" class="right">Live keys</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.tenant}>
                  <th scope="row">
                    <a href={href(["keys"], { tenant: row.tenant })}>
                      <Stored text={row.tenant} />
                    </a>
                    <span class="share" aria-hidden="true">
                      <span style={{ width: `${(100 * (row[by] ?? 0)) / most}%` }} />
                    </span>
                  </th>
                  {columns.map(([name]) => (
                    <td key={name} class={"right number " + ((row[name] ?? 0) > 0 && (name === "limited" || name === "misuse") ? "warn-text" : "")}>
                      {number(row[name] ?? 0)}
                    </td>
                  ))}
                  <td class="right">{row.liveKeys ? <Counted of={row.liveKeys} /> : "–"}</td>
                </tr>
              ))}
            </tbody>
          </Table>
          <p class="muted below">
            Duplicates are retries that were answered from the record. Misuse is a key that came with another request than its first.
          </p>
        </>
      )}
      {loaded && loaded.limits.length > 0 && (
        <Section title="Limits of a tenant">
          <Values of={loaded.limits} />
        </Section>
      )}
    </>
  );
}
