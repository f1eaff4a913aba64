// A list that does not jump: rows change in place; rows that came or went are only shown when the reader asks for them.
import { useComputed, useSignal, type ReadonlySignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Key } from "./types";

export interface Steady {
  rows: ReadonlySignal<Key[]>;
  /** Whether the list on the server has other rows than these. */
  changed: ReadonlySignal<boolean>;
  /** Shows the list as it is on the server. */
  renew: () => void;
}

/** `place` tells one list from another: a new one is shown at once. */
export function useSteady(latest: Signal<Key[] | null>, place: string): Steady {
  const shown = useSignal<Key[] | null>(null);
  useEffect(() => {
    shown.value = null;
  }, [place]);
  useEffect(() => {
    if (shown.value === null && latest.value !== null) {
      shown.value = latest.value;
    }
  });
  const rows = useComputed(() => {
    const fresh = new Map((latest.value ?? []).map((key) => [key.ref, key]));
    return (shown.value ?? latest.value ?? []).map((key) => fresh.get(key.ref) ?? key);
  });
  const changed = useComputed(() => {
    if (shown.value === null || latest.value === null) {
      return false;
    }
    const refs = new Set(shown.value.map((key) => key.ref));
    return latest.value.length !== refs.size || latest.value.some((key) => !refs.has(key.ref));
  });
  return {
    rows,
    changed,
    renew: () => {
      shown.value = latest.value;
    },
  };
}
