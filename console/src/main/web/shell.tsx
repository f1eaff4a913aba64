// What stands around every view: navigation, who is logged in, the way to a key.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { get, logOut, session } from "./api";
import { useLoaded } from "./poll";
import { href, view } from "./route";
import { number, Stored } from "./text";
import { announce, focusHeading } from "./ui";
import type { Overview } from "./types";

const VIEWS: [name: string, title: string][] = [
  ["overview", "Overview"],
  ["keys", "Keys"],
  ["doubt", "In doubt"],
  ["letters", "Dead letters"],
  ["operations", "Operations"],
  ["tenants", "Tenants"],
];

type Theme = "auto" | "light" | "dark";
const THEMES: Theme[] = ["auto", "light", "dark"];

function stored(): Theme {
  const theme = localStorage.getItem("onlyonce-theme") as Theme | null;
  return theme !== null && THEMES.includes(theme) ? theme : "auto";
}

function ThemeButton(): JSX.Element {
  const theme = useSignal<Theme>(stored());
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme.value;
    localStorage.setItem("onlyonce-theme", theme.value);
  }, [theme.value]);
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "auto";
  return (
    <button type="button" class="quiet" onClick={() => (theme.value = next)} title={`Change to ${next}`}>
      Theme: {theme.value}
    </button>
  );
}

function Badge(props: { count: number | undefined; atLeast: boolean; what: string }): JSX.Element | null {
  if (!props.count) {
    return null;
  }
  return (
    <span class="nav-count">
      {number(props.count)}
      {props.atLeast && "+"}
      <span class="sr-only"> {props.what}</span>
    </span>
  );
}

const FRESH_MILLIS = 1500;
let latest: { at: number; overview: Promise<Overview> } | null = null;

/** The overview's own view and the navigation share what was loaded last. */
export function loadOverview(): Promise<Overview> {
  const now = Date.now();
  if (latest === null || now - latest.at > FRESH_MILLIS) {
    latest = { at: now, overview: get<Overview>("Loading the overview", "overview") };
  }
  return latest.overview;
}

export function Shell(props: { children: ComponentChildren }): JSX.Element {
  const { value } = useLoaded(loadOverview, "", 5);
  const everybody = value.value?.everybody;
  const current = session.value;
  const counts: Record<string, JSX.Element | null> = {
    doubt: <Badge count={everybody?.unknown?.count} atLeast={everybody?.unknown?.kind !== "exact"} what="in doubt" />,
    letters: <Badge count={everybody?.deadLetters?.count} atLeast={everybody?.deadLetters?.kind !== "exact"} what="dead letters" />,
  };
  const shown = view.value === "key" ? "keys" : view.value;
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        focusHeading();
      }}>
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="#/overview">
          <img src="icon.svg" alt="" width="24" height="24" />
          <span>Onlyonce</span>
        </a>
        <div class="who">
          {current?.home && (
            <a class="quiet" href={current.home}>
              Back to the demo
            </a>
          )}
          <ThemeButton />
          <span class="muted who-name">
            <Stored text={current?.name ?? ""} /> ({current?.role === "operator" ? "operator" : "may only read"})
          </span>
          {current?.login === "form" && (
            <button type="button" class="quiet" onClick={() => void logOut().catch((error: Error) => announce(error.message))}>
              Log out
            </button>
          )}
        </div>
      </header>
      <nav class="nav" aria-label="Views">
        <ul>
          {VIEWS.map(([name, title]) => (
            <li key={name}>
              <a href={href([name])} aria-current={shown === name ? "page" : undefined}>
                {title}
                {counts[name]}
              </a>
            </li>
          ))}
        </ul>
        <p class="nav-foot muted">
          {current?.node && (
            <>
              node <Stored text={current.node} />
              <br />
            </>
          )}
          {current?.version && `version ${current.version}`}
        </p>
      </nav>
      <main id="main">{props.children}</main>
    </div>
  );
}
