// Data of a view: loaded when it is shown, refreshed while the page is visible. What is shown stays while a refresh runs or fails.
import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { cost, Failure } from "./api";

export interface Loaded<T> {
  value: Signal<T | null>;
  failure: Signal<Failure | null>;
  /** Loads now. */
  reload: () => Promise<void>;
}

/** A page that stays open costs the program a hundredth of the time of one thread at most. */
const SHARE = 100;
const PAUSE_MILLIS_MAX = 60_000;

/** Calls `load` at once, when `dependency` changes, and every `everySeconds` (0: never). */
export function useLoaded<T extends object | void>(load: () => Promise<T>, dependency: string, everySeconds: number): Loaded<T> {
  const value = useSignal<T | null>(null);
  const failure = useSignal<Failure | null>(null);
  const latest = useRef(load);
  latest.current = load;
  const turn = useRef(0);

  const reload = async (): Promise<void> => {
    const mine = ++turn.current;
    try {
      const loaded = await latest.current();
      if (mine === turn.current) {
        value.value = loaded;
        failure.value = null;
      }
    } catch (error) {
      if (mine === turn.current) {
        failure.value = error instanceof Failure ? error : new Failure("Showing this view", 0, String(error), false);
      }
    }
  };

  useEffect(() => {
    value.value = null;
    failure.value = null;
    let ended = false;
    let timer = 0;
    const round = async (): Promise<void> => {
      if (!document.hidden) {
        await reload();
      }
      if (!ended && everySeconds > 0) {
        timer = window.setTimeout(round, Math.max(everySeconds * 1000, Math.min(PAUSE_MILLIS_MAX, SHARE * cost(value.value ?? null))));
      }
    };
    void round();
    const shown = (): void => {
      if (!document.hidden) {
        void reload();
      }
    };
    document.addEventListener("visibilitychange", shown);
    return () => {
      ended = true;
      turn.current++;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", shown);
    };
  }, [dependency]);

  return { value, failure, reload };
}
