import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { get, query } from "../api";
import { Filters, filters, KEY_FILTERS } from "../filters";
import { useLoaded } from "../poll";
import { refine, route } from "../route";
import { useSteady } from "../steady";
import { Stored } from "../text";
import { Ago, Countdown } from "../time";
import type { Key, KeyPage } from "../types";
import { Empty, ErrorBox, Heading, KeyLink, Pager, Skeleton, StateBadge, Table } from "../ui";

const PAGE = 50;

export function KeyRow(props: { of: Key }): JSX.Element {
  const key = props.of;
  return (
    <tr>
      <td data-label="Key">
        <KeyLink of={key} />
      </td>
      <td data-label="State">
        <StateBadge state={key.state} />
      </td>
      <td data-label="Tenant">
        <Stored text={key.tenant} />
      </td>
      <td data-label="Operation">
        <Stored text={key.operation} />
      </td>
      <td data-label="Attempt" class="right number">
        {key.attempt}
      </td>
      <td data-label="Owner">
        <Stored text={key.owner} />
      </td>
      <td data-label="Created">
        <Ago at={key.createdAt} />
      </td>
      <td data-label={key.state === "processing" ? "Lease" : "Settled"}>
        {key.state === "processing" && key.leaseUntil ? (
          <Countdown until={key.leaseUntil} over="lapsed" />
        ) : key.settledAt ? (
          <Ago at={key.settledAt} />
        ) : (
          "–"
        )}
      </td>
    </tr>
  );
}

export function KeysView(): JSX.Element {
  const wanted = filters(KEY_FILTERS);
  const after = route.value.query["after"];
  const place = JSON.stringify([wanted, after]);
  const page = useLoaded(
    () =>
      get<KeyPage>("Listing keys", "keys" + query({ ...wanted, after, limit: PAGE })),
    place,
    5,
  );
  const latest = useComputed(() => page.value.value?.keys ?? null);
  const list = useSteady(latest, place);
  const steps = useSignal(0);
  const loaded = page.value.value;
  const rows = list.rows.value;
  const filtered = Object.keys(wanted).length > 0;
  return (
    <>
      <Heading title="Keys">
        {loaded && rows.length > 0 && (
          <span class="muted">
            {rows.length} {loaded.next || after ? "on this page" : rows.length === 1 ? "key" : "keys"}
          </span>
        )}
      </Heading>
      <Filters view="keys" names={KEY_FILTERS} />
      <ErrorBox failure={page.failure.value} retry={() => void page.reload()} />
      {!loaded && !page.failure.value && <Skeleton lines={10} />}
      {loaded?.partial && (
        <p class="box note-box">
          <Stored text={loaded.partial} />{" "}
          {loaded.next && (
            <button type="button" class="small" onClick={() => refine({ after: loaded.next ?? undefined })}>
              Search further
            </button>
          )}
        </p>
      )}
      {loaded && rows.length === 0 && !loaded.partial && (
        <Empty title={filtered ? "No key fits these filters" : "There is no key yet"}>
          {filtered
            ? "Take a filter away, or check the spelling of the tenant and the operation: they are compared exactly."
            : "Send a request with an Idempotency-Key; it appears here at once."}
        </Empty>
      )}
      {rows.length > 0 && (
        <>
          <Table label="Keys" class="cards">
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">State</th>
                <th scope="col">Tenant</th>
                <th scope="col">Operation</th>
                <th scope="col" class="right">Attempt</th>
                <th scope="col">Owner</th>
                <th scope="col">Created</th>
                <th scope="col">Lease or settled</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((key) => (
                <KeyRow key={key.ref} of={key} />
              ))}
            </tbody>
          </Table>
          <Pager
            first={after === undefined}
            back={steps.value > 0 ? "Previous page" : "First page"}
            onFirst={() => (steps.value > 0 ? (steps.value--, history.back()) : refine({ after: undefined }))}
            next={
              loaded?.next
                ? () => {
                    steps.value++;
                    refine({ after: loaded.next ?? undefined });
                  }
                : null
            }
          >
            {list.changed.value ? (
              <button type="button" class="small" onClick={list.renew}>
                The list has changed: show it
              </button>
            ) : (
              <span class="muted">In the order of keys. Rows are refreshed where they stand.</span>
            )}
          </Pager>
        </>
      )}
    </>
  );
}
