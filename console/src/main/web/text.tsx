// Stored text on the page: always text nodes; what cannot be seen, or changes the direction of writing, is shown by its code point.
import type { ComponentChildren, JSX } from "preact";

// Control characters, bidirectional controls, zero-width and unusual spaces, tags, lone surrogates.
const HIDDEN =
  /[\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;
const NAMES: Record<string, string> = { "\n": "line feed", "\r": "carriage return", "\t": "tab", "\0": "null" };

function code(character: string): string {
  return "U+" + (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

/** The text, with markers for what cannot be seen; `lines` keeps line ends and tabs as they are. */
export function visible(text: string, lines = false): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    const character = found[0];
    if (lines && (character === "\n" || character === "\t")) {
      continue;
    }
    parts.push(text.slice(from, found.index));
    const name = NAMES[character] ?? code(character);
    parts.push(<span class="hidden-char" title={`${code(character)}: a character that cannot be seen`}>{name}</span>);
    from = found.index + character.length;
  }
  if (from === 0) {
    return text;
  }
  parts.push(text.slice(from));
  return parts;
}

/** A key, tenant, operation or other stored name, isolated from the text around it. */
export function Stored(props: { text: string; class?: string }): JSX.Element {
  return <bdi class={"stored " + (props.class ?? "")}>{props.text === "" ? <em>empty</em> : visible(props.text)}</bdi>;
}

/** For accessible names and titles, where no element can stand. */
export function plain(text: string): string {
  return text.replace(HIDDEN, (character) => `⟨${code(character)}⟩`);
}

/** Indents JSON without reading its numbers: 9007199254740993 stays what it is. Null if it is not JSON. */
export function indent(json: string): string | null {
  try {
    JSON.parse(json);
  } catch {
    return null;
  }
  let out = "";
  let depth = 0;
  const line = (): string => "\n" + "  ".repeat(depth);
  for (const token of json.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []) {
    if (token === "{" || token === "[") {
      depth++;
      out += token + line();
    } else if (token === "}" || token === "]") {
      depth--;
      out = /[{[]\s*$/.test(out.slice(-200)) ? out.trimEnd() + token : out + line() + token;
    } else if (token === ",") {
      out += "," + line();
    } else {
      out += token === ":" ? ": " : token;
    }
  }
  return out;
}

/** Rows of 16 bytes with their offset, as hexdump prints them. */
export function hex(bytes: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = Array.from(bytes.subarray(at, at + 16));
    const codes = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    rows.push(at.toString(16).padStart(8, "0") + "  " + codes.padEnd(47) + "  " + text);
  }
  return rows.join("\n");
}

export function bytes(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

const numbers = new Intl.NumberFormat("en");
export function number(value: number): string {
  return numbers.format(value);
}

/** Three digits at most: 0.25, 1.5, 23, 1,204. */
export function rate(value: number): string {
  if (value === 0 || value >= 99.5) {
    return number(Math.round(value));
  }
  return value >= 9.95 ? value.toFixed(0) : value.toFixed(value >= 1 ? 1 : 2);
}

export function size(count: number): string {
  if (count < 1024) {
    return `${count} B`;
  }
  return count < 1 << 20 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / (1 << 20)).toFixed(1)} MiB`;
}
