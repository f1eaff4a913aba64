// Small parts that every view uses.
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Failure } from "./api";
import { number, Stored, visible } from "./text";
import type { Count, Key, State } from "./types";

const STATE_MEANS: Record<State, string> = {
  pending: "Accepted; no worker has started it yet",
  processing: "Claimed: its owner executes it",
  completed: "The result is recorded; retries get it",
  failed: "A final failure is recorded; retries get it",
  retryable: "Proven to have had no effect; the next retry runs",
  unknown: "Nobody knows whether it took effect; no retry runs until this is settled",
  expired: "Past its retention; only the key is remembered",
};

export function StateBadge(props: { state: State }): JSX.Element {
  return (
    <span class={"badge state-" + props.state} title={STATE_MEANS[props.state]}>
      {props.state}
    </span>
  );
}

/** A count, with a mark where it is not exact. */
export function Counted(props: { of: Count }): JSX.Element {
  const { count, kind } = props.of;
  if (kind === "exact") {
    return <span class="number">{number(count)}</span>;
  }
  const title = kind === "estimate" ? "An estimate of the database, not a count" : "At least this many: counting stops here";
  return (
    <span class="number" title={title}>
      {kind === "estimate" ? "≈ " : "≥ "}
      {number(count)}
    </span>
  );
}

export function ErrorBox(props: { failure: Failure | null; retry?: (() => void) | undefined }): JSX.Element {
  const { failure } = props;
  return (
    <div role="alert">
      {failure && (
        <div class="box error">
          <p>
            <strong>{failure.what} failed.</strong> <Stored text={failure.message} />
          </p>
          <p class="muted">
            {failure.retry ? "Nothing was lost; try again. " : "Trying again will not help until the cause is removed. "}
            {props.retry && (
              <button type="button" class="small" onClick={props.retry}>
                Try again
              </button>
            )}
          </p>
        </div>
      )}
    </div>
  );
}

export function Empty(props: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      <p class="muted">{props.children}</p>
    </div>
  );
}

export function Heading(props: { title: string; children?: ComponentChildren }): JSX.Element {
  useEffect(() => {
    document.title = props.title + " · Onlyonce";
  }, [props.title]);
  return (
    <header class="heading">
      <h1 tabIndex={-1}>{props.title}</h1>
      <div class="heading-side">{props.children}</div>
    </header>
  );
}

export function Section(props: { title: string; note?: ComponentChildren; class?: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class={"card " + (props.class ?? "")}>
      <h2>
        <bdi>{visible(props.title)}</bdi>
        {props.note && <span class="note">{props.note}</span>}
      </h2>
      {props.children}
    </section>
  );
}

let fields = 0;
export function Field(props: { label: string; hint?: string; class?: string; children: (id: string, hintId: string | undefined) => ComponentChildren }): JSX.Element {
  const id = useRef("field-" + ++fields).current;
  const hintId = props.hint ? id + "-hint" : undefined;
  return (
    <div class={"field " + (props.class ?? "")}>
      <label for={id}>{props.label}</label>
      {props.children(id, hintId)}
      {props.hint && (
        <span class="hint" id={hintId}>
          {props.hint}
        </span>
      )}
    </div>
  );
}

/** What happened last, for screen readers and, for some seconds, on the page. */
export const announcement = signal("");
let clearing = 0;
export function announce(text: string): void {
  announcement.value = text;
  clearTimeout(clearing);
  clearing = window.setTimeout(() => {
    announcement.value = "";
  }, 8000);
}

export function Announcements(): JSX.Element {
  return (
    <div class="announcement" role="status" aria-live="polite">
      {announcement.value && <span>{announcement.value}</span>}
    </div>
  );
}

export function focusHeading(): void {
  document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
}

/** After what had the focus has gone from the page. */
export function keepFocus(): void {
  requestAnimationFrame(() => {
    if (document.activeElement === null || document.activeElement === document.body) {
      focusHeading();
    }
  });
}

/** A modal dialog; Escape and the close button end it, and focus returns to where it was. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren }): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    element.current?.querySelector("h2")?.focus();
    return () => {
      if (before instanceof HTMLElement) {
        before.focus();
      }
      keepFocus();
    };
  }, []);
  const id = useRef("dialog-" + ++fields).current;
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id} tabIndex={-1}>{props.title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick={props.onClose}>
          ×
        </button>
      </div>
      {props.children}
    </dialog>
  );
}

/** A table that scrolls by itself where it is too wide, by keyboard too. */
export function Table(props: { label: string; class?: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={props.label}>
      <table class={props.class ?? ""}>{props.children}</table>
    </div>
  );
}

export function KeyLink(props: { of: Pick<Key, "ref" | "key" | "shortened"> }): JSX.Element {
  return (
    <a class="key" href={"#/key/" + encodeURIComponent(props.of.ref)} title={props.of.shortened ? "Your role sees keys shortened" : undefined}>
      <Stored text={props.of.key} />
    </a>
  );
}

/** The buttons of a list; a list that fits on one page needs none. */
export function Pager(props: { first: boolean; next: (() => void) | null; onFirst: () => void; back?: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="pager">
      {(!props.first || props.next) && (
        <>
          <button type="button" disabled={props.first} onClick={props.onFirst}>
            {props.back ?? "First page"}
          </button>
          <button type="button" disabled={!props.next} onClick={() => props.next?.()}>
            Next page
          </button>
        </>
      )}
      <span class="pager-note" aria-live="polite">
        {props.children}
      </span>
    </div>
  );
}

export function Skeleton(props: { lines?: number }): JSX.Element {
  return (
    <div class="skeleton" aria-label="Loading" role="img">
      {Array.from({ length: props.lines ?? 4 }, (_, line) => (
        <div class="skeleton-line" key={line} />
      ))}
    </div>
  );
}
