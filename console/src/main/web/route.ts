// The router: the address's fragment is the state of every view (#/keys?state=unknown). Fragments are never sent to a server, so no key
// and no tenant reaches an access log.
import { computed, signal } from "@preact/signals";

export interface Route {
  /** The parts of the path, decoded: ["key", "abc"]. */
  path: string[];
  /** Empty parameters are left out. */
  query: Record<string, string>;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function parse(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    if (value !== "") {
      query[name] = value;
    }
  }
  return { path: path.split("/").filter((part) => part !== "").map(decode), query };
}

export function href(path: string[], query: Record<string, string | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") {
      search.set(name, value);
    }
  }
  const text = search.toString();
  return "#/" + path.map(encodeURIComponent).join("/") + (text === "" ? "" : "?" + text);
}

export const route = signal<Route>(parse(location.hash));
export const view = computed(() => route.value.path[0] ?? "overview");

/** Goes to another address; `replace` leaves no step for the back button. */
export function go(to: string, replace = false): void {
  if (replace) {
    history.replaceState(null, "", to);
    route.value = parse(to);
  } else {
    location.hash = to;
  }
}

/** Changes parameters of this view. */
export function refine(changes: Record<string, string | undefined>, replace = false): void {
  const { path, query } = route.value;
  go(href(path, { ...query, ...changes }), replace);
}

addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});
