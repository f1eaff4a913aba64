// The filters of keys. The address holds them, so a view can be shared and opened in another tab.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { go, href, route } from "./route";
import { STATES } from "./types";
import { Field } from "./ui";

export const AGES: [value: string, title: string][] = [
  ["1m", "1 minute"],
  ["10m", "10 minutes"],
  ["1h", "1 hour"],
  ["6h", "6 hours"],
  ["1d", "1 day"],
  ["7d", "7 days"],
  ["30d", "30 days"],
];

export const KEY_FILTERS = ["prefix", "tenant", "operation", "state", "olderThan", "newerThan", "node"] as const;
export const DOUBT_FILTERS = ["tenant", "operation", "olderThan", "prefix"] as const;
type Name = (typeof KEY_FILTERS)[number];

const LABELS: Record<Name, string> = {
  prefix: "Key starts with",
  tenant: "Tenant",
  operation: "Operation",
  state: "State",
  olderThan: "Older than",
  newerThan: "Newer than",
  node: "Node",
};

/** The filters that the address holds. */
export function filters(names: readonly Name[]): Record<string, string> {
  const { query } = route.value;
  return Object.fromEntries(names.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])));
}

export function Filters(props: { view: string; names: readonly Name[] }): JSX.Element {
  const draft = useSignal<Record<string, string>>(filters(props.names));
  const held = JSON.stringify(filters(props.names));
  useEffect(() => {
    draft.value = JSON.parse(held) as Record<string, string>;
  }, [held]);

  const apply = (values: Record<string, string>): void => {
    // The same filters again start from the first page.
    go(href([props.view], values));
  };
  const set = (name: Name, value: string): Record<string, string> => (draft.value = { ...draft.value, [name]: value });

  const choice = (name: Name, options: [string, string][]): JSX.Element => (
    <Field label={LABELS[name]} key={name}>
      {(id) => (
        <select id={id} value={draft.value[name] ?? ""} onChange={(event) => apply(set(name, event.currentTarget.value))}>
          <option value="">Any</option>
          {draft.value[name] && !options.some(([value]) => value === draft.value[name]) && <option value={draft.value[name]}>{draft.value[name]}</option>}
          {options.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
  const text = (name: Name): JSX.Element => (
    <Field label={LABELS[name]} key={name}>
      {(id) => (
        <input id={id} type="search" spellcheck={false} autocomplete="off" value={draft.value[name] ?? ""}
          required={name === "tenant" && Boolean(draft.value["prefix"])} title={name === "prefix" ? "Needs a tenant: keys are looked up inside one" : undefined}
          onInput={(event) => set(name, event.currentTarget.value)} />
      )}
    </Field>
  );

  return (
    <form
      class="filters"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        apply(draft.value);
      }}
    >
      {props.names.map((name) => {
        switch (name) {
          case "state":
            return choice(name, STATES.map((state) => [state, state]));
          case "olderThan":
          case "newerThan":
            return choice(name, AGES);
          default:
            return text(name);
        }
      })}
      <div class="filter-buttons">
        <button type="submit" class="primary">
          Filter
        </button>
        {held !== "{}" && (
          <button type="button" onClick={() => apply({})}>
            Clear
          </button>
        )}
      </div>
    </form>
  );
}
